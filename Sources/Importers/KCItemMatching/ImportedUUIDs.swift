package import KCKeychainModel

/// The UUIDs of the records of an import, in a fraction of the memory of a set.
package struct ImportedUUIDs: Sendable {
    private let sorted: [ItemUUID]
    /// The records with derived UUIDs that have others beside them, by the UUID of ordinal 0.
    package let several: Set<ItemUUID>

    /// Takes UUIDs in any order.
    package init(_ uuids: [ItemUUID]) {
        let sorted = uuids.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
        // The ordinal is at the end, so those of one series are neighbours.
        several = Set(
            zip(sorted, sorted.dropFirst()).lazy.filter { $0.isAlike($1) }.map { $0.0.with(ordinal: 0) })
        self.sorted = sorted
    }

    /// True if there is none.
    package var isEmpty: Bool { sorted.isEmpty }

    /// True if a record has this UUID.
    package func contains(_ uuid: ItemUUID) -> Bool {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if (sorted[middle].high, sorted[middle].low) < (uuid.high, uuid.low) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < sorted.count && sorted[low] == uuid
    }
}
