/// Rows below a header line, as wide as needed but no wider than the terminal.
package struct Table {
    /// The alignment of the cells in a column.
    package enum Alignment: Sendable {
        case left
        case right
    }

    package struct Column: Sendable {
        package let title: String
        package var alignment: Alignment
        /// The width to which the column is cut before columns are left out; nil if it is never cut.
        package var least: Int?
        /// The width to which it is cut if that does not suffice; nil for `least`.
        package var fewest: Int?
        /// True if a cell that would be cut is printed in full below its row, as sentences must be.
        package var isWhole: Bool
        /// The order in which columns are left out if even the minimum widths do not fit; nil if this column never is.
        package var yields: Int?
        /// The same, if all rows have the same cell in it; nil for `yields`.
        package var yieldsIfEqual: Int?
        /// The title of a column; `yieldsIfEqual` counts only if this one has a cell in every row, to name it.
        package var standIn: String?
        /// The title of a column; on a terminal, this one is left out if it adds nothing to it in any row.
        package var repeats: String?
        /// The zone of the times in the column.
        package var zone: String?
        /// True if it is shown only in a table of all columns, or if it is chosen.
        package var isForWide: Bool

        /// Creates a column; the properties describe the parameters.
        package init(
            title: String, alignment: Alignment = .left, least: Int? = nil, fewest: Int? = nil, isWhole: Bool = false,
            yields: Int? = nil, yieldsIfEqual: Int? = nil, standIn: String? = nil, repeats: String? = nil,
            zone: String? = nil, isForWide: Bool = false
        ) {
            self.title = title
            self.alignment = alignment
            self.least = least
            self.fewest = fewest
            self.isWhole = isWhole
            self.yields = yields
            self.yieldsIfEqual = yieldsIfEqual
            self.standIn = standIn
            self.repeats = repeats
            self.zone = zone
            self.isForWide = isForWide
        }

        /// The name of the column for `--columns`.
        package var name: String { title.lowercased() }

        /// The text above the column.
        package var heading: String { zone.map { "\(title) (\($0))" } ?? title }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Creates a table without rows.
    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// True if there are no rows.
    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a row with one cell for each column; cells are escaped for display.
    package mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell a column")
        rows.append(cells)
    }

    /// Returns the lines, header first, each with its line feed; columns that are empty in every row are left out.
    ///
    /// A last line names the columns for which the terminal is too narrow.
    ///
    /// - Parameter width: the width of the terminal in columns; nil to cut nothing.
    package func lines(width: Int?) -> [String] {
        let table = StreamedTable(columns, width: width)
        for row in rows { table.measure(row) }
        let lines = [table.header] + rows.map { table.row($0) }
        guard let width, !table.leftOut.isEmpty else { return lines }
        let note = "a wider terminal shows \(table.leftOut.joined(separator: ", ")) too\n"
        return lines + [wrapped(note, to: max(20, width))]
    }
}
