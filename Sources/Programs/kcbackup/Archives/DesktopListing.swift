internal import ByteStreams
internal import KeychainModel
internal import SecretService

/// The list of what the desktop keyring holds now, without its secrets.
struct DesktopListing {
    let keyring: DesktopKeyring
    let source: ServiceSource
    let filter: ItemFilter?
    let table: StreamedTable
    let session: Session

    /// - Parameter isFirst: false where something else was shown before.
    func print(isFirst: Bool) throws {
        var visitor = Visitor(filter: filter)
        try source.visitItems(&visitor)
        let items = visitor.items
        var lines = isFirst ? [] : ["\n"]
        if !session.style.isJSON {
            let title = keyring.label.isEmpty ? "Secret Service" : keyring.words
            lines.append("\(title): \(counted(source.count, "item"))\n")
            lines += source.collections.map { $0.words + "\n" }
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
                "keychain": .text(keyring.name), "collections": .list(source.collections.map(\.json)),
                "items": .list(items.map { .item($0) }),
            ], lines)
    }

    /// Keeps items that pass a filter.
    private struct Visitor: ItemVisitor {
        let filter: ItemFilter?
        var items: [Item] = []

        mutating func wants(_ item: Item) -> Bool {
            if filter?.matches(item) ?? true { items.append(item) }
            return false
        }

        func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
            preconditionFailure("no secret was wanted")
        }

        /// It was warned of.
        func skip(damaged item: Item?) {}
    }
}

extension CollectionSummary {
    fileprivate var words: String {
        let marks = [isDefault ? "default" : nil, isLocked ? "locked" : nil].compactMap { $0 }
        return "collection \(quoted(label)): "
            + (isLocked && items == 0 ? "items are not told" : counted(items, "item"))
            + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
    }

    fileprivate var json: JSONValue {
        .members([
            ("label", .text(label)), ("default", .flag(isDefault)), ("locked", .flag(isLocked)),
            ("items", .number(items)),
        ])
    }
}
