internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText

/// The list of the items in another program's file, without their secrets.
struct ForeignListing {
    let path: String
    let reading: ForeignReader.Reading
    let filter: ItemFilter?
    let table: StreamedTable
    let session: Session

    /// - Parameter isFirst: false if another file was listed before.
    func print(isFirst: Bool) throws {
        let text = ImportText(path: path, reading: reading, use: .source, session: session)
        var visitor = MatchingItems(filter)
        try reading.contents.items.visitItems(&visitor)
        let items = visitor.items
        text.warnOfRefused()
        let lines = ItemRows(filter: filter, table: table, session: session).lines(
            items, above: text.contentLines, isFirst: isFirst)
        try session.result(
            [
                "file": .text(path), "format": .text(reading.format.name),
                "holds": ImportText.contents(reading.contents),
                "items": .list(items.map { .item($0) }),
            ], lines)
    }
}
