internal import KeychainModel

/// Rows under a header line, as wide as needed and no wider than the terminal.
struct Table {
    /// How the cells of a column stand.
    enum Alignment: Sendable {
        case left
        case right
    }

    /// One column.
    struct Column: Sendable {
        let title: String
        var alignment = Alignment.left
        /// The columns to which it may be cut on a narrow terminal; nil when it is never cut.
        var least: Int?
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Starts without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// True when there is no row.
    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row with one text a column, made safe to show.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell a column")
        rows.append(cells.map(Self.shown))
    }

    /// The lines, the header first, each with its line feed; columns in which no row has anything are left out.
    ///
    /// - Parameter width: the columns of the terminal; nil cuts nothing.
    func lines(width: Int?) -> [String] {
        let used = columns.indices.filter { column in rows.contains { !$0[column].isEmpty } }
        var widths = used.map { column in
            max(displayWidth(self.columns[column].title), rows.map { displayWidth($0[column]) }.max() ?? 0)
        }
        let columns = used.map { self.columns[$0] }
        if let width { Self.shrink(&widths, columns, to: width) }
        return ([columns.map(\.title)] + rows.map { row in used.map { row[$0] } }).map { cells in
            Self.line(cells.indices.map { (cells[$0], widths[$0], columns[$0].alignment) })
        }
    }

    /// A cell as it is shown: harmless, and no longer than tells anything in a table.
    static func shown(_ cell: String) -> String {
        displayed(cell, limit: cellLimit)
    }

    /// One line with its line feed.
    static func line(_ cells: [(text: String, width: Int, alignment: Alignment)]) -> String {
        var line = ""
        for (position, cell) in cells.enumerated() {
            let text = fitted(cell.text, to: cell.width)
            let padding = String(repeating: " ", count: max(0, cell.width - displayWidth(text)))
            if position > 0 { line += gap }
            line += cell.alignment == .left ? text + padding : padding + text
        }
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    /// Takes columns from the widest of those that may be cut, one by one, until all fit or none can give.
    static func shrink(_ widths: inout [Int], _ columns: [Column], to limit: Int) {
        while widths.reduce(0, +) + gap.count * max(0, widths.filter { $0 > 0 }.count - 1) > limit {
            let givers = widths.indices.filter { widths[$0] > columns[$0].least ?? .max }
            guard let widest = givers.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }
}

/// Between two columns.
private let gap = "  "
/// Characters of one cell: longer texts tell nothing in a table.
private let cellLimit = 120
