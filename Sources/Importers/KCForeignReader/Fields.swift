internal import KCByteStreams

/// Writes the fields of a frame: bytes and text behind a size of four bytes, numbers in eight, the highest first.
struct FieldWriter: ~Copyable {
    private(set) var bytes = SecretBytes(capacity: 1_024)

    mutating func add(_ text: String) { add(text.utf8.span) }

    mutating func add(_ span: borrowing Span<UInt8>) {
        add(UInt64(span.count), size: 4)
        bytes.append(span)
    }

    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number), size: 8) }

    mutating func add(_ number: Int) { add(Int64(number)) }

    mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }

    /// Adds a list behind the number of its elements.
    mutating func add<Element>(_ list: [Element], _ body: (inout FieldWriter, Element) -> Void) {
        add(list.count)
        for element in list { body(&self, element) }
    }

    private mutating func add(_ number: UInt64, size: Int) {
        for index in 1...size { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * (size - index)))) }
    }
}

/// Reads fields that a stranger may have written.
struct FieldReader {
    private var position = 0

    /// The other side sent fields that are not what they have to be.
    struct Breach: Error, Hashable {
        let rule: String

        init(_ rule: String) { self.rule = rule }
    }

    /// The place of bytes.
    mutating func data(in bytes: borrowing Span<UInt8>) throws(Breach) -> Range<Int> {
        let size = try number(size: 4, in: bytes)
        guard size <= UInt64(bytes.count - position) else { throw Breach("a field is longer than its frame") }
        position += Int(size)
        return position - Int(size)..<position
    }

    mutating func text(in bytes: borrowing Span<UInt8>) throws(Breach) -> String {
        let range = try data(in: bytes)
        guard let text = String(validating: [UInt8](copying: bytes.extracting(range)), as: UTF8.self) else {
            throw Breach("a text is not UTF-8")
        }
        return text
    }

    mutating func number(in bytes: borrowing Span<UInt8>) throws(Breach) -> Int64 {
        Int64(bitPattern: try number(size: 8, in: bytes))
    }

    /// A number that is not negative.
    mutating func count(in bytes: borrowing Span<UInt8>) throws(Breach) -> Int {
        let number = try number(in: bytes)
        guard number >= 0 else { throw Breach("a number is negative") }
        return Int(number)
    }

    mutating func flag(in bytes: borrowing Span<UInt8>) throws(Breach) -> Bool {
        switch try number(in: bytes) {
        case 0: false
        case 1: true
        default: throw Breach("a flag is neither 0 nor 1")
        }
    }

    /// Reads a list; its memory grows with what is there, and not with the number that it claims to have.
    mutating func list<Element>(
        in bytes: borrowing Span<UInt8>,
        _ body: (inout FieldReader, borrowing Span<UInt8>) throws(Breach) -> Element
    ) throws(Breach) -> [Element] {
        let count = try count(in: bytes)
        // Each element has a field of four bytes at least.
        guard count <= bytes.count / 4 else { throw Breach("a list is longer than its frame") }
        var list: [Element] = []
        for _ in 0..<count { list.append(try body(&self, bytes)) }
        return list
    }

    func end(in bytes: borrowing Span<UInt8>) throws(Breach) {
        guard position == bytes.count else { throw Breach("a frame has more fields than are known") }
    }

    private mutating func number(size: Int, in bytes: borrowing Span<UInt8>) throws(Breach) -> UInt64 {
        guard bytes.count - position >= size else { throw Breach("a frame ends within a field") }
        var number: UInt64 = 0
        for index in position..<position + size { number = number << 8 | UInt64(bytes[index]) }
        position += size
        return number
    }
}
