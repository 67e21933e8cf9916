internal import ByteStreams
internal import KeychainModel

/// Finds out which items of the keychain the records of a source are where nothing but their order tells them apart.
///
/// A record is first the item that has its secret, wherever it stands. Of those that are left, one changes an item only
/// where there are as many items as records, and the item is in its place; otherwise it is a new one, for it might be
/// any of several.
struct AlikeRecords {
    /// Which item of the keychain a record is.
    enum Place: Hashable {
        /// The one with its UUID or its unique key, if there is one.
        case own
        /// The one with this UUID, which has its secret.
        case item(ItemUUID)
        /// None: it is a new one with this UUID.
        case new(ItemUUID)
    }

    /// The UUIDs of all items of the source.
    private(set) var uuids: Set<ItemUUID> = []
    /// The items of the keychain that records were found to be by their secrets.
    private var claimed: Set<ItemUUID> = []
    /// The series of which the source has more than one, by the UUID of ordinal 0.
    private var series: [ItemUUID: Series] = [:]
    private let existing: any ExistingItems

    /// Visits the source for its alike items, and those for their secrets.
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

    /// Which item of the keychain a record is, and whether it is one of several that it might be.
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

/// The records of one series, and the items of the keychain that they may be.
private struct Series {
    enum Round {
        case ownPlaces
        case others
    }

    /// Items that one record is compared with beside those in the likeliest places: people have few, and a hostile table
    /// may have many.
    private static let comparisonLimit = 256

    private var items: [ItemUUID: Item]?
    /// Those of the series, by ordinal.
    private var order: [ItemUUID] = []
    /// Those that are not of the series, and have the key of one of its records.
    private var holders: [ItemUUID] = []
    /// The item that a record would change, by its UUID or its key.
    private var homes: [ItemUUID: ItemUUID] = [:]
    private var records: [ItemUUID] = []
    private var places: [ItemUUID: (place: AlikeRecords.Place, isUnclear: Bool)] = [:]
    private(set) var claimed: Set<ItemUUID> = []
    /// How far the last record had moved.
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

    /// The items that a record may have become, the likeliest first: the one that is as far away as the last one was,
    /// then those around its place.
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

    /// Notes which item a record would change if it were the only one.
    private mutating func addHome(of record: Item, _ existing: any ExistingItems, _ uuids: Set<ItemUUID>) throws {
        if items?[record.uuid] != nil {
            homes[record.uuid] = record.uuid
        } else if let holder = try existing.item(withKeyOf: record), !uuids.contains(holder.uuid) {
            homes[record.uuid] = holder.uuid
            // One that was made by hand, or is another program's, is one of the series here.
            if items?.updateValue(holder, forKey: holder.uuid) == nil { holders.append(holder.uuid) }
        }
    }

    /// Takes an item for a record that looks like it and has its secret.
    private mutating func claim(
        _ uuid: ItemUUID, for record: Item, _ secret: borrowing SecretBytes, _ existing: any ExistingItems
    ) throws -> Bool {
        guard let item = items?[uuid], item.looks == record.looks, !claimed.contains(uuid),
            try existing.secret(of: item, equals: secret, in: .plain)
        else { return false }
        claimed.insert(uuid)
        return true
    }

    /// Decides about the records that no item has the secret of.
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

/// Finds the series of which the source has more than one.
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
