internal import KeychainModel

/// Rows under a header line, as wide as needed and no wider than the terminal.
struct Table {
    /// The alignment of the cells in a column.
    enum Alignment: Sendable {
        case left
        case right
    }

    /// One column.
    struct Column: Sendable {
        let title: String
        var alignment = Alignment.left
        /// The minimum width on a narrow terminal; nil if the column is never shortened.
        var least: Int?
        /// Where even the minimum widths do not fit, columns are left out in this order; nil if this one never is.
        var yields: Int?

        /// The column as `--columns` names it.
        var name: String { title.lowercased() }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Starts without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// True when there is no row.
    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row with one text a column, which is made safe to show.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell a column")
        rows.append(cells)
    }

    /// The lines, header first, each with its line feed; columns that are empty in every row are omitted.
    ///
    /// - Parameter width: the columns of the terminal; nil for no limit.
    func lines(width: Int?) -> [String] {
        let table = StreamedTable(columns, width: width)
        for row in rows { table.measure(row) }
        return [table.header] + rows.map(table.row)
    }
}

/// A table whose rows pass twice: once to be measured, once to be printed.
///
/// It holds widths, never rows.
final class StreamedTable {
    private let columns: [Table.Column]
    private let limit: Int?
    /// The positions of the columns that were asked for, in their order; nil for all that are not empty.
    private let chosen: [Int]?
    /// The positions of the columns by which rows are sorted, the first one first.
    private let order: [Int]
    /// Those by which rows are sorted where nothing was asked for; rows without any of them come last.
    private let usualOrder: [Int]
    private var held: [[String]] = []
    private var widths: [Int]
    private var measured = 0
    private var isFitted = false
    /// The titles of columns that the terminal has no room for, from left to right; complete after the first line.
    private(set) var leftOut: [String] = []

    /// - Parameters:
    ///   - width: the columns of the terminal; nil cuts nothing.
    ///   - chosen: the names of the columns to show, in this order, which are then never left out; nil for all.
    ///   - order: the names of the columns to sort by; rows are then held, and come from `sortedRows`.
    ///   - usualOrder: the names of those to sort by without `order`, if there are no more than `usualLimit` rows.
    init(
        _ columns: [Table.Column], width: Int?, chosen: [String]? = nil, order: [String] = [], usualOrder: [String] = []
    ) {
        self.columns = columns
        func positions(_ names: [String]) -> [Int] {
            names.compactMap { name in columns.firstIndex { $0.name == name } }
        }
        self.order = positions(order)
        self.usualOrder = positions(usualOrder)
        limit = width
        self.chosen = chosen?.map { name in
            guard let position = columns.firstIndex(where: { $0.name == name }) else {
                preconditionFailure("a chosen column is one of the table")
            }
            return position
        }
        widths = columns.map { _ in 0 }
    }

    /// Rows that are sorted without being asked for: held, they take some 1 KiB each.
    static let usualLimit = 20_000

    /// True when rows are to be held until all are there; not before all of them are measured.
    var isSorted: Bool { !order.isEmpty || !usualOrder.isEmpty && measured <= Self.usualLimit }

    /// True when the rows are too many to be sorted without being asked for.
    var isTooLongToSort: Bool { !isSorted && !usualOrder.isEmpty }

    /// Holds a row that was measured.
    func hold(_ cells: [String]) {
        held.append(cells)
    }

    /// The lines of the rows that were held, sorted; equal ones stay in their order.
    func sortedRows() -> [String] {
        let keys = held.map { cells in (order.isEmpty ? usualOrder : order).map { cells[$0].lowercased() } }
        let nameless = order.isEmpty ? keys.map { $0.allSatisfy(\.isEmpty) } : keys.map { _ in false }
        defer { held = [] }
        let sorted = held.indices.sorted { left, right in
            if nameless[left] != nameless[right] { return nameless[right] }
            for (one, other) in zip(keys[left], keys[right]) where one != other {
                if let one = Int(one), let other = Int(other) { return one < other }
                return one < other
            }
            return left < right
        }
        return sorted.map { row(held[$0]) }
    }

    /// Takes a row into account; not to be called once a line was made.
    func measure(_ cells: [String]) {
        measured += 1
        for (column, cell) in cells.enumerated() where !cell.isEmpty {
            widths[column] = max(widths[column], displayWidth(Self.shown(cell)))
        }
    }

    /// The header line.
    var header: String {
        fit()
        return line(columns.map(\.title))
    }

    /// The line of a row.
    func row(_ cells: [String]) -> String {
        fit()
        return line(cells.map(Self.shown))
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
            } else if widths[column] == 0 {
                continue
            }
            widths[column] = max(widths[column], displayWidth(columns[column].title))
        }
        guard let limit else { return }
        if chosen == nil { leaveOut(to: limit) }
        shrink(to: limit)
    }

    /// Leaves columns out, one by one, until the minimum widths of the others fit or no other yields.
    private func leaveOut(to limit: Int) {
        var without: [Int] = []
        while total(of: widths.indices.map { min(widths[$0], columns[$0].least ?? .max) }) > limit {
            let candidates = widths.indices.filter { widths[$0] > 0 && columns[$0].yields != nil }
            guard let next = candidates.min(by: { columns[$0].yields ?? 0 < columns[$1].yields ?? 0 }) else { break }
            widths[next] = 0
            without.append(next)
        }
        leftOut = without.sorted().map { columns[$0].title }
    }

    /// The length of a line whose columns have these widths.
    private func total(of widths: [Int]) -> Int {
        widths.reduce(0, +) + gap.count * max(0, widths.count { $0 > 0 } - 1)
    }

    /// A cell as printed: escaped and truncated.
    private static func shown(_ cell: String) -> String {
        displayed(cell, limit: cellLimit)
    }

    /// One line with its line feed; columns in which no row has anything are left out.
    private func line(_ cells: [String]) -> String {
        var line = ""
        for column in chosen ?? Array(widths.indices) where widths[column] > 0 {
            let width = widths[column]
            let text = fitted(cells[column], to: width)
            let padding = String(repeating: " ", count: max(0, width - displayWidth(text)))
            if !line.isEmpty { line += gap }
            line += columns[column].alignment == .left ? text + padding : padding + text
        }
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    /// Takes columns from the widest of those that may be cut, one by one, until all fit or none can give.
    private func shrink(to limit: Int) {
        while total(of: widths) > limit {
            let givers = widths.indices.filter { widths[$0] > columns[$0].least ?? .max }
            guard let widest = givers.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }
}

/// Between two columns.
private let gap = "  "
/// Characters of one cell: longer texts are useless in a table.
private let cellLimit = 120
