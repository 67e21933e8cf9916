internal import KCByteStreams
internal import KCItemSources

/// The tables of a macOS keychain file, without interpretation of their content.
///
/// All ranges are positions in the file, and have been checked.
///
/// Source: Apple's libsecurity_filedb, `AppleDatabase` and `MetaRecord`.
struct KychFile {
    static let magic = Array("kych".utf8)

    struct Record {
        let table: UInt32
        let number: UInt32
        let data: Range<Int>
        /// The attributes that have a value, by their names or four-character codes.
        let values: [ExactText: Value]
    }

    enum Value {
        /// Text, a number of any length, or bytes; the file does not say which.
        case bytes(Range<Int>)
        case number(Int64)
        /// `YYYYMMDDhhmmssZ` and a NUL.
        case time(Range<Int>)
        /// A list of numbers, or a floating-point number; no attribute of an item is one.
        case other
    }

    enum Limit {
        /// Tables; macOS creates fifteen.
        static let tables = 1_000
        /// Attributes of a table; macOS has at most thirty.
        static let attributes = 1_000
        /// Values of one attribute; a file with more is damaged.
        static let values = 1_024
    }

    /// The records by table ID, in file order.
    private(set) var records: [UInt32: [Record]] = [:]

    private struct Attribute {
        let name: String
        let format: UInt32
    }

    private static let attributesTable: UInt32 = 2
    private static let headerLength = 20
    private static let recordHeaderLength = 24

