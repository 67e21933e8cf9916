package import KCByteStreams

/// Decompresses gzip (RFC 1952): one or more members, and nothing else.
///
/// The decoder accepts the headers that `GzipEncoder` and, on Linux, `gzip -n` write: deflate, no flags, no time. The
/// input should already be authenticated; in any case, the limit stops a decompression bomb.
package struct GzipDecoder<Upstream: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    private var upstream: Upstream
    private let inflater: Inflater
    private let outputLimit: UInt64
    private var input = SecretBytes(capacity: inputSize)
    private var inputStart = 0
    /// The number of bytes consumed before `input`.
    private var inputOffset: UInt64 = 0
    private var position = Position.start
    private var memberLength: UInt64 = 0
    private var outputLength: UInt64 = 0

    private enum Position {
        case start, data, end
    }

    // Large enough to amortize reads.
    private static var inputSize: Int { 65_536 }

    /// Decompresses `upstream`, at most `outputLimit` bytes in total.
    ///
    /// - Throws: `StreamFailure.outOfMemory` if there is none for zlib.
    package init(_ upstream: consuming Upstream, outputLimit: UInt64) throws(StreamFailure) {
        inflater = try Inflater()
        self.upstream = upstream
        self.outputLimit = outputLimit
    }

    /// Appends the next plaintext.
    ///
    /// - Throws: `StreamFailure`, with the offset in the compressed bytes: `truncated`, also for empty input;
    ///   `malformed`; `limitExceeded` before a byte beyond the limit is delivered; the failures of `upstream`.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let before = output.count
        while output.count == before {
            switch position {
            case .start: try readHeader()
            case .data: try readData(into: &output)
            case .end: return
            }
        }
    }

    private mutating func readHeader() throws(StreamFailure) {
        for index in 0..<GzipMember.headerSize {
            let byte = try nextByte()
            if let rule = GzipMember.rule(brokenBy: byte, at: index) { throw broken(rule, at: offset - 1) }
        }
        try inflater.restart()
        memberLength = 0
        position = .data
    }

    private mutating func readData(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        if inputStart == input.count, try !refill() { throw truncated }
        let before = output.count
        let limit = outputLimit - outputLength
        let progress: Inflater.Progress
        if limit == 0 {
            progress = try inflateBeyondLimit()
        } else {
            let (inflater, start) = (self.inflater, inputStart)
            progress = try input.withBytes { bytes throws(StreamFailure) in
                try inflater.inflate(
                    bytes.extracting(start...), into: &output, upTo: Int(clamping: limit))
            }
        }
        inputStart += progress.consumed
        memberLength += UInt64(output.count - before)
        outputLength += UInt64(output.count - before)
        if progress.isAtEnd { try readTrailer() }
    }

    /// Continues at the limit, where only the end is allowed: one more byte of plaintext exceeds it.
    private mutating func inflateBeyondLimit() throws(StreamFailure) -> Inflater.Progress {
        let (inflater, start) = (self.inflater, inputStart)
        var excess = SecretBytes(capacity: 1)
        var progress = Inflater.Progress(consumed: 0, isAtEnd: false)
        try excess.append(upTo: 1) { room throws(StreamFailure) in
            progress = try input.withBytes { bytes throws(StreamFailure) in
                try inflater.inflate(bytes.extracting(start...), into: &room, upTo: 1)
            }
        }
        guard excess.isEmpty else {
            let kind = StreamFailure.Kind.limitExceeded(
                "decompressed size", found: nil, allowed: Int(clamping: outputLimit))
            throw StreamFailure(.decompressing, kind, offset: offset)
        }
        return progress
    }

    private mutating func readTrailer() throws(StreamFailure) {
        let start = offset
        var fields: [UInt8] = []
        for _ in 0..<GzipMember.trailerSize { fields.append(try nextByte()) }
        guard fields.prefix(4).elementsEqual(GzipMember.bytes(of: inflater.checksum)) else {
            throw broken("the CRC-32 fits the data", at: start)
        }
        guard fields.suffix(4).elementsEqual(GzipMember.bytes(of: UInt32(truncatingIfNeeded: memberLength))) else {
            throw broken("the size fits the data", at: start + 4)
        }
        position = .start
        if inputStart == input.count, try !refill() { position = .end }
    }

    private mutating func nextByte() throws(StreamFailure) -> UInt8 {
        if inputStart == input.count, try !refill() { throw truncated }
        let index = inputStart
        inputStart += 1
        return input.withBytes { $0[index] }
    }

    /// Replaces the consumed input with more; false at the end.
    private mutating func refill() throws(StreamFailure) -> Bool {
        inputOffset += UInt64(input.count)
        inputStart = 0
        input.removeAll()
        try input.append(upTo: Self.inputSize) { output throws(StreamFailure) in try upstream.read(into: &output) }
        return !input.isEmpty
    }

    private var offset: UInt64 { inputOffset + UInt64(inputStart) }

    private var truncated: StreamFailure { StreamFailure(.decompressing, .truncated, offset: offset) }

    private func broken(_ rule: String, at offset: UInt64) -> StreamFailure {
        StreamFailure(.decompressing, .malformed(rule), offset: offset)
    }
}
