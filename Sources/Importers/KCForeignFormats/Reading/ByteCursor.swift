internal import KCByteStreams
internal import KCItemSources

/// Reads the numbers and pieces of a binary file in order, and checks every length against what is left.
struct ByteCursor {
    /// The byte order of numbers.
    enum Order {
        case bigEndian
        case littleEndian
    }

    /// The position of the next piece.
    private(set) var position: Int
    let end: Int
    let order: Order

    /// Starts at the beginning of a part of the bytes.
    init(_ range: Range<Int>, _ order: Order = .bigEndian) {
        position = range.lowerBound
        end = range.upperBound
        self.order = order
    }

    /// Starts at `start`, and ends at the end of the bytes.
    ///
    /// - Throws: `ForeignFailure.damaged` if they end before `start`.
    init(
        from start: Int = 0, of bytes: borrowing Span<UInt8>, _ order: Order = .bigEndian
    ) throws(ForeignFailure) {
        guard start <= bytes.count else { throw Self.early }
        self.init(start..<bytes.count, order)
    }

    static let early = ForeignFailure.damaged("it ends within its last record")

    /// How many bytes are left.
    var left: Int { end - position }

    /// The next `count` bytes.
    ///
    /// - Throws: `ForeignFailure.damaged` if fewer are left.
    mutating func take(_ count: Int) throws(ForeignFailure) -> Range<Int> {
        guard count >= 0, count <= left else { throw Self.early }
        defer { position += count }
        return position..<position + count
    }

    /// The next `count` bytes, where `count` was read from the file.
    ///
    /// - Throws: `ForeignFailure.damaged` if fewer are left.
    mutating func take(_ count: UInt64) throws(ForeignFailure) -> Range<Int> {
        guard count <= UInt64(left) else { throw Self.early }
        return try take(Int(count))
    }

    /// The next `count` bytes, which are not secret.
    mutating func array(_ count: UInt64, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [UInt8] {
        bytes.array(try take(count))
    }

    /// The next 4 bytes as a number.
    mutating func uint32(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(4, in: bytes))
    }

    /// The next 8 bytes as a number.
    mutating func uint64(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> UInt64 {
        try number(8, in: bytes)
    }

    /// The next 4 bytes as a count of things of at least `minimum` bytes each, for which enough bytes must be left.
    mutating func count(
        ofAtLeast minimum: Int = 1, _ what: String, limit: Int, in bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        let count = Int(try uint32(in: bytes))
        guard count <= limit else { throw .limit(what, found: UInt64(count), allowed: UInt64(limit)) }
        guard count <= left / minimum else { throw Self.early }
        return count
    }

    /// A length and that many bytes; nil for a length of all ones, which stands for a missing piece.
    mutating func piece(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Range<Int>? {
        let length = try uint32(in: bytes)
        return length == .max ? nil : try take(Int(length))
    }

    /// The next bytes, at most 8, as a number.
    mutating func number(_ count: Int, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> UInt64 {
        let range = try take(count)
        var number: UInt64 = 0
        for index in order == .bigEndian ? Array(range) : range.reversed() {
            number = number << 8 | UInt64(bytes[index])
        }
        return number
    }
}

extension Span<UInt8> {
    /// The bytes of a range, which are not secret.
    func array(_ range: Range<Int>) -> [UInt8] { range.map { self[$0] } }

    /// The text of a range; nil if it is not UTF-8.
    func text(_ range: Range<Int>) -> String? { extracting(range).utf8Text }
}
