internal import KCByteStreams
internal import KCKeychainModel

/// Matches records without IDs to items of the keychain if only their order and secrets tell them apart.
///
/// A record is first matched to the item with the same secret, whatever its position. A record that is left changes the
/// item at its own position, but only if there are as many items as records. Otherwise it becomes a new item, because it
/// is unclear which item changed.
struct AlikeRecords {
    /// The item of the keychain that a record is matched to.
    enum Place: Hashable {
        /// The item with its UUID or unique key, if there is one.
        case own
        /// The item with this UUID, which has the same secret.
        case item(ItemUUID)
        /// A new item with this UUID.
        case new(ItemUUID)
    }

    /// The UUIDs of all items of the source.
    private(set) var uuids: Set<ItemUUID> = []
    /// The items of the keychain that were matched by their secrets.
    private var claimed: Set<ItemUUID> = []
    /// The series with several records in the source, by the UUID of ordinal 0.
    private var series: [ItemUUID: Series] = [:]
    private let existing: any ExistingItems

    /// Visits the source, and the records of series with several records twice more, to compare secrets.
    init(in source: some ItemSource, and existing: any ExistingItems) throws {
        self.existing = existing
        if try existing.isEmpty { return }
        var survey = Survey()
        try source.visitItems(&survey)
        uuids = survey.uuids
        if survey.several.isEmpty { return }
        for name in survey.several { series[name] = Series() }
        for round in [Series.Round.ownPlaces, .others] {
            var matching = Matching(existing: existing, round: round, uuids: uuids, series: series)
            series = [:]
            try source.visitItems(&matching)
            series = matching.series
        }
        for name in series.keys {
            series[name]?.decide()
            claimed.formUnion(series[name]?.claimed ?? [])
        }
    }

    /// True where an item of the keychain belongs to a record of the source.
    func isTaken(_ uuid: ItemUUID) -> Bool { uuids.contains(uuid) || claimed.contains(uuid) }

    /// The item of the keychain that a record is matched to, and whether it might be another one.
    func place(of item: Item, _ secret: borrowing SecretBytes) throws -> (place: Place, isUnclear: Bool) {
        if let series = series[item.uuid.with(ordinal: 0)] { return series.place(of: item.uuid) }
        let alike = try existing.series(of: item)
        if alike.isEmpty || alike.count == 1 && alike[0].uuid == item.uuid { return (.own, false) }
        var series = Series(of: alike)
        for round in [Series.Round.ownPlaces, .others] { try series.match(item, secret, round, in: existing, uuids) }
        series.decide()
        return series.place(of: item.uuid)
    }
}

/// The records of one series and the items of the keychain that they may be.
private struct Series {
    enum Round {
        case ownPlaces
        case others
    }

    /// The number of items that one record is compared with: people have few alike items, a hostile table may have many.
    private static let comparisonLimit = 256

    private var items: [ItemUUID: Item]?
    /// The items of the series, by ordinal.
    private var order: [ItemUUID] = []
    /// Items outside the series that have the unique key of one of its records.
    private var holders: [ItemUUID] = []
    /// The item that a record would change, found by UUID or unique key.
    private var homes: [ItemUUID: ItemUUID] = [:]
    private var records: [ItemUUID] = []
    private var places: [ItemUUID: (place: AlikeRecords.Place, isUnclear: Bool)] = [:]
    private(set) var claimed: Set<ItemUUID> = []
    /// How far the last matched record had moved, in ordinals.
    private var offset: Int64 = 0

    init() {}

    init(of items: [Item]) {
        take(items)
    }

    private mutating func take(_ items: [Item]) {
        order = items.map(\.uuid)
        self.items = Dictionary(uniqueKeysWithValues: items.map { ($0.uuid, $0) })
    }

    /// Looks for the item that has the secret of a record.
    mutating func match(
        _ record: Item, _ secret: borrowing SecretBytes, _ round: Round, in existing: any ExistingItems,
        _ uuids: Set<ItemUUID>
    ) throws {
        switch round {
        case .ownPlaces:
            if items == nil { take(try existing.series(of: record)) }
            records.append(record.uuid)
            try addHome(of: record, existing, uuids)
            if try claim(record.uuid, for: record, secret, existing) { places[record.uuid] = (.own, false) }
        case .others:
            guard places[record.uuid] == nil else { return }
            for uuid in candidates(for: record.uuid) where try claim(uuid, for: record, secret, existing) {
                offset = Int64(uuid.ordinal) - Int64(record.uuid.ordinal)
                places[record.uuid] = (.item(uuid), false)
                return
            }
        }
    }

