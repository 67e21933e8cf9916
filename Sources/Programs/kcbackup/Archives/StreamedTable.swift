internal import KeychainModel

/// A table whose rows pass twice: once to be measured, once to be printed.
///
/// It holds widths, never rows.
final class StreamedTable {
    private let columns: [Table.Column]
    private let limit: Int?
    private var widths: [Int]
    private var isFitted = false

    /// - Parameter width: the columns of the terminal; nil cuts nothing.
    init(_ columns: [Table.Column], width: Int?) {
        self.columns = columns
        limit = width
        widths = columns.map { _ in 0 }
    }

    /// Takes a row into account; not to be called once a line was made.
    func measure(_ cells: [String]) {
        for (column, cell) in cells.enumerated() where !cell.isEmpty {
            widths[column] = max(widths[column], displayWidth(Table.shown(cell)))
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
        return line(cells.map(Table.shown))
    }

    private func fit() {
        if isFitted { return }
        isFitted = true
        for column in widths.indices where widths[column] > 0 {
            widths[column] = max(widths[column], displayWidth(columns[column].title))
        }
        if let limit { Table.shrink(&widths, columns, to: limit) }
    }

    private func line(_ cells: [String]) -> String {
        let shown = cells.indices.filter { widths[$0] > 0 }
        return Table.line(shown.map { (cells[$0], widths[$0], columns[$0].alignment) })
    }
}
