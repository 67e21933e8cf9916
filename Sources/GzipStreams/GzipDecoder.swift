public import ByteStreams

/// Decompresses gzip (RFC 1952) of one member or many, with nothing before, between or after them.
///
/// It accepts the plain members that `GzipEncoder` and `gzip -n` write (no name, comment or extra field), checks each
/// member's CRC and length, and never delivers more than `outputLimit` bytes.
public struct GzipDecoder<Upstream: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    private var upstream: Upstream
    private let inflater = Inflater()
    private var input = SecretBytes(capacity: inputSize)
    private var used = 0
    private var consumed: UInt64 = 0
    private var produced: UInt64 = 0
    private let outputLimit: UInt64
    private var place = Place.beforeFirstMember

    private enum Place {
        case beforeFirstMember
        case inMember
        case betweenMembers
        case ended
    }

    private static var inputSize: Int { 65_536 }
    /// Magic number, deflate, no flags.
    private static var memberStart: [UInt8] { [0x1f, 0x8b, 8, 0] }
    private static var memberHeaderSize: Int { 10 }

    /// Reads from `upstream`, whose bytes have been authenticated.
    ///
    /// - Parameter outputLimit: bytes after which the stream is refused.
    public init(_ upstream: consuming Upstream, outputLimit: UInt64) {
        self.upstream = upstream
        self.outputLimit = outputLimit
    }

    /// Appends the next bytes.
    ///
    /// - Throws: `StreamFailure`: `truncated`, `malformed`, `limitExceeded`, and what `upstream` throws.
    public mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        while true {
            if place != .inMember, try !beginMember() { return }
            if used == input.count, try !refill() { throw failure(.truncated) }
            let before = output.count
            let from = used
            let step = input.withBytes { bytes in inflater.decompress(bytes.extracting(from...), into: &output) }
            used += step.consumed
            consumed += UInt64(step.consumed)
            produced += UInt64(output.count - before)
            guard produced <= outputLimit else {
                output.removeLast(output.count - before)
                throw failure(
                    .limitExceeded(
                        "decompressed size", found: nil, allowed: Int(min(outputLimit, UInt64(Int.max)))))
            }
            switch step.progress {
            case .more: break
            case .memberEnded: place = .betweenMembers
            case .corrupt:
                output.removeLast(output.count - before)
                throw failure(.malformed("the gzip data is damaged"))
            }
            if output.count > before { return }
        }
    }

    /// Checks the header of the next member; false at the end of the input.
    private mutating func beginMember() throws(StreamFailure) -> Bool {
        if place == .ended { return false }
        while input.count - used < Self.memberHeaderSize {
            if try refill() { continue }
            guard used == input.count, place == .betweenMembers else { throw failure(.truncated) }
            place = .ended
            return false
        }
        let from = used
        let isMember = input.withBytes { bytes in
            Self.memberStart.enumerated().allSatisfy { bytes[from + $0.offset] == $0.element }
        }
        guard isMember else { throw failure(.malformed("a gzip member does not begin as it must")) }
        inflater.reset()
        place = .inMember
        return true
    }

    /// Reads on behind what is not used yet; false at the end of the input.
    private mutating func refill() throws(StreamFailure) -> Bool {
        input.removeFirst(used)
        used = 0
        let before = input.count
        try input.append(upTo: Self.inputSize) { part throws(StreamFailure) in try upstream.read(into: &part) }
        return input.count > before
    }

    private func failure(_ kind: StreamFailure.Kind) -> StreamFailure {
        StreamFailure(.decompressing, kind, offset: consumed)
    }
}
