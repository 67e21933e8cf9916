internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The list of the items in a source, without their secrets.
struct SourceListing {
    let open: OpenStore
    let filter: ItemFilter?
    let table: StreamedTable
    let session: Session

    /// - Parameter isFirst: false if something else was listed before.
    func print(isFirst: Bool) throws {
        var visitor = MatchingItems(filter)
        try open.items.visitItems(&visitor)
        let items = visitor.items
        let lines = ItemRows(filter: filter, table: table, session: session).lines(
            items, above: open.title(in: session), isFirst: isFirst)
        try session.result(.members(open.members(in: session) + [("items", .list(items.map { .item($0) }))]), lines)
    }
}
