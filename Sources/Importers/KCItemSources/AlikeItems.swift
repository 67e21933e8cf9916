package import KCKeychainModel

/// What tells items with the same identifying attributes apart.
package struct AlikeItem: Hashable, Sendable {
    /// The bytes of the label.
    package let label: [UInt8]
    /// A value that is the same for equal secrets only; nil if the secret is unknown.
    package let secret: [UInt8]?
    /// True if the secret is empty.
    package let isEmpty: Bool
    /// When it was created; nil in a place that sets this date itself.
    package let created: Timestamp?

    /// Describes an item.
    package init(label: String, secret: [UInt8]?, isEmpty: Bool, created: Timestamp? = nil) {
        self.label = Array(label.utf8)
        self.secret = secret
        self.isEmpty = isEmpty
        self.created = created
    }

    /// A label with its secret.
    fileprivate struct Content: Hashable {
        let label: [UInt8]
        let secret: [UInt8]
    }

    /// Label and secret; nil if the secret is unknown.
    fileprivate var content: Content? { secret.map { Content(label: label, secret: $0) } }
}

/// Rules for items with the same identifying attributes: their numbers in a backup, and which of them are the same in
/// two places.
package enum AlikeItems {
    /// Numbers the items of a keyring: those with the same key from 0, by label, then in the given order.
    ///
    /// - Parameter items: in the order of creation.
    package static func numbers(of items: [(key: [UInt8], label: [UInt8])]) -> [Int] {
        var places: [[UInt8]: [Int]] = [:]
        for (index, item) in items.enumerated() { places[item.key, default: []].append(index) }
        var numbers = Array(repeating: 0, count: items.count)
        for places in places.values where places.count > 1 {
            let ordered = places.sorted { one, other in
                let (left, right) = (items[one].label, items[other].label)
                return left == right ? one < other : left.lexicographicallyPrecedes(right)
            }
            for (number, index) in ordered.enumerated() { numbers[index] = number }
        }
        return numbers
    }

    /// Finds the item that each record is, among items with the same identifying attributes.
    ///
    /// A record is first the item with its label and secret, then one with its label whose secret is still empty. What
    /// is left is matched by label, if there are as many items as records with it, by secret, and by creation date, if
    /// there are as many items as records with it. Anything else would be a guess that could overwrite another item,
    /// unless there is only one on each side.
    ///
    /// - Parameters:
    ///   - records: in the order of their numbers.
    ///   - items: in the order of their numbers.
    ///   - hasOthers: true if others of the same attributes were matched before.
    /// - Returns: an index of `items` for each record, none twice; nil for a record that none of them is.
    package static func pairs(of records: [AlikeItem], with items: [AlikeItem], hasOthers: Bool = false) -> [Int?] {
        var pairs = [Int?](repeating: nil, count: records.count)
        var isTaken = [Bool](repeating: false, count: items.count)
        func match<Key: Hashable>(
            inEqualNumbers: Bool = false, where isEligible: (AlikeItem) -> Bool = { _ in true },
            by key: (AlikeItem) -> Key?
        ) {
            var free: [Key: [Int]] = [:]
            for index in items.indices where !isTaken[index] && isEligible(items[index]) {
                if let key = key(items[index]) { free[key, default: []].append(index) }
            }
            var open: [Key: [Int]] = [:]
            for index in records.indices where pairs[index] == nil {
                if let key = key(records[index]) { open[key, default: []].append(index) }
            }
            for (key, open) in open {
                guard let free = free[key], !inEqualNumbers || free.count == open.count else { continue }
                for (record, item) in zip(open, free) {
                    pairs[record] = item
                    isTaken[item] = true
                }
            }
        }
        match { $0.content }
        match(where: \.isEmpty) { $0.label }
        match(inEqualNumbers: true) { $0.label }
        match { $0.secret }
        match(inEqualNumbers: true) { $0.created }
        if !hasOthers, records.count == 1, items.count == 1 { return [0] }
        return pairs
    }
}
