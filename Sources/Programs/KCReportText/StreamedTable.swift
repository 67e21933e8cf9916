internal import KCByteStreams
internal import KCKeychainModel

/// A table whose rows are passed twice: once for measuring, once for printing.
///
/// The table keeps only widths, unless rows are to be sorted.
package final class StreamedTable {
    private let columns: [Table.Column]
    private let limit: Int?
    /// The positions of the requested columns, in their order; nil for all that are not empty.
    private let chosen: [Int]?
    private let isWide: Bool
    /// The positions of the columns to sort by, most significant first.
    private let order: [Int]
    /// The positions of the columns to sort by if no order was requested; rows in which all of them are empty come
    /// last.
    private let usualOrder: [Int]
    private var held: HeldRows
    private let heldLimit: Int
    /// True if the rows were more than are held without a requested order.
    private var isTooLong = false
    /// The columns of a line, from left to right; complete once the table is fitted.
    private var shownColumns: [Int] = []
    private var widths: [Int]
    private var measured = 0
    /// The columns that add nothing to the column they repeat, with the position of that one.
    private var repeating: [Int: Int] = [:]
    /// The columns that may repeat another one, with the position of that one.
    private var named: [Int: Int] = [:]
    /// The columns that are the only name of a row.
    private var naming: Set<Int> = []
    private var firstRow: TableRow?
    /// The columns that yield if they are equal in all rows, and so far are, with those that must name each row then.
    private var equal: [(column: Int, standIn: Int?)] = []
    private var isFitted = false
    /// The titles of columns left out for lack of space, from left to right; complete after the first line.
    package private(set) var leftOut: [String] = []

    /// - Parameters:
    ///   - width: the width of the terminal in columns; nil to cut nothing.
    ///   - isWide: true to show the columns for wide tables too.
    ///   - chosen: the names of the columns to show, in this order, which are then never left out; nil for all.
    ///   - order: the names of the columns to sort by; all rows must then be in memory.
    ///   - usualOrder: the names of the columns to sort by without `order`, if the rows take at most `heldLimit` bytes.
    ///   - heldLimit: the size of the rows that are held for that, in bytes.
    package init(
        _ columns: [Table.Column], width: Int?, isWide: Bool = false, chosen: [String]? = nil, order: [String] = [],
        usualOrder: [String] = [], heldLimit: Int = 24 << 20
    ) {
        self.columns = columns
        self.heldLimit = heldLimit
        held = HeldRows(columns: columns.count)
        func positions(_ names: [String]) -> [Int] {
            names.compactMap { name in columns.firstIndex { $0.name == name } }
        }
        self.order = positions(order)
        self.usualOrder = positions(usualOrder)
        limit = width
        self.isWide = isWide
        self.chosen = chosen?.map { name in
            guard let position = columns.firstIndex(where: { $0.name == name }) else {
                preconditionFailure("a chosen column is one of the table")
            }
            return position
        }
        widths = columns.map { _ in 0 }
        func position(_ title: String?) -> Int? { title.flatMap { title in columns.firstIndex { $0.title == title } } }
        for (column, properties) in columns.enumerated() where width != nil && chosen == nil {
            repeating[column] = position(properties.repeats)
            if properties.yieldsIfEqual != nil { equal.append((column, position(properties.standIn))) }
        }
        named = repeating
    }

    /// True if rows must be held for sorting; valid only after all rows have been measured.
    package var isSorted: Bool { !order.isEmpty || !usualOrder.isEmpty && !isTooLong }

    /// True if there are too many rows to sort by default.
    package var isTooLongToSort: Bool { !isSorted && !usualOrder.isEmpty }

    /// Measures a row, and holds it as long as the rows may have to be sorted.
    ///
    /// If `isSorted` after the last row, `forEachSortedRow` has them all.
    package func survey(_ row: TableRow) {
        measure(row)
        guard isSorted else { return }
        held.append(row)
        if order.isEmpty, held.size > heldLimit {
            isTooLong = true
            held = HeldRows(columns: columns.count)
        }
    }

    /// Returns the lines of rows that were measured, in the requested order.
    package func rows(_ rows: [[String]]) -> [String] { self.rows(rows.map { TableRow($0) }) }

    /// Returns the lines of rows that were measured, in the requested order.
    package func rows(_ rows: [TableRow]) -> [String] {
        guard isSorted else {
            fit()
            return rows.map { line($0) }
        }
        held = HeldRows(columns: columns.count)
        for row in rows { held.append(row) }
        var lines: [String] = []
        forEachSortedRow { line in lines.append(String(decoding: [UInt8](copying: line), as: UTF8.self)) }
        return lines
    }

    /// Calls `body` with the lines of the held rows, sorted; the sort is stable.
    package func forEachSortedRow<Failure: Error>(
        _ body: (borrowing Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        defer { held = HeldRows(columns: columns.count) }
        let sorted = TableOrder(columns: order.isEmpty ? usualOrder : order, putsNamelessLast: order.isEmpty)
            .sorted(held, columns)
        var row = TableRow()
        var line: [UInt8] = []
        for index in sorted {
            held.read(index, into: &row)
            line.removeAll(keepingCapacity: true)
            append(row, to: &line)
            try body(line.span)
        }
    }

    /// Measures a row; must not be called after the first line was returned.
    package func measure(_ cells: [String]) { measure(TableRow(cells)) }

    /// Measures a row; must not be called after the first line was returned.
    package func measure(_ row: TableRow) {
        precondition(row.count == columns.count, "a row has one cell a column")
        measured += 1
        for (column, other) in repeating where !row.isEmpty(column) && !row.areEqual(column, other) {
            repeating[column] = nil
        }
        for (column, other) in named where !row.isEmpty(column) && row.isEmpty(other) { naming.insert(column) }
        compareWithFirst(row)
        for column in widths.indices where !row.isEmpty(column) {
            // Where nothing is cut, one long cell must not make all rows as long.
            let width =
                row.withCell(column) { $0.isPlainASCII ? $0.count : nil } ?? displayWidth(shown(row.text(column)))
            widths[column] = max(widths[column], min(width, cellLimit))
        }
    }

    private func compareWithFirst(_ row: TableRow) {
        if equal.isEmpty { return }
        let first = firstRow ?? row
        if firstRow == nil { firstRow = row }
        equal.removeAll { column, standIn in
            !row.hasSame(column, as: first) || standIn.map { row.isEmpty($0) } == true
        }
    }

    /// The order in which a column is left out, after all rows were measured; nil if it never is.
    private func rank(_ column: Int) -> Int? {
        // A single row is equal to itself.
        if measured > 1, equal.contains(where: { $0.column == column }) { return columns[column].yieldsIfEqual }
        return columns[column].yields
    }

    package var header: String {
        fit()
        return line(TableRow(columns.map(\.heading)))
    }

    /// Returns the line for a row.
    package func row(_ cells: [String]) -> String {
        fit()
        return line(TableRow(cells))
    }

    /// Appends the line for a row.
    package func append(_ row: TableRow, to output: inout [UInt8]) {
        fit()
        appendLine(row, to: &output)
    }

    private func fit() {
        if isFitted { return }
        isFitted = true
        for column in widths.indices {
            if let chosen {
                guard chosen.contains(column) else {
                    widths[column] = 0
                    continue
                }
            } else if columns[column].isForWide, !isWide {
                widths[column] = 0
                continue
            } else if widths[column] == 0 {
                continue
            }
            widths[column] = max(widths[column], displayWidth(columns[column].heading))
        }
        if let limit {
            for column in repeating.keys { widths[column] = 0 }
            if chosen == nil { leaveOut(to: limit) }
            shrink(to: limit)
        }
        shownColumns = (chosen ?? Array(widths.indices)).filter { widths[$0] > 0 }
    }

    /// Leaves out columns, one by one, until the minimum widths of the others fit or no more columns can be left out.
    private func leaveOut(to limit: Int) {
        var without: [Int] = []
        while total(of: widths.indices.map { min(widths[$0], columns[$0].least ?? .max) }) > limit {
            // A row without a name says nothing, so its name goes only if nothing else helps.
            let candidates = widths.indices.filter {
                widths[$0] > 0 && rank($0) != nil && (!naming.contains($0) || !fitsAtFewest(limit))
            }
            guard let next = candidates.min(by: { rank($0) ?? 0 < rank($1) ?? 0 }) else { break }
            widths[next] = 0
            without.append(next)
            for (column, other) in named where other == next { naming.insert(column) }
        }
        leftOut = without.sorted().map { columns[$0].title }
    }

    /// True if the columns that are left fit at their smallest widths.
    private func fitsAtFewest(_ limit: Int) -> Bool {
        total(of: widths.indices.map { min(widths[$0], columns[$0].fewest ?? columns[$0].least ?? .max) }) <= limit
    }

    /// Returns the length of a line with these column widths.
    private func total(of widths: [Int]) -> Int {
        widths.reduce(0, +) + gap.count * max(0, widths.count { $0 > 0 } - 1)
    }

    /// Returns a cell as printed: escaped, and on a terminal truncated.
    private func shown(_ cell: String) -> String {
        displayed(cell, limit: limit == nil ? .max : cellLimit)
    }

    private func line(_ row: TableRow) -> String {
        var line: [UInt8] = []
        appendLine(row, to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    /// Appends one line with its line feed, and below it the cells that must be whole and do not fit; columns that are
    /// empty in every row are left out.
    private func appendLine(_ row: TableRow, to output: inout [UInt8]) {
        let start = output.count
        var below: [String] = []
        var isFirst = true
        for column in shownColumns {
            if !isFirst { output.append(utf8: gap) }
            isFirst = false
            let width = widths[column]
            let isLeft = columns[column].alignment == .left
            let isPlain = row.withCell(column) { cell in
                guard cell.isPlainASCII, limit == nil || cell.count <= min(width, cellLimit) else { return false }
                if !isLeft { Self.pad(width - cell.count, to: &output) }
                output.append(cell)
                if isLeft { Self.pad(width - cell.count, to: &output) }
                return true
            }
            if isPlain { continue }
            let text = limit == nil ? shown(row.text(column)) : cut(row.text(column), column, &below)
            if !isLeft { Self.pad(width - displayWidth(text), to: &output) }
            output.append(utf8: text)
            if isLeft { Self.pad(width - displayWidth(text), to: &output) }
        }
        while output.count > start, output[output.count - 1] == UInt8(ascii: " ") { output.removeLast() }
        output.append(UInt8(ascii: "\n"))
        for cell in below { output.append(utf8: wrapped("  \(cell)\n", to: max(20, limit ?? .max))) }
    }

    /// Returns a cell as it fits its column; adds it to `below` if it must be whole and does not fit.
    private func cut(_ cell: String, _ column: Int, _ below: inout [String]) -> String {
        if columns[column].isWhole {
            let whole = displayed(cell, limit: .max)
            if displayWidth(whole) <= widths[column] { return whole }
            below.append(whole)
            return "…"
        }
        return fitted(shown(cell), to: widths[column])
    }

    private static func pad(_ count: Int, to output: inout [UInt8]) {
        if count > 0 { output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count)) }
    }

    /// Narrows the widest column that may be cut, one step at a time, until all columns fit or none can be cut further.
    private func shrink(to limit: Int) {
        // A cut cell of an `isWhole` column is kept below its row, unlike the middle of a name.
        shrink(to: limit, minimum: columns.map { $0.isWhole ? $0.least ?? .max : .max })
        shrink(to: limit, minimum: columns.map { $0.least ?? .max })
        shrink(to: limit, minimum: columns.map { $0.fewest ?? $0.least ?? .max })
    }

    private func shrink(to limit: Int, minimum: [Int]) {
        while total(of: widths) > limit {
            let givers = widths.indices.filter { widths[$0] > minimum[$0] }
            guard let widest = givers.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }
}

/// The gap between two columns.
private let gap = "  "
/// The maximum number of characters in a cell on a terminal, and of columns to which cells are padded elsewhere; longer
/// texts are useless on a screen.
private let cellLimit = 120
