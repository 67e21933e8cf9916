internal import KCByteStreams
internal import KCKeychainModel

/// Proves that a walk passes no row twice: the keys that the rows themselves have ascend.
///
/// If the rows are also as many as the table has, none is missing.
struct RowOrder {
    private var last: [UInt8] = []
    private var next: [UInt8] = []

    /// Passes the current row of a statement.
    ///
    /// - Throws: `damaged` if it does not come after the one before.
    mutating func pass(
        _ row: ItemRow, _ statement: SQLStatement, by order: ItemQuery.Order
    ) throws(KeychainStoreError) {
        try pass { key in
            switch order {
            case .archive: row.appendKey(statement, to: &key)
            case .insertion: key.appendSortable(row.number(statement))
            }
        }
    }

    /// Passes the key that `fill` appends.
    ///
    /// - Throws: `damaged` if it does not come after the one before.
    mutating func pass(_ fill: (inout [UInt8]) -> Void) throws(KeychainStoreError) {
        next.removeAll(keepingCapacity: true)
        fill(&next)
        guard last.lexicographicallyPrecedes(next) else { throw .indexMismatch }
        swap(&last, &next)
    }
}

extension ItemRow {
    /// The unique key of the current row, from its own columns, in bytes that sort as the index does.
    func key(_ row: SQLStatement) -> [UInt8] {
        var key: [UInt8] = []
        appendKey(row, to: &key)
        return key
    }

    /// The unique key of an item in the same form.
    func key(of item: Item) -> [UInt8] {
        var key: [UInt8] = []
        for code in itemClass.uniqueKey { key.appendSortable(item.attributes[code] ?? Item.keyDefault(code)) }
        return key
    }

    fileprivate func appendKey(_ row: SQLStatement, to key: inout [UInt8]) {
        for (column, absent) in keyColumns {
            if row.type(column) == .null {
                key.appendSortable(absent)
            } else {
                key.appendSortable(row, column)
            }
        }
    }
}

extension [UInt8] {
    // The order of SQLite: numbers, texts, blobs.
    private static let numberMark: UInt8 = 1
    private static let textMark: UInt8 = 2
    private static let blobMark: UInt8 = 3

    /// Appends a column of the current row in bytes that sort as SQLite sorts the values.
    mutating func appendSortable(_ row: SQLStatement, _ column: Int) {
        switch row.type(column) {
        case .integer: appendSortable(row.integer(column))
        // In an item, each is a blob; others sort before it.
        case let type: row.withBytes(column) { bytes in appendSortable(bytes, isBlob: type == .blob) }
        }
    }

    fileprivate mutating func appendSortable(_ value: AttributeValue) {
        switch value {
        case .number(let number): appendSortable(number)
        case .date(let date): appendSortable(date.microseconds)
        case .text(let text): appendSortable(text.utf8.span, isBlob: true)
        case .data(let bytes): appendSortable(bytes.span, isBlob: true)
        }
    }

    mutating func appendSortable(_ number: Int64) {
        append(Self.numberMark)
        let shifted = UInt64(bitPattern: number) ^ 1 << 63
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: shifted >> shift)) }
    }

    /// Appends bytes in which a zero is followed by 255, and then two zeros.
    fileprivate mutating func appendSortable(_ bytes: borrowing Span<UInt8>, isBlob: Bool) {
        append(isBlob ? Self.blobMark : Self.textMark)
        for index in bytes.indices {
            append(bytes[index])
            if bytes[index] == 0 { append(.max) }
        }
        append(0)
        append(0)
    }
}