    init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var header = ByteCursor(0..<bytes.count)
        _ = try header.take(4)
        guard try header.uint32(in: bytes) == 0x0001_0000 else {
            throw .unknownVariant("a version other than 1.0")
        }
        _ = try header.uint32(in: bytes)
        let schema = Int(try header.uint32(in: bytes))
        // The tables are followed by a count of the changes to the file.
        guard schema >= Self.headerLength, schema <= bytes.count - 12 else { throw .damaged("it has no tables") }
        var cursor = ByteCursor(schema..<bytes.count - 4)
        let size = Int(try cursor.uint32(in: bytes))
        guard size >= 8, size <= bytes.count - 4 - schema else { throw .damaged("it ends within its tables") }
        let whole = schema..<schema + size
        let count = try cursor.count(ofAtLeast: 4, "tables", limit: Limit.tables, in: bytes)
        var tables: [UInt32: Range<Int>] = [:]
        for _ in 0..<count {
            let table = try Self.table(at: try cursor.uint32(in: bytes), in: whole, bytes)
            guard tables.updateValue(table.range, forKey: table.id) == nil else {
                throw .damaged("a table occurs twice")
            }
        }
        guard let described = tables[Self.attributesTable] else { throw .damaged("it does not describe its tables") }
        let attributes = try Self.attributes(in: described, bytes)
        // The first four tables describe the others.
        for (id, range) in tables where id > 3 {
            records[id] = try Self.records(of: id, attributes[id] ?? [], in: range, bytes)
        }
    }

    private static func table(
        at offset: UInt32, in whole: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (id: UInt32, range: Range<Int>) {
        guard Int(offset) < whole.count else { throw outside }
        var cursor = ByteCursor(whole.lowerBound + Int(offset)..<whole.upperBound)
        let start = cursor.position
        let size = Int(try cursor.uint32(in: bytes))
        let id = try cursor.uint32(in: bytes)
        guard size >= 28, size <= whole.upperBound - start else { throw outside }
        return (id, start..<start + size)
    }

    /// The attributes of all tables, as listed in table 2.
    ///
    /// Table 2 lists its own attributes too, but they must be known to read it.
    private static func attributes(
        in table: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> [UInt32: [Attribute]] {
        let own = [("relation", 2), ("id", 2), ("form", 2), ("name", 0), ("oid", 6), ("format", 2)]
            .map { Attribute(name: $0.0, format: $0.1) }
        var attributes: [UInt32: [Attribute]] = [:]
        for record in try records(of: attributesTable, own, in: table, bytes) {
            guard case .number(let relation)? = record.values["relation"], case .number(let id)? = record.values["id"],
                case .number(let format)? = record.values["format"], (0...7).contains(format)
            else { throw .damaged("its description of a table is incomplete") }
            var name = String(decoding: fourCharacters(UInt32(truncatingIfNeeded: id)), as: UTF8.self)
            if case .bytes(let range)? = record.values["name"], let text = bytes.text(range) { name = text }
            attributes[UInt32(truncatingIfNeeded: relation), default: []].append(
                Attribute(name: name, format: UInt32(format)))
        }
        for list in attributes.values where list.count > Limit.attributes {
            throw .limit("attributes of a table", found: UInt64(list.count), allowed: UInt64(Limit.attributes))
        }
        return attributes
    }

    private static func fourCharacters(_ code: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: code >> $0) }
    }

    private static func records(
        of id: UInt32, _ attributes: [Attribute], in table: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> [Record] {
        var cursor = ByteCursor(table)
        _ = try cursor.take(8)
        let live = Int(try cursor.uint32(in: bytes))
        // Where records and indexes begin, and the first free slot.
        _ = try cursor.take(12)
        let slots = Int(try cursor.uint32(in: bytes))
        guard slots <= cursor.left / 4 else { throw outside }
        var records: [Record] = []
        var places: Set<UInt32> = []
        for _ in 0..<slots {
            let slot = try cursor.uint32(in: bytes)
            if slot == 0 || slot & 1 == 1 { continue }
            guard places.insert(slot).inserted, Int(slot) < table.count else { throw outside }
            records.append(
                try record(of: id, attributes, in: table.lowerBound + Int(slot)..<table.upperBound, bytes))
        }
        guard records.count == live else {
            throw .damaged("a table does not have the number of records that it declares")
        }
        return records
    }

    private static func record(
        of id: UInt32, _ attributes: [Attribute], in room: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Record {
        var cursor = ByteCursor(room)
        let size = Int(try cursor.uint32(in: bytes))
        guard size >= recordHeaderLength + 4 * attributes.count, size <= room.count else { throw outside }
        let whole = room.lowerBound..<room.lowerBound + size
        let number = try cursor.uint32(in: bytes)
        _ = try cursor.take(8)
        let dataSize = Int(try cursor.uint32(in: bytes))
        _ = try cursor.take(4)
        var values: [ExactText: Value] = [:]
        for attribute in attributes {
            let offset = Int(try cursor.uint32(in: bytes))
            if offset == 0 { continue }
            values[attribute.name.exact] = try value(at: offset, attribute.format, in: whole, bytes)
        }
        guard dataSize <= whole.upperBound - cursor.position else { throw outside }
        return Record(
            table: id, number: number, data: cursor.position..<cursor.position + dataSize, values: values)
    }

    /// The value at an offset, or the first of several; nil if there is none.
    private static func value(
        at offset: Int, _ format: UInt32, in record: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Value? {
        // An odd offset, minus 1, is that of a single value; an even one is that of a count, which the values follow.
        let start = offset & 1 == 1 ? offset - 1 : offset
        guard start < record.count else { throw outside }
        var cursor = ByteCursor(record.lowerBound + start..<record.upperBound)
        if offset & 1 == 0 {
            let count = try cursor.count(ofAtLeast: 4, "values of an attribute", limit: Limit.values, in: bytes)
            if count == 0 { return nil }
        }
        switch format {
        case 0, 3, 6:
            let length = Int(try cursor.uint32(in: bytes))
            return .bytes(try cursor.take(length))
        case 1: return .number(Int64(Int32(bitPattern: try cursor.uint32(in: bytes))))
        case 2: return .number(Int64(try cursor.uint32(in: bytes)))
        case 5: return .time(try cursor.take(16))
        default: return .other
        }
    }

    private static let outside = ForeignFailure.damaged("a part of a table lies outside it")
}
