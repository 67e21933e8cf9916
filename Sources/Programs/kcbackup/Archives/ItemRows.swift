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

/// Collects the items that pass a filter, without their secrets.
struct MatchingItems: ItemVisitor {
    let filter: ItemFilter?
    private(set) var items: [Item] = []

    init(_ filter: ItemFilter?) {
        self.filter = filter
    }

    mutating func wants(_ item: Item) -> Bool {
        if filter?.matches(item) ?? true { items.append(item) }
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        preconditionFailure("no secret was wanted")
    }

    /// Does nothing: what cannot be read was reported when the source was read.
    func skip(damaged item: Item?) {}
}
