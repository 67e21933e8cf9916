internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// A table of items that are all in memory, below lines about where they come from.
struct ItemRows {
    let filter: ItemFilter?
    let table: StreamedTable
    let session: Session

    /// Returns the lines to print; none but a separator if the result is JSON.
    ///
    /// - Parameters:
    ///   - above: what is said above the table.
    ///   - isFirst: false if something else was printed before.
    func lines(_ items: [Item], above: [String], isFirst: Bool) -> [String] {
        var lines = isFirst ? [] : ["\n"]
        if session.style.isJSON { return lines }
        lines += session.prose(above.map { $0 + "\n" })
        let rows = items.map { item in
            var row = TableRow()
            ItemColumns.write(item, session.calendar, to: &row)
            return row
        }
        for row in rows { table.measure(row) }
        if !items.isEmpty { lines += ["\n", table.header] }
        lines += table.rows(rows)
        if !items.isEmpty, !table.leftOut.isEmpty { lines += session.prose(["\n\(ItemColumns.left(out: table))\n"]) }
        if filter != nil { lines.append("\n\(counted(items.count, "item")) shown\n") }
        return lines
    }
}
