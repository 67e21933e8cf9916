package import KCKeychainModel

/// The UUIDs of the records of an import, in a fraction of the memory of a set.
package struct ImportedUUIDs: Sendable {
    private let sorted: [ItemUUID]
    /// The records with derived UUIDs that have others beside them, by the UUID of ordinal 0.
    package let several: Set<ItemUUID>

    /// Takes UUIDs in any order.
    package init(_ uuids: consuming [ItemUUID]) {
        // In place, since there may be a million.
        var sorted = uuids
        sorted.sort { ($0.high, $0.low) < ($1.high, $1.low) }
        // The ordinal is at the end, so those of one series are neighbors.
        several = Set(
            zip(sorted, sorted.dropFirst()).lazy.filter { $0.isAlike($1) }.map { $0.0.with(ordinal: 0) })
        self.sorted = sorted
    }

    /// True if there is none.
    package var isEmpty: Bool { sorted.isEmpty }

    /// The number of records.
    package var count: Int { sorted.count }

    /// True if a record has this UUID.
    package func contains(_ uuid: ItemUUID) -> Bool { number(of: uuid) != nil }

    /// The number of the record with this UUID among all, from 0; nil if there is none.
    package func number(of uuid: ItemUUID) -> Int? {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if (sorted[middle].high, sorted[middle].low) < (uuid.high, uuid.low) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < sorted.count && sorted[low] == uuid ? low : nil
    }
}

/// Items that are each used once; it takes one bit for each that is one of the records.
package struct UsedItems {
    private let imported: ImportedUUIDs
    private var isUsed: [UInt64]
    private var others: Set<ItemUUID> = []

    /// Starts with none.
    package init(_ imported: ImportedUUIDs) {
        self.imported = imported
        isUsed = Array(repeating: 0, count: (imported.count + 63) / 64)
    }

    /// Uses an item; false if it was used before.
    package mutating func use(_ uuid: ItemUUID) -> Bool {
        guard let number = imported.number(of: uuid) else { return others.insert(uuid).inserted }
        let bit: UInt64 = 1 << UInt64(number % 64)
        defer { isUsed[number / 64] |= bit }
        return isUsed[number / 64] & bit == 0
    }
}
