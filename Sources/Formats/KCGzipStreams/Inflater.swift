internal import CKCZlib
internal import KCByteStreams

/// A zlib decompressor for consecutive deflate streams, with the CRC-32 of its output.
@safe final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    /// The CRC-32 of the plaintext since `restart`.
    private(set) var checksum: UInt32 = 0

    /// The result of one step.
    struct Progress {
        let consumed: Int
        /// True if the deflate stream ended.
        let isAtEnd: Bool
    }

    /// Creates the zlib stream.
    ///
    /// - Throws: `StreamFailure.outOfMemory` if there is none for it.
    init() throws(StreamFailure) {
        guard let stream = unsafe kcb_inflate_new() else {
            throw .outOfMemory(.decompressing)
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        unsafe kcb_inflate_free(stream)
    }

    /// Prepares for the next deflate stream.
    func restart() throws(StreamFailure) {
        guard unsafe inflateReset(stream) == Z_OK else {
            throw StreamFailure(.decompressing, .library("inflate"))
        }
        checksum = 0
    }

    /// Decompresses from `input` into the free part of `output`, at most `limit` bytes.
    ///
    /// - Throws: `StreamFailure`: `malformed`, or `outOfMemory`.
    func inflate(
        _ input: borrowing Span<UInt8>, into output: inout OutputSpan<UInt8>, upTo limit: Int
    ) throws(StreamFailure) -> Progress {
        let stream = unsafe self.stream
        var checksum = self.checksum
        let (status, left): (Int32, Int) = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target, count in
                let room = target.extracting(count...)
                let size = UInt32(clamping: min(room.count, limit))
                unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(clamping: source.count)
                unsafe stream.pointee.next_out = room.baseAddress
                unsafe stream.pointee.avail_out = size
                let status = unsafe CKCZlib.inflate(stream, Z_NO_FLUSH)
                let produced = unsafe Int(size - stream.pointee.avail_out)
                unsafe checksum = UInt32(crc32_z(UInt(checksum), room.baseAddress, produced))
                count += produced
                return (status, Int(unsafe stream.pointee.avail_in))
            }
        }
        self.checksum = checksum
        let consumed = min(input.count, Int(UInt32.max)) - left
        switch status {
        // Z_BUF_ERROR: zlib needs more input or room. The caller provides it or reports a truncated stream.
        case Z_OK, Z_BUF_ERROR: return Progress(consumed: consumed, isAtEnd: false)
        case Z_STREAM_END: return Progress(consumed: consumed, isAtEnd: true)
        case Z_MEM_ERROR: throw .outOfMemory(.decompressing)
        default: throw StreamFailure(.decompressing, .malformed("a member holds valid deflate data"))
        }
    }
}
