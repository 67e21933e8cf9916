internal import ByteStreams
internal import CLibArchive
internal import Glibc

/// AE_IFREG of <archive_entry.h>; the macro is too complex to be imported.
private let regularFile: UInt32 = 0o100000

/// libarchive writing a ustar into memory.
@safe final class WritingArchive {
    private let handle: OpaquePointer
    private let entry: OpaquePointer
    private let pending = PendingBytes()

    init() throws(StreamFailure) {
        guard let handle = unsafe archive_write_new() else {
            throw StreamFailure(.writingContainer, .library("libarchive could not start"))
        }
        guard let entry = unsafe archive_entry_new() else {
            unsafe archive_write_free(handle)
            throw StreamFailure(.writingContainer, .library("libarchive could not start"))
        }
        unsafe self.handle = handle
        unsafe self.entry = entry
        try check(unsafe archive_write_set_format_ustar(handle))
        try check(unsafe archive_write_add_filter_none(handle))
        // No blocking: the container ends behind its two zero blocks.
        try check(unsafe archive_write_set_bytes_per_block(handle, 0))
        let context = unsafe Unmanaged.passUnretained(pending).toOpaque()
        let status = unsafe archive_write_open(
            handle, context, nil,
            { _, context, bytes, count in
                guard let context = unsafe context, let bytes = unsafe bytes else { return -1 }
                let pending = unsafe Unmanaged<PendingBytes>.fromOpaque(context).takeUnretainedValue()
                unsafe pending.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
                return count
            }, nil)
        try check(status)
    }

    deinit {
        unsafe archive_entry_free(entry)
        unsafe archive_write_free(handle)
    }

    /// Writes a member's header.
    func beginMember(_ name: String, length: UInt64, modified: Int64) throws(StreamFailure) {
        unsafe archive_entry_clear(entry)
        unsafe archive_entry_set_pathname(entry, name)
        unsafe archive_entry_set_size(entry, la_int64_t(length))
        unsafe archive_entry_set_filetype(entry, regularFile)
        unsafe archive_entry_set_perm(entry, 0o600)
        unsafe archive_entry_set_mtime(entry, time_t(modified), 0)
        try check(unsafe archive_write_header(handle, entry))
    }

    /// Writes data of the current member.
    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        let handle = unsafe self.handle
        let written = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe archive_write_data(handle, buffer.baseAddress, buffer.count)
        }
        guard written == bytes.count else { throw failure }
    }

    /// Writes the padding of the current member.
    func endMember() throws(StreamFailure) {
        try check(unsafe archive_write_finish_entry(handle))
    }

    /// Writes the two zero blocks.
    func end() throws(StreamFailure) {
        try check(unsafe archive_write_close(handle))
    }

    /// Hands over what was written since the last call.
    func takePending() -> [UInt8] {
        defer { pending.bytes.removeAll(keepingCapacity: true) }
        return pending.bytes
    }

    // A warning means that libarchive wrote something other than was asked for.
    private func check(_ status: Int32) throws(StreamFailure) {
        guard status == ARCHIVE_OK else { throw failure }
    }

    private var failure: StreamFailure { StreamFailure(.writingContainer, .library("libarchive refused to write")) }

    private final class PendingBytes {
        var bytes: [UInt8] = []
    }
}

/// libarchive reading a tar, as a second opinion.
@safe final class ReadingArchive {
    private let handle: OpaquePointer
    private let file: OpenFile

    private static let blockSize = 65_536

    init(_ file: OpenFile) throws(StreamFailure) {
        guard let handle = unsafe archive_read_new() else {
            throw StreamFailure(.readingContainer, .library("libarchive could not start"))
        }
        unsafe self.handle = handle
        self.file = file
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw StreamFailure(.readingContainer, .system(errno)) }
        // Tar alone, no filters: no other reader of libarchive ever sees the bytes.
        guard unsafe archive_read_support_format_tar(handle) == ARCHIVE_OK,
            unsafe archive_read_open_fd(handle, file.descriptor, Self.blockSize) == ARCHIVE_OK
        else { throw failure("libarchive does not take it for a tar") }
    }

    deinit {
        unsafe archive_read_free(handle)
    }

    /// Makes sure that libarchive sees exactly `members`.
    func confirm(_ members: [TarMember]) throws(StreamFailure) {
        var entry: OpaquePointer?
        for member in members {
            guard unsafe archive_read_next_header(handle, &entry) == ARCHIVE_OK, let entry = unsafe entry,
                let name = unsafe archive_entry_pathname(entry),
                unsafe String(cString: name) == member.name,
                unsafe archive_entry_size(entry) == Int64(member.length),
                unsafe archive_entry_mtime(entry) == member.modified,
                unsafe archive_entry_filetype(entry) == regularFile,
                unsafe archive_entry_perm(entry) == 0o600,
                unsafe archive_entry_hardlink(entry) == nil,
                unsafe archive_entry_sparse_count(entry) == 0,
                unsafe UInt64(archive_read_header_position(handle)) + UInt64(TarProfile.blockSize) == member.offset
            else { throw failure("libarchive sees another member") }
        }
        guard unsafe archive_read_next_header(handle, &entry) == ARCHIVE_EOF else {
            throw failure("libarchive sees another member")
        }
    }

    private func failure(_ rule: String) -> StreamFailure {
        StreamFailure(.readingContainer, .malformed(rule))
    }
}
