internal import KCByteStreams
internal import KCCryptography
internal import KCItemMatching
internal import KCItemSources
internal import KCKeychainModel

/// Finds the items of a service that those of a restore are.
///
/// Several items of a collection may have the same attributes, and several collections the same label. Which is which
/// follows from all items of both sides together, so all of them are added before the first question.
struct ServiceMatches: ~Copyable {
    /// An item of one side.
    private struct Entry {
        /// Its collection; nil for an item that does not come from a service.
        let place: CollectionName?
        /// The bytes that identify the item within its collection.
        let key: [UInt8]
        let alike: AlikeItem
    }

    /// The items of a collection with the same attributes.
    private struct Series: Hashable {
        let place: CollectionName
        let key: [UInt8]
    }

    /// The results that follow from all items together.
    private struct Answers {
        /// The collection of the service for each archived one.
        var places: [CollectionName: CollectionName] = [:]
        /// The collections of the service that have items of the default collection.
        var defaults: Set<CollectionName> = []
        var indices: [ItemUUID: Int] = [:]
    }

    private let chosen: ServiceDestination
    /// The collection for items that do not come from a service; nil if there is none.
    private let standard: CollectionName?
    /// The collections that exist.
    private let known: [CollectionName]
    private var existing: [Entry] = []
    private var records: [(uuid: ItemUUID, wasInDefault: Bool, entry: Entry)] = []
    private var answers: Answers?
    private let codes: ItemCodes
    /// True if an earlier restore may have left items without their secrets.
    private let isFinishing: Bool

    init(
        _ chosen: ServiceDestination, standard: CollectionName?, known: [CollectionName], isFinishing: Bool = false
    ) throws(CryptographyFailure) {
        codes = try ItemCodes()
        self.isFinishing = isFinishing
        self.chosen = chosen
        self.standard = standard
        self.known = known
    }

    /// Adds an item of the service; they are numbered in the order of adding, which is that of their creation.
    mutating func addExisting(
        _ item: ServiceItem, in place: CollectionName, secret: borrowing Span<UInt8>
    ) throws(CryptographyFailure) {
        answers = nil
        existing.append(
            Entry(
                place: place, key: Self.key(of: item),
                alike: AlikeItem(
                    position: existing.count, label: item.label, secret: try codes.code(of: secret),
                    awaitsSecret: isFinishing && secret.isEmpty)))
    }

    /// Adds an item of the restore.
    ///
    /// - Parameters:
    ///   - service: the item as the service would return it.
    ///   - hasSecret: false if its secret is not known.
    mutating func add(
        _ item: Item, as service: ServiceItem, secret: borrowing Span<UInt8>, hasSecret: Bool
    ) throws(CryptographyFailure) {
        answers = nil
        let entry = Entry(
            place: ServiceMapping.place(of: item), key: Self.key(of: service),
            alike: AlikeItem(
                position: records.count, label: service.label,
                secret: hasSecret ? try codes.code(of: secret) : nil))
        records.append((item.uuid, ServiceMapping.wasInDefault(item), entry))
    }

    /// The collection that an item goes to, whether it exists or not; nil if there is no default collection.
    mutating func destination(of item: Item) -> CollectionName? {
        let places = answered().places
        return destination(ServiceMapping.place(of: item), places)
    }

    /// The number of the item of the service that an item of the restore is; nil if it is none.
    mutating func index(of item: Item) -> Int? { answered().indices[item.uuid] }

    /// True if items of the default collection go to this one.
    mutating func isDefault(_ place: CollectionName) -> Bool { answered().defaults.contains(place) }

    private func destination(
        _ origin: CollectionName?, _ places: [CollectionName: CollectionName]
    ) -> CollectionName? {
        if case .one(let collection) = chosen { return collection }
        return origin.map { places[$0] ?? $0 } ?? standard
    }

    private static func key(of item: ServiceItem) -> [UInt8] {
        ServiceMapping.identity(of: item, in: CollectionName(label: ""), ordinal: 0).key
    }

    private mutating func answered() -> Answers {
        if let answers { return answers }
        var answers = Answers()
        if case .own = chosen { answers.places = places() }
        var series: [Series: (records: [Int], existing: [Int])] = [:]
        for (index, record) in records.enumerated() {
            guard let place = destination(record.entry.place, answers.places) else { continue }
            series[Series(place: place, key: record.entry.key), default: ([], [])].records.append(index)
            if record.wasInDefault { answers.defaults.insert(place) }
        }
        for (index, entry) in existing.enumerated() {
            guard let place = entry.place else { continue }
            series[Series(place: place, key: entry.key)]?.existing.append(index)
        }
        for one in series.values where !one.existing.isEmpty {
            let pairs = AlikeItems.pairs(
                of: one.records.map { records[$0].entry.alike }, with: one.existing.map { existing[$0].alike })
            for (record, index) in zip(one.records, pairs) {
                if let index { answers.indices[records[record].uuid] = one.existing[index] }
            }
        }
        self.answers = answers
        return answers
    }

    /// The collections of the service that those of the restore are, by what they hold.
    private func places() -> [CollectionName: CollectionName] {
        var archived: [CollectionName: CollectionPairing.Collections] = [:]
        for record in records {
            guard let place = record.entry.place else { continue }
            archived[CollectionName(label: place.label), default: [:]][place.number, default: .init()]
                .insert(record.entry.key, record.entry.alike)
        }
        var found: [CollectionName: CollectionPairing.Collections] = [:]
        for place in known { found[CollectionName(label: place.label), default: [:]][place.number] = .init() }
        for entry in existing {
            guard let place = entry.place else { continue }
            found[CollectionName(label: place.label)]?[place.number]?.insert(entry.key, entry.alike)
        }
        var places: [CollectionName: CollectionName] = [:]
        for (first, collections) in archived {
            for (number, other) in CollectionPairing.pairs(of: collections, with: found[first] ?? [:]) {
                places[CollectionName(label: first.label, number: number)] =
                    CollectionName(label: first.label, number: other)
            }
        }
        return places
    }
}
