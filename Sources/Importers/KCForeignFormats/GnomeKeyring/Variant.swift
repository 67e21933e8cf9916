internal import KCItemSources

/// A container in GVariant's serialized form, little-endian: its position and the ends of its parts.
///
/// Source: GVariant specification 1.0, sections 2.3 and 2.5.
struct Variant {
    let range: Range<Int>
    let alignment: Int
    /// The size of a framing offset in bytes.
    private let offsetSize: Int

    static let failure = ForeignFailure.damaged("it is not a well-formed GVariant")

    /// Describes the container in `range`; positions and alignment in it are relative to its first byte.
    init(_ range: Range<Int>, alignment: Int) throws(ForeignFailure) {
        self.range = range
        self.alignment = alignment
        offsetSize =
            switch range.count {
            case 0: 0
            case ...0xff: 1
            case ...0xffff: 2
            case ...0xffff_ffff: 4
            default: 8
            }
    }

    /// The end of a tuple's `index`-th part of variable size, relative to the first byte.
    ///
    /// The offsets are stored at the end of the tuple in reverse order.
    func framing(_ index: Int, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Int {
        let offset = try self.offset(endingAt: range.upperBound - index * offsetSize, in: bytes)
        guard offset <= (try contentEnd(framings: index + 1)) - range.lowerBound else { throw Self.failure }
        return offset
    }

    /// The end of the parts of a tuple with `framings` offsets.
    func contentEnd(framings: Int) throws(ForeignFailure) -> Int {
        let end = range.upperBound - framings * offsetSize
        guard offsetSize > 0, end >= range.lowerBound else { throw Self.failure }
        return end
    }

    /// The number of bytes from a position to the next one that is aligned within the container.
    func padding(at position: Int, _ alignment: Int) -> Int {
        let beyond = (position - range.lowerBound) % alignment
        return beyond == 0 ? 0 : alignment - beyond
    }

    /// The elements of an array of elements without a fixed size.
    func elements(
        _ what: String, limit: Int, in bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> [Range<Int>] {
        if range.isEmpty { return [] }
        let first = range.lowerBound + (try offset(endingAt: range.upperBound, in: bytes))
        let room = range.upperBound - first
        guard room > 0, room.isMultiple(of: offsetSize) else { throw Self.failure }
        let count = room / offsetSize
        guard count <= limit else { throw .limit(what, found: UInt64(count), allowed: UInt64(limit)) }
        var elements: [Range<Int>] = []
        var start = range.lowerBound
        for index in 1...count {
            start += padding(at: start, alignment)
            let end = range.lowerBound + (try offset(endingAt: first + index * offsetSize, in: bytes))
            guard start <= end, end <= first else { throw Self.failure }
            elements.append(start..<end)
            start = end
        }
        return elements
    }

    /// A string, which ends with its only NUL byte.
    static func text(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String {
        guard range.upperBound <= bytes.count, !range.isEmpty else { throw failure }
        let content = bytes.array(range.dropLast())
        guard bytes[range.upperBound - 1] == 0, !content.contains(0),
            let text = String(validating: content, as: UTF8.self)
        else { throw failure }
        return text
    }

    private func offset(endingAt end: Int, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Int {
        let start = end - offsetSize
        guard offsetSize > 0, start >= range.lowerBound, end <= bytes.count else { throw Self.failure }
        var offset: UInt64 = 0
        for index in (start..<end).reversed() { offset = offset << 8 | UInt64(bytes[index]) }
        guard offset <= UInt64(range.count) else { throw Self.failure }
        return Int(offset)
    }
}
