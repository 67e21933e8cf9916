internal import KCByteStreams

/// The sort key of a cell; sizes and numbers come before other text.
enum SortKey: Comparable {
    case number(UInt64)
    case text(String)

    init(_ cell: String, of column: Table.Column) {
        let size = column.alignment == .right ? bytes(ofCount: cell) : nil
        self = (size ?? UInt64(cell)).map { .number($0) } ?? .text(cell.lowercased())
    }
}

/// The order of rows by some of their columns; it is stable.
struct TableOrder {
    /// The positions of the columns, most significant first.
    let columns: [Int]
    /// True if rows in which all of these are empty come last.
    let putsNamelessLast: Bool

    /// Returns the indices of `rows` in order.
    func sorted(_ rows: HeldRows, _ all: [Table.Column]) -> [Int] {
        var keys = PlainKeys()
        var row = TableRow()
        for index in 0..<rows.count {
            rows.read(index, into: &row)
            if !keys.append(row, by: self, all) { return sortedByText(rows, all) }
        }
        return keys.sorted()
    }

    /// Returns the same as `sorted`, for any text.
    func sortedByText(_ rows: HeldRows, _ all: [Table.Column]) -> [Int] {
        var keys: [[SortKey]] = []
        var nameless: [Bool] = []
        var row = TableRow()
        for index in 0..<rows.count {
            rows.read(index, into: &row)
            keys.append(columns.map { SortKey(row.text($0), of: all[$0]) })
            nameless.append(isNameless(row))
        }
        return keys.indices.sorted { left, right in
            if nameless[left] != nameless[right] { return nameless[right] }
            for (one, other) in zip(keys[left], keys[right]) where one != other { return one < other }
            return left < right
        }
    }

    fileprivate func isNameless(_ row: TableRow) -> Bool {
        putsNamelessLast && columns.allSatisfy { row.isEmpty($0) }
    }
}

/// The keys of rows that are all ASCII, as bytes that compare as their `SortKey`s do; comparing strings takes longer.
private struct PlainKeys {
    private var bytes: [UInt8] = []
    /// Where the key of each row ends.
    private var ends: [Int] = []

    // Below all characters of a cell, so that a text sorts before those that it begins.
    private static let end: UInt8 = 0
    private static let number: UInt8 = 1
    private static let text: UInt8 = 2

    /// Adds the key of a row; false if a cell is not plain ASCII.
    mutating func append(_ row: TableRow, by order: TableOrder, _ all: [Table.Column]) -> Bool {
        bytes.append(order.isNameless(row) ? 1 : 0)
        for column in order.columns {
            if !row.withCell(column, { $0.isPlainASCII }) { return false }
            if mayBeNumber(row, column, all[column]),
                case .number(let number) = SortKey(row.text(column), of: all[column])
            {
                bytes.append(Self.number)
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
                }
                continue
            }
            bytes.append(Self.text)
            row.withCell(column) { cell in
                for index in cell.indices {
                    let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(cell[index])
                    bytes.append(isUpper ? cell[index] | 0x20 : cell[index])
                }
            }
            bytes.append(Self.end)
        }
        ends.append(bytes.count)
        return true
    }

    private func mayBeNumber(_ row: TableRow, _ index: Int, _ column: Table.Column) -> Bool {
        if column.alignment == .right { return true }
        return row.withCell(index) { cell in
            guard let first = cell.isEmpty ? nil : cell[0] else { return false }
            return [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(first)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        }
    }

    func sorted() -> [Int] {
        func key(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }
        return ends.indices.sorted { left, right in
            let order = bytes.span.extracting(key(left)).order(with: bytes.span.extracting(key(right)))
            return order == 0 ? left < right : order < 0
        }
    }
}
