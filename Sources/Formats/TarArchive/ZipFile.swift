package import ByteStreams
internal import CLibArchive
internal import Glibc

/// Zip files of other programs, in memory: nothing of one is ever written to disk, under its names or others.
package enum ZipFile {
    /// Bytes of all members that are read, and of what they may become for one byte of the file: far above what texts and
    /// pictures reach, and far below what is made to fill a memory.
    private static let sizeLimit = 1 << 30
    private static let ratioLimit = 200
    /// Members: a record has one or none.
    private static let memberLimit = 100_000

    /// True for bytes that begin as a zip file does.
    package static func begins(_ bytes: borrowing Span<UInt8>) -> Bool {
        bytes.count >= 4 && bytes[0] == UInt8(ascii: "P") && bytes[1] == UInt8(ascii: "K") && bytes[2] == 3
            && bytes[3] == 4
    }

    /// The names of all members.
    ///
    /// - Throws: as `read`.
    package static func names(in bytes: borrowing Span<UInt8>) throws(StreamFailure) -> Set<String> {
        try read(bytes) { _ in
            false
        } body: { _, _ in
        }
    }

    /// Hands each wanted member to `body`, once it was read to its end and its checksum was found right.
    ///
    /// - Returns: the names of all members.
    /// - Throws: `StreamFailure` (`malformed` for damage, encryption, a name twice and names that lead out of a folder;
    ///   `limitExceeded`, `library`).
    package static func read(
        _ bytes: borrowing Span<UInt8>, wants: (String) -> Bool, body: (String, consuming SecretBytes) -> Void
    ) throws(StreamFailure) -> Set<String> {
        // libarchive turns names into the characters of the thread's locale, of which "C" has 128.
        let locale = unsafe newlocale(Int32(LC_CTYPE_MASK), "C.UTF-8", nil)
        let earlier = unsafe uselocale(locale)
        defer {
            unsafe uselocale(earlier)
            if let locale = unsafe locale { unsafe freelocale(locale) }
        }
        guard let archive = unsafe archive_read_new() else { throw unavailable }
        defer { unsafe archive_read_free(archive) }
        guard unsafe archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK else { throw unavailable }
        return try unsafe bytes.withUnsafeBufferPointer { buffer throws(StreamFailure) in
            guard unsafe archive_read_open_memory(archive, buffer.baseAddress, buffer.count) == ARCHIVE_OK else {
                throw malformed("it is not whole")
            }
            return try unsafe members(of: archive, size: buffer.count, wants, body)
        }
    }

    private static func members(
        of archive: OpaquePointer, size: Int, _ wants: (String) -> Bool, _ body: (String, consuming SecretBytes) -> Void
    ) throws(StreamFailure) -> Set<String> {
        var names: Set<String> = []
        var room = size > sizeLimit / ratioLimit ? sizeLimit : max(size * ratioLimit, 1 << 16)
        while true {
            if Interruption.isRequested { throw StreamFailure(.readingContainer, .interrupted) }
            var next: OpaquePointer?
            let status = unsafe archive_read_next_header(archive, &next)
            if status == ARCHIVE_EOF { return names }
            guard status == ARCHIVE_OK, let entry = unsafe next,
                let pointer = unsafe archive_entry_pathname_utf8(entry),
                let name = unsafe String(validatingCString: pointer)
            else { throw malformed("a member cannot be read") }
            guard names.count < memberLimit else {
                throw StreamFailure(
                    .readingContainer,
                    .limitExceeded("members", found: UInt64(names.count) + 1, allowed: memberLimit))
            }
            guard isSafe(name) else { throw malformed("a name leads out of its folder") }
            guard names.insert(name).inserted else { throw malformed("two members have one name") }
            guard unsafe archive_entry_is_encrypted(entry) == 0 else { throw malformed("a member is encrypted") }
            guard unsafe archive_entry_filetype(entry) == kcb_regular_file, wants(name) else { continue }
            body(name, try unsafe content(of: archive, &room))
        }
    }

    private static func content(of archive: OpaquePointer, _ room: inout Int) throws(StreamFailure) -> SecretBytes {
        var content = SecretBytes(capacity: 4_096)
        while true {
            if Interruption.isRequested { throw StreamFailure(.readingContainer, .interrupted) }
            let before = content.count
            // As much again as there is, so that a large member is copied a few times only.
            var status = 0
            content.append(upTo: min(max(before, 65_536), 16 << 20)) { output in
                status = unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
                    let count = unsafe archive_read_data(archive, buffer.baseAddress, buffer.count)
                    if count > 0 { filled = Int(count) }
                    return Int(count)
                }
            }
            // A wrong checksum is a warning of the library.
            guard status >= 0 else { throw malformed("a member is damaged") }
            if status == 0 { return content }
            room -= content.count - before
            guard room >= 0 else {
                throw StreamFailure(
                    .readingContainer,
                    .limitExceeded("bytes of the members", found: nil, allowed: sizeLimit))
            }
        }
    }

    /// True for a path that stays below the folder in which it is.
    private static func isSafe(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("/")
            && !name.split(separator: "/").contains { $0 == ".." }
    }

    private static func malformed(_ rule: String) -> StreamFailure {
        StreamFailure(.readingContainer, .malformed(rule))
    }

    private static var unavailable: StreamFailure {
        StreamFailure(.readingContainer, .library("libarchive cannot read zip"))
    }
}
