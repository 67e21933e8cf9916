package import KCKeychainModel

extension Keychain {
    /// Visits the items that match a query, in archive order, without keeping them in memory or holding a transaction.
    ///
    /// A first pass reads one snapshot and keeps only the UUIDs; a second pass fetches the items in batches, so that no
    /// other program waits while `body` writes to a blocked pipe. Items deleted in between are skipped.
    ///
    /// - Parameters:
    ///   - isIncluded: a further condition; rows that are not valid items are counted without it.
    ///   - first: receives every item before `body` receives the first one, for example to measure a table.
    ///   - body: may use the keychain.
    /// - Returns: the number of matching rows that are not valid items.
    /// - Throws: the errors of `first` and `body`, and as `find`; `damaged` also if an index hides an item.
    @discardableResult
    package func walk(
        _ query: ItemQuery, where isIncluded: (Item) -> Bool = { _ in true },
        first: (Item) throws -> Void = { _ in }, _ body: (Item) throws -> Void
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
            guard isIncluded(item) else { continue }
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

    /// The number of items per batch; smaller batches cost transactions, larger ones memory.
    private static let walkStep = 500

    /// The stored form of an item's secret: sealed, except for public data.
    package func storedSecret(of item: Item) throws(KeychainStoreError) -> [UInt8] {
        try connection.read { database throws(KeychainStoreError) in
            try KeychainReader(self, database).row(of: item).blob
        }
    }
}
