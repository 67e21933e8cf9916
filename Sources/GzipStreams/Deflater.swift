internal import ByteStreams
internal import CZlib

/// Compresses one segment at a time, each into a gzip member of its own.
@safe final class Deflater {
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int32) throws(StreamFailure) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe gzip_deflate_init(stream, level) == Z_OK else {
            unsafe stream.deallocate()
            throw StreamFailure(.compressing, .library("zlib could not start"))
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Replaces `member` by the gzip member of `segment`; false if zlib could not do it.
    func compress(_ segment: borrowing SecretBytes, into member: inout SecretBytes) -> Bool {
        guard unsafe deflateReset(stream) == Z_OK else { return false }
        member.removeAll()
        let bound = Int(unsafe deflateBound(stream, uLong(segment.count)))
        var isWhole = false
        segment.withBytes { input in
            member.append(upTo: bound) { output in
                unsafe input.withUnsafeBufferPointer { source in
                    unsafe output.withUnsafeMutableBufferPointer { target, count in
                        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                        unsafe stream.pointee.avail_in = uInt(source.count)
                        unsafe stream.pointee.next_out = target.baseAddress
                        unsafe stream.pointee.avail_out = uInt(target.count)
                        isWhole = unsafe deflate(stream, Z_FINISH) == Z_STREAM_END
                        count = unsafe target.count - Int(stream.pointee.avail_out)
                    }
                }
            }
        }
        return isWhole
    }
}

/// Decompresses one gzip member after the other; zlib checks each member's CRC and length.
@safe struct Inflater: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    enum Progress {
        case more
        case memberEnded
        case corrupt
    }

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe gzip_inflate_init(stream)
        precondition(status == Z_OK, "zlib could not start")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Prepares for the next member.
    func reset() {
        unsafe inflateReset(stream)
    }

    /// Decompresses from `input` into `output` until one of them is used up or the member ends.
    ///
    /// - Returns: what was reached, and how many bytes of `input` were used.
    func decompress(
        _ input: borrowing Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) -> (progress: Progress, consumed: Int) {
        unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target, count in
                let room = target.count - count
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = uInt(source.count)
                unsafe stream.pointee.next_out = target.baseAddress.map { unsafe $0 + count }
                unsafe stream.pointee.avail_out = uInt(min(room, Int(uInt.max)))
                let status = unsafe inflate(stream, Z_NO_FLUSH)
                let produced = unsafe min(room, Int(uInt.max)) - Int(stream.pointee.avail_out)
                let consumed = unsafe source.count - Int(stream.pointee.avail_in)
                switch status {
                case Z_OK, Z_BUF_ERROR:
                    count += produced
                    return (.more, consumed)
                case Z_STREAM_END:
                    count += produced
                    return (.memberEnded, consumed)
                default: return (.corrupt, consumed)
                }
            }
        }
    }
}
