package import KCKeychainModel

/// The facts known about an item of a series: items that their place tells apart by their position alone.
package struct AlikeItem: Hashable, Sendable {
    /// The position in the series; no two items of one side have the same.
    package var position: Int
    /// The bytes of the label.
    package let label: [UInt8]
    /// The code of the secret; nil if the secret is unknown.
    package let secret: ItemCode?
    /// True if the secret is still to be written, because a restore broke off.
    package let awaitsSecret: Bool
    /// When it was created; nil in a place that sets this date itself.
    package let created: Timestamp?
    /// The code of everything but position and secret; nil in a place that sets some of it itself.
    package let whole: ItemCode?

    /// Describes an item.
    package init(
        position: Int, label: String, secret: ItemCode?, awaitsSecret: Bool = false, created: Timestamp? = nil,
        whole: ItemCode? = nil
    ) {
        self.position = position
        self.label = Array(label.utf8)
        self.secret = secret
        self.awaitsSecret = awaitsSecret
        self.created = created
        self.whole = whole
    }

    /// Describes an item of a keychain or an archive.
    package init(_ item: Item, secret: ItemCode?, whole: ItemCode) {
        self.init(
            position: Int(item.uuid.ordinal), label: item.attributes.text(.labl) ?? "", secret: secret,
            created: item.created, whole: whole)
    }

    /// True if both secrets are known and differ.
    package func hasOtherSecret(than other: AlikeItem) -> Bool {
        guard let secret, let its = other.secret else { return false }
        return secret != its
    }
}

/// Finds out which items of a series are the same in two places; the rules are in docs/matching.md.
package enum AlikeItems {
    /// Finds the item that each record is.
    ///
    /// Earlier rules come first: a pair that one of them finds is left alone by the next.
    ///
    /// - Parameters:
    ///   - records: the series in one place, in any order.
    ///   - items: the series in the other place, in any order.
    /// - Returns: an index of `items` for each record, none twice; nil for a record that none of them is.
    package static func pairs(of records: [AlikeItem], with items: [AlikeItem]) -> [Int?] {
        if records.count == 1, items.count == 1 { return [0] }
        var pairing = Pairing(records, items)
        pairing.matchUnmoved()
        pairing.match { item in item.secret.flatMap { secret in item.whole.map { [secret, $0] } } }
        pairing.match { item in item.secret.map { Content(label: item.label, secret: $0) } }
        pairing.match(records: { $0.secret == nil }, items: { $0.secret == nil }) { $0.whole }
        pairing.match(records: { $0.secret == nil }) { $0.whole }
        pairing.match(items: { $0.secret == nil }) { $0.whole }
        pairing.match(items: \.awaitsSecret) { $0.label }
        pairing.match { $0.secret }
        pairing.matchInPlace { $0.label }
        pairing.matchInPlace { $0.created }
        return pairing.pairs
    }

    private struct Content: Hashable {
        let label: [UInt8]
        let secret: ItemCode
    }
}

/// The pairs found so far.
private struct Pairing {
    private let records: [AlikeItem]
    private let items: [AlikeItem]
    /// The indices of each side in the order of positions.
    private let order: (records: [Int], items: [Int])
    private(set) var pairs: [Int?]
    private var isTaken: [Bool]

    init(_ records: [AlikeItem], _ items: [AlikeItem]) {
        self.records = records
        self.items = items
        order = (
            records.indices.sorted { records[$0].position < records[$1].position },
            items.indices.sorted { items[$0].position < items[$1].position }
        )
        pairs = Array(repeating: nil, count: records.count)
        isTaken = Array(repeating: false, count: items.count)
    }

    private mutating func pair(_ record: Int, _ item: Int) {
        pairs[record] = item
        isTaken[item] = true
    }

    /// Matches those that are equal and at the same position, unless their secrets are known to differ.
    mutating func matchUnmoved() {
        var places: [Int: Int] = [:]
        for item in order.items where items[item].whole != nil { places[items[item].position] = item }
        for record in order.records {
            guard let item = places[records[record].position], items[item].whole == records[record].whole,
                !items[item].hasOtherSecret(than: records[record])
            else { continue }
            pair(record, item)
        }
    }

    /// Matches those that are left and share a value, in the order of positions.
    mutating func match<Key: Hashable>(
        records isRecord: (AlikeItem) -> Bool = { _ in true }, items isItem: (AlikeItem) -> Bool = { _ in true },
        by key: (AlikeItem) -> Key?
    ) {
        var free: [Key: [Int]] = [:]
        for item in order.items.reversed() where !isTaken[item] && isItem(items[item]) {
            if let key = key(items[item]) { free[key, default: []].append(item) }
        }
        if free.isEmpty { return }
        for record in order.records where pairs[record] == nil && isRecord(records[record]) {
            if let key = key(records[record]), let item = free[key]?.popLast() { pair(record, item) }
        }
    }

    /// Matches those that are left, share a value, and are at the same place among all that share it.
    ///
    /// Places say nothing if there are not as many of these on both sides, or if one of them is matched elsewhere.
    mutating func matchInPlace<Key: Hashable>(by key: (AlikeItem) -> Key?) {
        if !isTaken.contains(false) { return }
        var shared: [Key: (records: [Int], items: [Int])] = [:]
        for record in order.records {
            if let key = key(records[record]) { shared[key, default: ([], [])].records.append(record) }
        }
        for item in order.items {
            if let key = key(items[item]) { shared[key]?.items.append(item) }
        }
        for (records, items) in shared.values where records.count == items.count {
            if zip(records, items).contains(where: { isMatchedElsewhere($0, $1) }) { continue }
            for (record, item) in zip(records, items) { pair(record, item) }
        }
    }

    private func isMatchedElsewhere(_ record: Int, _ item: Int) -> Bool {
        pairs[record].map { $0 != item } ?? isTaken[item]
    }
}
