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
        rows.append(cells.map { displayed($0, limit: cellLimit) })
    }

    /// The lines, the header first, each with its line feed; columns in which no row has anything are left out.
    ///
    /// - Parameter width: the columns of the terminal; nil cuts nothing.
    func lines(width: Int?) -> [String] {
        let shown = columns.indices.filter { column in rows.contains { !$0[column].isEmpty } }
        var widths = shown.map { column in
            max(displayWidth(columns[column].title), rows.map { displayWidth($0[column]) }.max() ?? 0)
        }
        if let width { shrink(&widths, shown, to: width) }
        let header = shown.map { columns[$0].title }
        return ([header] + rows.map { row in shown.map { row[$0] } }).map { cells in
            var line = ""
            for (position, cell) in cells.enumerated() {
                let text = fitted(cell, to: widths[position])
                let padding = String(repeating: " ", count: max(0, widths[position] - displayWidth(text)))
                if position > 0 { line += gap }
                line += columns[shown[position]].alignment == .left ? text + padding : padding + text
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }
    }

    /// Takes columns from the widest of those that may be cut, one by one, until all fit or none can give.
    private func shrink(_ widths: inout [Int], _ shown: [Int], to limit: Int) {
        while widths.reduce(0, +) + gap.count * max(0, widths.count - 1) > limit {
            let givers = widths.indices.filter { widths[$0] > columns[shown[$0]].least ?? .max }
            guard let widest = givers.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }
}

/// Between two columns.
private let gap = "  "
/// Characters of one cell: longer texts tell nothing in a table.
private let cellLimit = 120