    /// The items to compare a record with, the likeliest first: the item at the same distance as the last match, then
    /// the items around its own position.
    private func candidates(for record: ItemUUID) -> [ItemUUID] {
        var candidates: [ItemUUID] = holders
        if let ordinal = UInt32(exactly: Int64(record.ordinal) + offset) {
            candidates.append(record.with(ordinal: ordinal))
        }
        var above = order.partitioningIndex { $0.ordinal >= record.ordinal }
        var below = above - 1
        while candidates.count < Self.comparisonLimit, above < order.count || below >= 0 {
            if above < order.count { candidates.append(order[above]) }
            if below >= 0 { candidates.append(order[below]) }
            above += 1
            below -= 1
        }
        return candidates
    }

    /// Finds the item that a record would change if it were the only record.
    private mutating func addHome(of record: Item, _ existing: any ExistingItems, _ uuids: Set<ItemUUID>) throws {
        if items?[record.uuid] != nil {
            homes[record.uuid] = record.uuid
        } else if let holder = try existing.item(withKeyOf: record), !uuids.contains(holder.uuid) {
            homes[record.uuid] = holder.uuid
            // An item that was added by hand or from another program's file counts as one of the series.
            if items?.updateValue(holder, forKey: holder.uuid) == nil { holders.append(holder.uuid) }
        }
    }

    /// Matches an item to a record if both look alike and have the same secret.
    private mutating func claim(
        _ uuid: ItemUUID, for record: Item, _ secret: borrowing SecretBytes, _ existing: any ExistingItems
    ) throws -> Bool {
        guard let item = items?[uuid], item.likeness == record.likeness, !claimed.contains(uuid),
            try existing.secret(of: item, equals: secret, in: .plain)
        else { return false }
        claimed.insert(uuid)
        return true
    }

    /// Decides about the records whose secret no item has.
    mutating func decide() {
        let isComplete = records.count == items?.count
        let hasOthers = claimed.count < items?.count ?? 0
        var used = Set((records + order).map(\.ordinal))
        var next = used.max() ?? 0
        for record in records where places[record] == nil {
            guard let home = homes[record] else {
                places[record] = (.new(record), hasOthers)
                continue
            }
            if isComplete, !claimed.contains(home) {
                places[record] = (.own, false)
                continue
            }
            repeat { next &+= 1 } while !used.insert(next).inserted
            places[record] = (.new(record.with(ordinal: next)), hasOthers)
        }
    }

    func place(of record: ItemUUID) -> (place: AlikeRecords.Place, isUnclear: Bool) {
        places[record] ?? (.own, false)
    }
}

/// Finds the series with several records.
private struct Survey: ItemVisitor {
    private(set) var uuids: Set<ItemUUID> = []
    private(set) var several: Set<ItemUUID> = []
    private var first: Set<ItemUUID> = []

    mutating func wants(_ item: Item) -> Bool {
        uuids.insert(item.uuid)
        let name = item.uuid.with(ordinal: 0)
        if !first.insert(name).inserted { several.insert(name) }
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    func skip(damaged item: Item?) {}
}

/// Compares the secrets of alike records with those of the keychain.
private struct Matching: ItemVisitor {
    let existing: any ExistingItems
    let round: Series.Round
    let uuids: Set<ItemUUID>
    var series: [ItemUUID: Series]

    func wants(_ item: Item) -> Bool { series[item.uuid.with(ordinal: 0)] != nil }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        let (name, existing, round, uuids) = (item.uuid.with(ordinal: 0), existing, round, uuids)
        try series[name]?.match(item, secret, round, in: existing, uuids)
    }

    func skip(damaged item: Item?) {}
}

extension Array {
    /// The index of the first element for which `isBehind` is true, where none is false behind it.
    fileprivate func partitioningIndex(_ isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
