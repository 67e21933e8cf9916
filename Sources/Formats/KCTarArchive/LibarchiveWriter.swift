internal import CKCLibArchive
internal import KCByteStreams

/// libarchive's ustar writer, which collects its output until the caller takes it.
///
/// libarchive writes through a C callback, which can neither be generic nor throw Swift errors. So the callback fills a
/// buffer that the caller empties after each call.
@safe final class LibarchiveWriter {
    private let library: carchive_functions
    private let archive: OpaquePointer
    private let output = Output()

    /// Creates the writer.
    ///
    /// - Throws: `StreamFailure` of kind `library` or `libraryMissing`.
    init() throws(StreamFailure) {
        let library = try LibArchive.load(.writingContainer)
        self.library = library
        guard let archive = library.archive_write_new() else { throw Self.failure("opening the archive") }
        unsafe self.archive = unsafe archive
        try Self.check(unsafe library.archive_write_set_format_ustar(archive), "choosing ustar")
        // No blocking factor: neither a buffer in libarchive nor padding after the two zero blocks.
        try Self.check(unsafe library.archive_write_set_bytes_per_block(archive, 0), "choosing the block size")
        let context = unsafe Unmanaged.passUnretained(output).toOpaque()
        let status = unsafe library.archive_write_open(
            archive, context, nil,
            { _, context, bytes, count in
                guard let context = unsafe context else { return -1 }
                let output = unsafe Unmanaged<Output>.fromOpaque(context).takeUnretainedValue()
                guard output.isWanted else { return -1 }
                unsafe output.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
                return count
            }, nil)
        try Self.check(status, "opening the archive")
    }

    deinit {
        // Otherwise, freeing the archive completes an open member with zeros in place of its data, up to 8 GiB.
        // archive_write_fail would prevent that too, but makes libarchive 3.6 leak.
        output.isWanted = false
        _ = unsafe library.archive_write_free(archive)
    }

    /// Writes the header of a member.
    func startMember(_ name: String, length: UInt64, modified: Int64) throws(StreamFailure) {
        guard let entry = library.archive_entry_new() else { throw Self.failure("describing a member") }
        defer { unsafe library.archive_entry_free(entry) }
        unsafe library.archive_entry_set_pathname(entry, name)
        unsafe library.archive_entry_set_filetype(entry, carchive_regular_file)
        unsafe library.archive_entry_set_perm(entry, 0o600)
        unsafe library.archive_entry_set_size(entry, Int64(length))
        unsafe library.archive_entry_set_mtime(entry, time_t(modified), 0)
        try Self.check(unsafe library.archive_write_header(archive, entry), "writing a header")
    }

    /// Appends data to the member.
    func append(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        let archive = unsafe self.archive
        let written = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe library.archive_write_data(archive, buffer.baseAddress, buffer.count)
        }
        // If a member gets longer than its header says, libarchive silently writes less.
        guard written == bytes.count else { throw Self.failure("writing data") }
    }

    /// Pads the member.
    func finishMember() throws(StreamFailure) {
        try Self.check(unsafe library.archive_write_finish_entry(archive), "finishing a member")
    }

    /// Writes the end of the archive.
    func close() throws(StreamFailure) {
        try Self.check(unsafe library.archive_write_close(archive), "closing the archive")
    }

    /// Returns the bytes written since the last call.
    func takeOutput() -> [UInt8] {
        defer { output.bytes = [] }
        return output.bytes
    }

    // A warning is also a failure: the archive would differ from what was requested.
    private static func check(_ status: Int32, _ action: String) throws(StreamFailure) {
        guard status == ARCHIVE_OK else { throw failure(action) }
    }

    private static func failure(_ action: String) -> StreamFailure {
        StreamFailure(.writingContainer, .library(action))
    }
}

/// Collects libarchive's output for its callback.
private final class Output {
    var bytes: [UInt8] = []
    var isWanted = true
}
