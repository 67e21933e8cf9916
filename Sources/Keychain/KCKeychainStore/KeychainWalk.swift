package import KCKeychainModel

extension Keychain {
    /// Visits the items that match a query, in archive order, without keeping them in memory or holding a transaction.
    ///
    /// A first pass reads one snapshot and keeps only the places of the items; a second pass fetches the items in
    /// batches, so that no other program waits while `body` writes to a blocked pipe. Items deleted in between are
    /// skipped.
    ///
    /// - Parameters:
    ///   - isIncluded: a further condition; rows that are not valid items are counted without it.
    ///   - checksSeals: true to open the seal of every item for which there is a key.
    ///   - first: receives every item before `body` receives the first one, for example to measure a table, and whether
    ///     its seal was found to be broken.
    ///   - isComplete: called after the first pass; true if the second one is not needed.
    ///   - body: may use the keychain.
    /// - Returns: the number of matching rows that are not valid items.
    /// - Throws: the errors of `first` and `body`, and as `find`; `damaged` also if an index hides an item.
    @discardableResult
    package func walk(
        _ query: ItemQuery, where isIncluded: (Item) -> Bool = { _ in true },
        checksSeals: Bool = false, first: (_ item: Item, _ isBroken: Bool) throws -> Void = { _, _ in },
        unless isComplete: () -> Bool = { false }, _ body: (Item) throws -> Void
    ) throws -> Int {
        var found: [ItemClass: [ItemPlace]] = [:]
        var damaged = 0
        let transaction = try beginReadTransaction()
        let reader = try KeychainReader(self, transaction.database)
        var search = try ItemSearch(query, in: reader.tables, isNumbered: true)
        while let match = try search.next() {
            guard let item = match.item else {
                damaged += 1
                continue
            }
            guard isIncluded(item) else { continue }
            // An item that its UUID does not find could be listed, but not changed.
            guard match.row.isFoundByUUID(match.statement) else { throw KeychainStoreError.indexMismatch }
            try first(item, checksSeals && reader.isBroken(item, match))
            found[item.itemClass, default: []].append(
                ItemPlace(uuid: item.uuid, number: match.row.number(match.statement)))
        }
        try transaction.commit()
        if isComplete() { return damaged }
        for itemClass in ItemClass.allCases {
            let places = found[itemClass] ?? []
            var rest = places[...]
            while !rest.isEmpty { for item in try batch(itemClass, &rest) where query.means(item) { try body(item) } }
        }
        return damaged
    }

    /// The next items that are still there, at their places or elsewhere.
    ///
    /// - Parameter places: those that are left; the ones of the batch are removed.
    private func batch(
        _ itemClass: ItemClass, _ places: inout ArraySlice<ItemPlace>
    ) throws(KeychainStoreError) -> [Item] {
        try connection.read { database throws(KeychainStoreError) in
            let tables = ItemTables(database)
            let row = ItemRow.of(itemClass)
            let statement = try SQLStatement(row.selection + " WHERE id=?", on: database)
            var builder = AttributesBuilder()
            var items: [Item] = []
            var (count, size) = (0, 0)
            while count < Self.walkStep, size < Self.walkSize, let place = places.popFirst() {
                count += 1
                defer {
                    statement.reset()
                    size += items.last?.attributes.size ?? 0
                }
                try statement.bind(place.number, 1)
                if try statement.step(), row.uuid(statement) == place.uuid {
                    if row.isTombstone(statement) { continue }
                    guard let item = row.item(statement, &builder) else { throw .itemDamaged(place.uuid) }
                    items.append(item)
                } else if let moved = try tables.row(itemClass, place.uuid) {
                    // A restore replaces an item by a new row.
                    if moved.isTombstone { continue }
                    guard let item = moved.item else { throw .itemDamaged(place.uuid) }
                    items.append(item)
                } else {
                    try tables.requireGone(itemClass, place.uuid)
                }
            }
            return items
        }
    }

    /// Where an item was: its rowid, which finds it without an index, and its UUID.
    private struct ItemPlace {
        let uuid: ItemUUID
        let number: Int64
    }

    /// The number of items per batch; smaller batches cost transactions, larger ones memory.
    private static let walkStep = 500
    /// The size of their attributes in bytes with which a batch ends.
    private static let walkSize = 1 << 20

    /// The stored form of an item's secret: sealed, except for public data.
    package func storedSecret(of item: Item) throws(KeychainStoreError) -> [UInt8] {
        try connection.read { database throws(KeychainStoreError) in
            try KeychainReader(self, database).row(of: item).blob
        }
    }
}
