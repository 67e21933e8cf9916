internal import KCKeychainModel

/// The UUIDs of all rows of a class in their order, for questions about the series of many items.
///
/// Reading them all is cheaper than one search of their index for each item.
struct OrderedUUIDs {
    /// The number of changes before they were read; after another one, they may be others.
    let changes: Int64
    private let uuids: [ItemUUID]

    /// The most rows of all classes whose UUIDs are held: 4 MiB of them.
    static let mostRows = 262_144

    init(_ itemClass: ItemClass, on database: Database) throws(KeychainStoreError) {
        changes = database.changeCount
        let name = itemClass.rawValue
        let rows = try SQLStatement("SELECT uuid FROM \(name) INDEXED BY \(name)_uuid ORDER BY uuid", on: database)
        var uuids: [ItemUUID] = []
        while try rows.step() {
            // A row with anything else is no item.
            if let uuid = rows.withBytes(0, { ItemUUID(bytes: $0) }) { uuids.append(uuid) }
        }
        self.uuids = uuids
    }

    /// True if a row, be it a tombstone, has a UUID that differs from `uuid` in the ordinal alone.
    func hasOthersInSeries(of uuid: ItemUUID) -> Bool {
        let first = uuid.with(ordinal: 0)
        var (start, end) = (0, uuids.count)
        while start < end {
            let middle = (start + end) / 2
            if (uuids[middle].high, uuids[middle].low) < (first.high, first.low) {
                start = middle + 1
            } else {
                end = middle
            }
        }
        // The second one of a series is another one, if the first is not.
        return uuids[start...].prefix(2).contains { $0 != uuid && $0.with(ordinal: 0) == first }
    }
}
