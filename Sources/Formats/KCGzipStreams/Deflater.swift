internal import CKCDeflate
internal import KCByteStreams

/// A compressor that produces one gzip member after another; not thread-safe.
///
/// The compressor is libdeflate's, which compresses complete buffers; zlib reads what it writes, so that a fault in
/// either of them is noticed when an archive is read back.
@safe final class Deflater {
    private let compressor: OpaquePointer

    /// Creates a compressor.
    ///
    /// - Throws: `StreamFailure.outOfMemory` if there is none for it.
    init(level: Int) throws(StreamFailure) {
        Self.wipesMemory
        guard let compressor = unsafe libdeflate_alloc_compressor(Int32(level)) else {
            throw .outOfMemory(.compressing)
        }
        unsafe self.compressor = unsafe compressor
    }

    deinit {
        unsafe libdeflate_free_compressor(compressor)
    }

    private static let wipesMemory: Void = kcb_deflate_wipes_memory()

    /// Appends a complete member that contains `plaintext` (at most 1 GiB) to `output`.
    ///
    /// - Throws: `StreamFailure` of kind `library`.
    func compress(_ plaintext: borrowing SecretBytes, into output: inout SecretBytes) throws(StreamFailure) {
        let compressor = unsafe self.compressor
        let bound = unsafe libdeflate_deflate_compress_bound(compressor, plaintext.count)
        output.reserve(GzipMember.headerSize + bound + GzipMember.trailerSize)
        for byte in GzipMember.header { output.append(byte) }
        let checksum = try plaintext.withBytes { plaintext throws(StreamFailure) in
            unsafe try plaintext.withUnsafeBufferPointer { source throws(StreamFailure) in
                try output.append(upTo: bound) { room throws(StreamFailure) in
                    try unsafe room.withUnsafeMutableBufferPointer { target, count throws(StreamFailure) in
                        // NULL is for no bytes at all, which have an address here.
                        var nothing: UInt8 = 0
                        count =
                            unsafe source.isEmpty
                            ? libdeflate_deflate_compress(compressor, &nothing, 0, target.baseAddress, target.count)
                            : libdeflate_deflate_compress(
                                compressor, source.baseAddress, source.count, target.baseAddress, target.count)
                        // 0 is for too little room; any output at all has at least one byte.
                        guard count > 0 else { throw Self.failure }
                    }
                }
                return unsafe libdeflate_crc32(0, source.baseAddress, source.count)
            }
        }
        for number in [checksum, UInt32(plaintext.count)] {
            for byte in GzipMember.bytes(of: number) { output.append(byte) }
        }
    }

    private static var failure: StreamFailure { StreamFailure(.compressing, .library("deflate")) }
}
