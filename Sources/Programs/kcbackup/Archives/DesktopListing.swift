internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService

/// The list of what the desktop keyring holds now, without its secrets.
struct DesktopListing {
    let keyring: DesktopKeyring
    let source: ServiceSource
    let filter: ItemFilter?
    let table: StreamedTable
    let session: Session

    /// - Parameter isFirst: false where something else was shown before.
    func print(isFirst: Bool) throws {
        var visitor = MatchingItems(filter)
        try source.visitItems(&visitor)
        let items = visitor.items
        let title = keyring.label.isEmpty ? "Secret Service" : keyring.words
        let lines = ItemRows(filter: filter, table: table, session: session).lines(
            items, above: ["\(title): \(counted(source.count, "item"))"] + source.collections.map(\.words),
            isFirst: isFirst)
        try session.result(
            [
                "keychain": .text(keyring.name), "collections": .list(source.collections.map(\.json)),
                "items": .list(items.map { .item($0) }),
            ], lines)
    }
}

extension CollectionSummary {
    fileprivate var words: String {
        let marks = [isDefault ? "default" : nil, isLocked ? "locked" : nil].compactMap { $0 }
        return "collection \(quoted(label)): "
            + (isLocked && items == 0 ? "number of items unknown" : counted(items, "item"))
            + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
    }

    fileprivate var json: JSONValue {
        .members([
            ("label", .text(label)), ("default", .flag(isDefault)), ("locked", .flag(isLocked)),
            ("items", .number(items)),
        ])
    }
}
