internal import KCByteStreams
internal import KCKeychainModel

/// A case of an enumeration on its way between two processes: a name, and the values with it.
struct Tagged: Hashable {
    let name: String
    private(set) var texts: [String] = []
    private(set) var numbers: [Int64] = []

    init(_ name: String, _ texts: [String] = [], _ numbers: [Int64] = []) {
        self.name = name
        self.texts = texts
        self.numbers = numbers
    }

    init(_ name: String, _ numbers: [Int]) { self.init(name, [], numbers.map { Int64($0) }) }

    init(_ fields: inout FieldReader, in bytes: borrowing Span<UInt8>) throws(FieldReader.Breach) {
        name = try fields.text(in: bytes)
        // Most are shown as they are, since a format writes them itself.
        texts = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            displayed(try fields.text(in: bytes))
        }
        numbers = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            try fields.number(in: bytes)
        }
    }

    func write(to fields: inout FieldWriter) {
        fields.add(name)
        fields.add(texts) { $0.add($1) }
        fields.add(numbers) { $0.add($1) }
    }

    /// The text at a place; nil if there are fewer.
    func text(_ index: Int = 0) -> String? { texts.indices.contains(index) ? texts[index] : nil }

    /// The number at a place; nil if there are fewer, or if it is not one that a size or a limit can have.
    func count(_ index: Int = 0) -> Int? {
        guard numbers.indices.contains(index), numbers[index] >= 0 else { return nil }
        return Int(numbers[index])
    }

    /// The number at a place as a code of the system.
    func code(_ index: Int = 0) -> Int32? { numbers.indices.contains(index) ? Int32(exactly: numbers[index]) : nil }

    func flag(_ index: Int = 0) -> Bool? { count(index).flatMap { [0, 1].contains($0) ? $0 == 1 : nil } }
}
