/// Finds the collections of a service that those of an archive are.
///
/// The number of a collection among those with the same label depends on what else the service has, so it identifies
/// none: it changes if another one is deleted, or if collections are made in another order. The contents of
/// collections tell them apart.
package enum CollectionPairing {
    /// The items of a collection.
    package struct Contents {
        /// An item with its label and secret.
        private struct Whole: Hashable {
            let key: [UInt8]
            let label: [UInt8]
            let secret: ItemCode
        }

        private var keys: Set<[UInt8]> = []
        private var items: Set<Whole> = []

        /// Starts with nothing.
        package init() {}

        /// Adds an item.
        package mutating func insert(_ key: [UInt8], _ alike: AlikeItem) {
            keys.insert(key)
            if let secret = alike.secret { items.insert(Whole(key: key, label: alike.label, secret: secret)) }
        }

        /// How much both have in common; items that are equal count twice as much as those that only have one key.
        fileprivate func common(with other: Contents) -> Int {
            keys.intersection(other.keys).count + items.intersection(other.items).count
        }
    }

    /// The collections with one label, by their numbers.
    package typealias Collections = [Int: Contents]

    /// The number in the service of each archived collection; those that are not there get the next free numbers.
    ///
    /// The collections that have the most items in common belong together; without any, those with the same number,
    /// and then the next ones.
    package static func pairs(of archived: Collections, with existing: Collections) -> [Int: Int] {
        if archived.count == 1, let number = archived.keys.first, existing.count == 1, existing[number] != nil {
            return [number: number]
        }
        var candidates: [(common: Int, archived: Int, existing: Int)] = []
        for (number, contents) in archived {
            for (other, found) in existing {
                let common = contents.common(with: found)
                if common > 0 || number == other { candidates.append((common, number, other)) }
            }
        }
        candidates.sort { one, other in
            (-one.common, one.archived == one.existing ? 0 : 1, one.archived, one.existing)
                < (-other.common, other.archived == other.existing ? 0 : 1, other.archived, other.existing)
        }
        var pairs: [Int: Int] = [:]
        var free = Set(existing.keys)
        for candidate in candidates where pairs[candidate.archived] == nil && free.contains(candidate.existing) {
            pairs[candidate.archived] = candidate.existing
            free.remove(candidate.existing)
        }
        var rest = free.sorted()[...]
        var next = (existing.keys.max() ?? -1) + 1
        for number in archived.keys.sorted() where pairs[number] == nil {
            if let other = rest.popFirst() {
                pairs[number] = other
            } else {
                pairs[number] = next
                next += 1
            }
        }
        return pairs
    }
}
