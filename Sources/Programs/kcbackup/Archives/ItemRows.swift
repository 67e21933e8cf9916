internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText

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
        lines += above.map { $0 + "\n" }
        for item in items { table.measure(ItemColumns.cells(item, session.calendar)) }
        if !items.isEmpty { lines += ["\n", table.header] }
        for item in items {
            if table.isSorted {
                table.hold(ItemColumns.cells(item, session.calendar))
            } else {
                lines.append(table.row(ItemColumns.cells(item, session.calendar)))
            }
        }
        lines += table.sortedRows()
        if !items.isEmpty, !table.leftOut.isEmpty { lines.append("\n\(ItemColumns.left(out: table))\n") }
        if filter != nil { lines.append("\n\(counted(items.count, "item")) shown\n") }
        return lines
    }
}
