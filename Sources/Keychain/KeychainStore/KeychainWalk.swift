package import KeychainModel

extension Keychain {
    /// Visits the items that a query means, in archive order, without holding them or the file.
    ///
    /// First all are looked at in one state of the file, and only their UUIDs are kept; then they are fetched again, some
    /// at a time, so that no other program waits while `body` writes to a pipe without a reader. What was deleted in
    /// between is passed over.
    ///
    /// - Parameters:
    ///   - first: is given every item before `body` is given the first one, for example to measure a table.
    ///   - body: may use the keychain.
    /// - Returns: how many rows match whose contents make no valid item.
    /// - Throws: what `first` and `body` throw, and as `find`; `damaged` also when an index hides an item.
    @discardableResult
    package func walk(
        _ query: ItemQuery, first: (Item) throws -> Void = { _ in }, _ body: (Item) throws -> Void
    ) throws -> Int {
        var found: [ItemClass: [ItemUUID]] = [:]
        var damaged = 0
        let transaction = try connection.beginReading()
        var search = try ItemSearch(query, in: ItemTables(transaction.database))
        while let match = try search.next() {
            guard let item = match.item else {
                damaged += 1
                continue
            }
            try first(item)
            found[item.itemClass, default: []].append(item.uuid)
        }
        try transaction.commit()
        for itemClass in ItemClass.allCases {
            let uuids = found[itemClass] ?? []
            for start in stride(from: 0, to: uuids.count, by: Self.walkStep) {
                let items = try connection.read { database throws(KeychainStoreError) in
                    let tables = ItemTables(database)
                    var items: [Item] = []
                    for uuid in uuids[start..<min(start + Self.walkStep, uuids.count)] {
                        guard let row = try tables.row(itemClass, uuid) else {
                            try tables.requireGone(itemClass, uuid)
                            continue
                        }
                        if row.isTombstone { continue }
                        guard let item = row.item else { throw .itemDamaged(uuid) }
                        if query.means(item) { items.append(item) }
                    }
                    return items
                }
                for item in items { try body(item) }
            }
        }
        return damaged
    }

    /// Items fetched at a time: a transaction for each would count, and more would be held for nothing.
    private static let walkStep = 500

    /// The secret of an item as the file holds it: sealed, but for public data.
    ///
    /// - Throws: `itemNotFound`, `damaged`, `busy`, `sqlite`.
    package func storedSecret(of item: Item) throws(KeychainStoreError) -> [UInt8] {
        try connection.read { database throws(KeychainStoreError) in
            try KeychainReader(self, database).row(of: item).blob
        }
    }
}
