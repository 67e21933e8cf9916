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
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Starts without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// True when there is no row.
    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row with one escaped text per column.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell a column")
        rows.append(cells.map(Self.shown))
    }

    /// The lines, header first, each with its line feed; columns that are empty in every row are omitted.
    ///
    /// - Parameter width: the columns of the terminal; nil for no limit.
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

    /// A cell as printed: escaped and truncated.
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

    /// Shortens the widest of the columns that may be shortened, one by one, until all fit or none can be shortened.
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
/// Characters of one cell: longer texts are useless in a table.
private let cellLimit = 120
