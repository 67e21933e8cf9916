internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// The list of the items in another program's file, without their secrets.
struct ForeignListing {
    let path: String
    let reading: ForeignReader.Reading
    let filter: ItemFilter?
    let table: StreamedTable
    let session: Session

    /// - Parameter isFirst: false if another file was listed before.
    func print(isFirst: Bool) throws {
        let text = ImportText(path: path, reading: reading, isResult: false, session: session)
        var visitor = ItemsVisitor(filter: filter)
        try reading.contents.items.visitItems(&visitor)
        let items = visitor.items
        text.warnOfRefused()
        var lines = isFirst ? [] : ["\n"]
        if !session.style.isJSON {
            lines += text.contentLines.map { $0 + "\n" }
            for item in items { table.measure(ItemColumns.cells(item)) }
            if !items.isEmpty { lines += ["\n", table.header] }
            for item in items {
                if table.isSorted {
                    table.hold(ItemColumns.cells(item))
                } else {
                    lines.append(table.row(ItemColumns.cells(item)))
                }
            }
            lines += table.sortedRows()
            if filter != nil { lines.append("\n\(counted(items.count, "item")) shown\n") }
        }
        try session.result(
            [
                "file": .text(path), "format": .text(reading.format.name),
                "holds": ImportText.contents(reading.contents),
                "items": .list(items.map { .item($0) }),
            ], lines)
    }
}

/// Collects the items that pass a filter.
private struct ItemsVisitor: ItemVisitor {
    let filter: ItemFilter?
    var items: [Item] = []

    mutating func wants(_ item: Item) -> Bool {
        if filter?.matches(item) ?? true { items.append(item) }
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        preconditionFailure("no secret was wanted")
    }

    func skip(damaged item: Item?) {
        preconditionFailure("what was read is whole")
    }
}
