internal import CKCLibArchive
internal import Glibc
package import KCByteStreams

/// Reads zip files of other programs in memory; nothing from them is ever written to disk.
package enum ZipFile {
    /// The maximum size of all members that are read, in bytes; it and the ratio to the file's size stop a zip bomb.
    ///
    /// Text and images stay far below both limits.
    private static let sizeLimit = 1 << 30
    private static let ratioLimit = 200
    /// The maximum number of members; a record has one or none.
    private static let memberLimit = 100_000

    /// True if the bytes begin like a zip file.
    package static func begins(_ bytes: borrowing Span<UInt8>) -> Bool {
        bytes.count >= 4 && bytes[0] == UInt8(ascii: "P") && bytes[1] == UInt8(ascii: "K") && bytes[2] == 3
            && bytes[3] == 4
    }

    /// The names of all members.
    ///
    /// - Throws: the same as `read`.
    package static func names(in bytes: borrowing Span<UInt8>) throws(StreamFailure) -> Set<ExactText> {
        try read(bytes) { _ in
            false
        } body: { _, _ in
        }
    }

    /// Loads what reading needs besides libarchive: the locale, and the time zone, in which members have their dates.
    static func prepare() {
        _ = NameLocale.shared
        tzset()
    }

    /// Passes each wanted member to `body`, once it has been read to its end and its checksum has been verified.
    ///
    /// - Returns: the names of all members.
    /// - Throws: `StreamFailure` (`malformed` for damage, encryption, duplicate names and names that lead out of the
    ///   folder; `limitExceeded`, `outOfMemory`, `library`, `libraryMissing`).
    package static func read(
        _ bytes: borrowing Span<UInt8>, wants: (String) -> Bool, body: (String, consuming SecretBytes) -> Void
    ) throws(StreamFailure) -> Set<ExactText> {
        let library = try LibArchive.load(.readingContainer)
        let earlier = unsafe uselocale(NameLocale.shared.locale)
        defer { unsafe uselocale(earlier) }
        carchive_wipe_freed(true)
        defer { carchive_wipe_freed(false) }
        guard let archive = library.archive_read_new() else { throw .outOfMemory(.readingContainer) }
        defer { _ = unsafe library.archive_read_free(archive) }
        guard unsafe library.archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK else {
            if unsafe isOutOfMemory(archive, library) { throw .outOfMemory(.readingContainer) }
            throw StreamFailure(.readingContainer, .library("libarchive cannot read zip"))
        }
        return try unsafe bytes.withUnsafeBufferPointer { buffer throws(StreamFailure) in
            guard unsafe library.archive_read_open_memory(archive, buffer.baseAddress, buffer.count) == ARCHIVE_OK
            else {
                throw unsafe failure(of: archive, library, "it is not whole")
            }
            return try unsafe members(of: archive, library, size: buffer.count, wants, body)
        }
    }

    private static func members(
        of archive: OpaquePointer, _ library: carchive_functions, size: Int, _ wants: (String) -> Bool,
        _ body: (String, consuming SecretBytes) -> Void
    ) throws(StreamFailure) -> Set<ExactText> {
        var names: Set<ExactText> = []
        let limit = size > sizeLimit / ratioLimit ? sizeLimit : max(size * ratioLimit, 1 << 16)
        var room = limit
        while true {
            if Interruption.isRequested { throw StreamFailure(.readingContainer, .interrupted) }
            var next: OpaquePointer?
            let status = unsafe library.archive_read_next_header(archive, &next)
            if status == ARCHIVE_EOF { return names }
            guard status == ARCHIVE_OK, let entry = unsafe next else {
                throw unsafe failure(of: archive, library, "a member cannot be read")
            }
            guard let pointer = unsafe library.archive_entry_pathname_utf8(entry),
                let name = unsafe String(validatingCString: pointer)
            else { throw malformed("a member cannot be read") }
            guard names.count < memberLimit else {
                throw StreamFailure(
                    .readingContainer,
                    .limitExceeded("members", found: UInt64(names.count) + 1, allowed: memberLimit))
            }
            guard isSafe(name) else { throw malformed("a name leads out of its folder") }
            guard names.insert(name.exact).inserted else { throw malformed("two members have one name") }
            guard unsafe library.archive_entry_is_encrypted(entry) == 0 else {
                throw malformed("a member is encrypted")
            }
            guard unsafe library.archive_entry_filetype(entry) == carchive_regular_file, wants(name) else { continue }
            body(name, try unsafe content(of: archive, library, &room, of: limit))
        }
    }

    private static func content(
        of archive: OpaquePointer, _ library: carchive_functions, _ room: inout Int, of limit: Int
    ) throws(StreamFailure) -> SecretBytes {
        var content = SecretBytes(capacity: 4_096)
        while true {
            if Interruption.isRequested { throw StreamFailure(.readingContainer, .interrupted) }
            let before = content.count
            // Reads as much again as there is, so that a large member is copied only a few times.
            var status = 0
            content.append(upTo: min(max(before, 65_536), 16 << 20)) { output in
                status = unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
                    let count = unsafe library.archive_read_data(archive, buffer.baseAddress, buffer.count)
                    if count > 0 { filled = Int(count) }
                    return Int(count)
                }
            }
            // libarchive reports a wrong checksum as a warning.
            guard status >= 0 else { throw unsafe failure(of: archive, library, "a member is damaged") }
            if status == 0 { return content }
            room -= content.count - before
            guard room >= 0 else {
                throw StreamFailure(
                    .readingContainer,
                    .limitExceeded("bytes of the members", found: nil, allowed: limit))
            }
        }
    }

    /// True for a relative path that stays below its folder.
    private static func isSafe(_ name: String) -> Bool {
        !name.isEmpty && !name.exact.hasPrefix("/")
            && !name.exact.split(separator: "/").contains { $0.exact == ".." }
    }

    private static func malformed(_ rule: String) -> StreamFailure {
        StreamFailure(.readingContainer, .malformed(rule))
    }

    /// The failure that libarchive reports, with a rule for any but want of memory.
    private static func failure(
        of archive: OpaquePointer, _ library: carchive_functions, _ rule: String
    ) -> StreamFailure {
        unsafe isOutOfMemory(archive, library) ? .outOfMemory(.readingContainer) : malformed(rule)
    }

    /// True if the last failure was want of memory.
    private static func isOutOfMemory(_ archive: OpaquePointer, _ library: carchive_functions) -> Bool {
        if unsafe library.archive_errno(archive) == ENOMEM { return true }
        // libarchive has no number for a zlib that does not start, which data cannot keep from it.
        guard let words = unsafe library.archive_error_string(archive) else { return false }
        return unsafe strcmp(words, "Can't initialize ZIP decompression.") == 0
    }
}

/// The locale in whose character set libarchive gives names: that of "C" has only 128 characters.
///
/// Loaded once, since it comes from a file.
@safe private final class NameLocale: @unchecked Sendable {
    static let shared = NameLocale()

    let locale: locale_t?

    private init() { unsafe locale = unsafe newlocale(Int32(LC_CTYPE_MASK), "C.UTF-8", nil) }
}
