internal import KCByteStreams

/// The values of the parameters of one run of a statement, one behind the other: SQLite would allocate a copy of each.
struct SQLParameters: ~Copyable {
    enum Value {
        case number(Int64, index: Int)
        case bytes(Range<Int>, index: Int)
        /// UTF-8 that is not empty.
        case text(Range<Int>, index: Int)
    }

    private var bytes: [UInt8] = []
    private var values: [Value] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }

    // Parameters count from 1; each has one value at most.

    mutating func append(_ number: Int64, _ index: Int) { values.append(.number(number, index: index)) }

    mutating func append(_ value: borrowing Span<UInt8>, _ index: Int) {
        values.append(.bytes(add(value), index: index))
    }

    /// Adds text that is stored as TEXT and is not empty.
    mutating func append(text: borrowing Span<UInt8>, _ index: Int) {
        precondition(!text.isEmpty, "an absent text is NULL")
        values.append(.text(add(text), index: index))
    }

    /// Passes the bytes of all values, and the values, to `body`.
    func withValues<E: Error>(
        _ body: (borrowing Span<UInt8>, [Value]) throws(E) -> Void
    ) throws(E) { try body(bytes.span, values) }

    private mutating func add(_ value: borrowing Span<UInt8>) -> Range<Int> {
        bytes.append(value)
        return bytes.count - value.count..<bytes.count
    }
}
