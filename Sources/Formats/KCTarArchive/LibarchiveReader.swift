internal import KCByteStreams
internal import CKCLibArchive

/// A second, independent check: libarchive reads the same file with support for tar only.
enum LibarchiveReader {
    /// Checks that libarchive finds exactly `members`, at the same offsets.
    ///
    /// - Throws: `StreamFailure` of kind `malformed` if the two readers disagree, `library` if libarchive cannot start,
    ///   or the failure of reading the file.
    static func confirm(_ members: [TarMember], in file: OpenFile) throws(StreamFailure) {
        let input = LibarchiveInput(file)
        // The archive calls back into `input` until it has been freed.
        try withExtendedLifetime(input) { () throws(StreamFailure) in
            guard let archive = unsafe archive_read_new() else { throw unavailable }
            defer { unsafe archive_read_free(archive) }
            do throws(StreamFailure) {
                try unsafe open(archive, input)
                for member in members { try unsafe confirm(member, archive) }
                try unsafe confirmEnd(archive, after: members)
            } catch {
                // libarchive reports only that a callback failed; the input knows the reason.
                throw input.failure ?? error
            }
        }
    }

    private static func open(_ archive: OpaquePointer, _ input: LibarchiveInput) throws(StreamFailure) {
        unsafe archive_read_set_read_callback(archive) { _, context, start in
            guard let context = unsafe context else { return -1 }
            return unsafe LibarchiveInput.from(context).read(start)
        }
        unsafe archive_read_set_skip_callback(archive) { _, context, count in
            guard let context = unsafe context else { return 0 }
            return unsafe LibarchiveInput.from(context).skip(count)
        }
        unsafe archive_read_set_callback_data(archive, Unmanaged.passUnretained(input).toOpaque())
        guard unsafe archive_read_support_filter_none(archive) == ARCHIVE_OK,
            unsafe archive_read_support_format_tar(archive) == ARCHIVE_OK
        else { throw unavailable }
        guard unsafe archive_read_open1(archive) == ARCHIVE_OK else { throw disagreement(at: 0) }
    }

    private static func confirm(_ member: TarMember, _ archive: OpaquePointer) throws(StreamFailure) {
        let header = member.offset - UInt64(TarProfile.blockSize)
        var next: OpaquePointer?
        // A warning is also a disagreement.
        guard unsafe archive_read_next_header(archive, &next) == ARCHIVE_OK, let entry = unsafe next,
            unsafe archive_format(archive) == kcb_format_ustar,
            let name = unsafe archive_entry_pathname(entry), unsafe String(cString: name) == member.name,
            unsafe archive_entry_size_is_set(entry) != 0,
            unsafe archive_entry_size(entry) == Int64(member.length),
            unsafe archive_entry_filetype(entry) == kcb_regular_file,
            unsafe archive_entry_perm(entry) == 0o600,
            unsafe archive_entry_mtime(entry) == member.modified,
            unsafe archive_entry_hardlink(entry) == nil, unsafe archive_entry_symlink(entry) == nil,
            unsafe archive_entry_sparse_count(entry) == 0, unsafe archive_entry_xattr_count(entry) == 0,
            unsafe archive_read_header_position(archive) == Int64(header)
        else { throw disagreement(at: header) }
        guard unsafe archive_read_data_skip(archive) == ARCHIVE_OK else { throw disagreement(at: member.offset) }
    }

    private static func confirmEnd(_ archive: OpaquePointer, after members: [TarMember]) throws(StreamFailure) {
        let block = UInt64(TarProfile.blockSize)
        var end: UInt64 = 0
        if let last = members.last { end = (last.offset + last.length + block - 1) / block * block }
        var next: OpaquePointer?
        guard unsafe archive_read_next_header(archive, &next) == ARCHIVE_EOF,
            unsafe archive_filter_bytes(archive, 0) == Int64(end + 2 * block)
        else { throw disagreement(at: end) }
    }

    private static func disagreement(at offset: UInt64) -> StreamFailure {
        StreamFailure(.readingContainer, .malformed("libarchive finds the same members"), offset: offset)
    }

    private static var unavailable: StreamFailure {
        StreamFailure(.readingContainer, .library("libarchive cannot read tar"))
    }
}

/// A file as libarchive's callbacks use it.
@safe private final class LibarchiveInput {
    private(set) var failure: StreamFailure?
    private let file: OpenFile
    private var position: UInt64 = 0
    private let buffer: UnsafeMutableBufferPointer<UInt8>

    // Room for a few headers; data is skipped.
    private static let bufferSize = 4096

    init(_ file: OpenFile) {
        self.file = file
        unsafe buffer = .allocate(capacity: Self.bufferSize)
        unsafe buffer.initialize(repeating: 0)
    }

    deinit {
        unsafe buffer.deallocate()
    }

    static func from(_ context: UnsafeMutableRawPointer) -> LibarchiveInput {
        unsafe Unmanaged<LibarchiveInput>.fromOpaque(context).takeUnretainedValue()
    }

    /// Passes on the next bytes and returns their number, 0 at the end, or -1 after a failure, which is stored.
    func read(_ start: UnsafeMutablePointer<UnsafeRawPointer?>?) -> Int {
        var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
        do {
            try file.read(at: position, into: &output)
        } catch {
            failure = error
            return -1
        }
        let count = unsafe output.finalize(for: buffer)
        position += UInt64(count)
        unsafe start?.pointee = unsafe UnsafeRawPointer(buffer.baseAddress)
        return count
    }

    /// Skips `count` bytes; the earlier scan has checked that they exist.
    func skip(_ count: Int64) -> Int64 {
        guard count > 0 else { return 0 }
        position += UInt64(count)
        return count
    }
}
