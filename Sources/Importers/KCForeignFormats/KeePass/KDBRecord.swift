internal import KCByteStreams
internal import KCItemSources

/// A group or an entry of a KeePass 1 database: its fields, by their numbers.
struct KDBRecord {
    private let fields: [UInt16: Range<Int>]

    // The field behind the last one.
    private static let end: UInt16 = 0xffff

    /// Reads the next record.
    init(_ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var fields: [UInt16: Range<Int>] = [:]
        while true {
            let type = UInt16(try cursor.number(2, in: bytes))
            let content = try cursor.take(UInt64(cursor.uint32(in: bytes)))
            if type == Self.end { break }
            // A comment, which may occur several times.
            if type == 0 { continue }
            guard fields.updateValue(content, forKey: type) == nil else { throw .damaged("a field occurs twice") }
        }
        self.fields = fields
    }

    /// The numbers of the fields that are not among `known`.
    func others(than known: ClosedRange<UInt16>) -> [UInt16] { fields.keys.filter { !known.contains($0) }.sorted() }

    func bytes(_ field: UInt16, in content: borrowing Span<UInt8>) -> SecretBytes? {
        fields[field].map { SecretBytes(content.extracting($0)) }
    }

    /// A number of 2 or 4 bytes; nil if there is none.
    func number(_ field: UInt16, in content: borrowing Span<UInt8>) throws(ForeignFailure) -> Int? {
        guard let range = fields[field] else { return nil }
        guard [2, 4].contains(range.count) else { throw .damaged("a number has the wrong size") }
        return range.reversed().reduce(0) { $0 << 8 | Int(content[$1]) }
    }

    /// A text without the zero that ends it; nil for none and for an empty one.
    func secret(_ field: UInt16, in content: borrowing Span<UInt8>) -> SecretBytes? {
        guard var range = fields[field] else { return nil }
        if let last = range.last, content[last] == 0 { range = range.lowerBound..<last }
        return range.isEmpty ? nil : SecretBytes(content.extracting(range))
    }

    /// A text that is not secret; nil for none and for an empty one.
    ///
    /// - Throws: `ForeignFailure.damaged` for anything but UTF-8.
    func text(_ field: UInt16, in content: borrowing Span<UInt8>) throws(ForeignFailure) -> String? {
        guard let bytes = secret(field, in: content) else { return nil }
        guard let text = bytes.withBytes({ $0.utf8Text }) else { throw .damaged("one of its texts is not UTF-8") }
        return text
    }
}
