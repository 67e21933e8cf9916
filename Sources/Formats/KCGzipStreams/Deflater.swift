internal import KCByteStreams
internal import CKCZlib

/// A zlib compressor that produces one gzip member after another; not thread-safe.
@safe final class Deflater {
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates the zlib stream.
    ///
    /// - Throws: `StreamFailure` of kind `library` if there is no memory.
    init(level: Int) throws(StreamFailure) {
        guard let stream = unsafe kcb_deflate_new(Int32(level)) else {
            throw StreamFailure(.compressing, .library("memory for deflate"))
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        unsafe kcb_deflate_free(stream)
    }

    /// Appends a complete member that contains `plaintext` (at most 1 GiB) to `output`.
    ///
    /// - Throws: `StreamFailure` of kind `library`.
    func compress(_ plaintext: borrowing SecretBytes, into output: inout SecretBytes) throws(StreamFailure) {
        let stream = unsafe self.stream
        guard unsafe deflateReset(stream) == Z_OK else { throw Self.failure }
        let bound = unsafe Int(deflateBound(stream, UInt(plaintext.count)))
        output.reserve(GzipMember.headerSize + bound + GzipMember.trailerSize)
        for byte in GzipMember.header { output.append(byte) }
        let checksum = try plaintext.withBytes { plaintext throws(StreamFailure) in
            unsafe try plaintext.withUnsafeBufferPointer { source throws(StreamFailure) in
                unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                try output.append(upTo: bound) { room throws(StreamFailure) in
                    try unsafe room.withUnsafeMutableBufferPointer { target, count throws(StreamFailure) in
                        unsafe stream.pointee.next_out = target.baseAddress
                        unsafe stream.pointee.avail_out = UInt32(target.count)
                        // Any result but the end of the stream would silently lose data.
                        guard unsafe deflate(stream, Z_FINISH) == Z_STREAM_END else { throw Self.failure }
                        count = unsafe target.count - Int(stream.pointee.avail_out)
                    }
                }
                return unsafe UInt32(crc32_z(0, source.baseAddress, source.count))
            }
        }
        for number in [checksum, UInt32(plaintext.count)] {
            for byte in GzipMember.bytes(of: number) { output.append(byte) }
        }
    }

    private static var failure: StreamFailure { StreamFailure(.compressing, .library("deflate")) }
}
