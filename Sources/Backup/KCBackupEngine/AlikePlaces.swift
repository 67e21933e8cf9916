internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Matches alike items of an archive to those of a keychain.
///
/// A source without UUIDs of its own tells items with the same attributes apart by their order, so their UUIDs and
/// unique keys change places when one is added or deleted. What tells them apart for certain is what they hold. An item
/// that is matched is written under the identity that the keychain has for it; any other one gets an identity that no
/// item of the keychain has.
struct AlikePlaces {
    /// The identity under which an item is written.
    private struct Place {
        let uuid: ItemUUID
        /// The item of the keychain that it is; nil for a new one.
        let counterpart: Item?
    }

    private var places: [ItemUUID: Place] = [:]
    private var added: Set<ItemUUID> = []

    /// Reads the archive if an item of the target might be mistaken for another one.
    ///
    /// Secrets in their stored form come from the target itself, whose items keep their UUIDs.
    ///
    /// - Throws: `ArchiveFailure`, `CryptographyFailure`, and what the target throws.
    init(of archive: ProvenArchive, _ form: SecretForm, in existing: any ExistingItems) throws {
        guard form == .plain, try existing.hasDerivedUUIDs else { return }
        let survey = AlikeSurvey(existing, try ItemCodes())
        var visitor = AlikeVisitor(survey: survey)
        _ = try archive.read(form, &visitor)
        for series in survey.series.values { try match(series, existing, survey.codes) }
    }

    private mutating func match(
        _ series: AlikeSurvey.Series, _ existing: any ExistingItems, _ codes: ItemCodes
    ) throws {
        let (items, records) = (series.items, series.records.sorted { $0.uuid.ordinal < $1.uuid.ordinal })
        if items.isEmpty || items.count == 1 && records.count == 1 && items[0].uuid == records[0].uuid { return }
        let alike = try items.map { item in
            AlikeItem(
                item, secret: try existing.code(ofSecretOf: item) { secret in try codes.code(of: secret) })
        }
        let pairs = AlikeItems.pairs(of: records.map(\.alike), with: alike)
        var taken = Set(items.map(\.uuid.ordinal))
        var next = (taken.union(records.map(\.uuid.ordinal))).max() ?? 0
        for (record, pair) in zip(records, pairs) {
            if let pair {
                places[record.uuid] = Place(uuid: items[pair].uuid, counterpart: items[pair])
            } else if !taken.insert(record.uuid.ordinal).inserted {
                repeat { next &+= 1 } while !taken.insert(next).inserted
                let uuid = record.uuid.with(ordinal: next)
                places[record.uuid] = Place(uuid: uuid, counterpart: nil)
                added.insert(uuid)
            }
        }
    }

    /// True if an item got an identity that no item of the keychain should have.
    func isNew(_ item: Item) -> Bool { added.contains(item.uuid) }

    /// The item under the identity that it has in the keychain.
    ///
    /// - Throws: `ItemProblem` if a mark that tells it apart makes it too large.
    func placed(_ item: Item) throws(ItemProblem) -> Item {
        guard let place = places[item.uuid] else { return item }
        if let counterpart = place.counterpart { return try item.identified(as: counterpart) }
        var attributes = item.attributes
        if let identity = KeyringIdentity(of: item) {
            attributes[.musr] = .data(identity.with(ordinal: place.uuid.ordinal).key)
        } else {
            _ = attributes.mark(item.itemClass, for: place.uuid)
        }
        return try item.with(uuid: place.uuid, attributes: attributes)
    }
}

extension Item {
    /// The item in the place of an alike one: with its UUID, and with what its unique key has for its position.
    ///
    /// - Throws: `ItemProblem` if that makes it too large.
    func identified(as counterpart: Item) throws(ItemProblem) -> Item {
        var attributes = attributes
        if let identity = KeyringIdentity(of: self) {
            attributes[.musr] = .data(identity.with(ordinal: counterpart.uuid.ordinal).key)
        } else if likeness == counterpart.likeness {
            for code in [AttributeCode.svce, .sdmn, .musr] { attributes[code] = counterpart.attributes[code] }
        }
        return try with(uuid: counterpart.uuid, attributes: attributes)
    }

    /// The item as the first one of its kind, for comparisons.
    var withoutPosition: Item {
        get throws(ItemProblem) {
            var attributes = attributes
            if let identity = KeyringIdentity(of: self) {
                attributes[.musr] = .data(identity.with(ordinal: 0).key)
            } else {
                attributes.removeMark()
            }
            return try with(uuid: uuid.with(ordinal: 0), attributes: attributes)
        }
    }

    /// The item with another UUID and other attributes.
    func with(uuid: ItemUUID, attributes: Attributes) throws(ItemProblem) -> Item {
        try Item(itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: secretSize)
    }
}

/// The items of an archive that alike items of a keychain may be, by the UUID of ordinal 0.
private final class AlikeSurvey {
    struct Record {
        let uuid: ItemUUID
        let alike: AlikeItem
    }

    struct Series {
        /// The items of the keychain.
        let items: [Item]
        var records: [Record] = []
    }

    let codes: ItemCodes
    private(set) var series: [ItemUUID: Series] = [:]
    private let existing: any ExistingItems

    init(_ existing: any ExistingItems, _ codes: ItemCodes) {
        self.existing = existing
        self.codes = codes
    }

    func add(_ item: Item, _ code: [UInt8]?) throws {
        let name = item.uuid.with(ordinal: 0)
        var series = if let known = self.series[name] { known } else { Series(items: try existing.series(of: item)) }
        if !series.items.isEmpty {
            series.records.append(Record(uuid: item.uuid, alike: AlikeItem(item, secret: code)))
        }
        self.series[name] = series
    }
}

private struct AlikeVisitor: RecordVisitor {
    let survey: AlikeSurvey

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        guard item.uuid.isDerived else { return }
        let isKnown = state == .open || state == .absent
        let code = isKnown ? try survey.codes.code(of: secret) : nil
        try survey.add(item, code)
    }
}

extension AlikeItem {
    /// Describes an item of a keychain or an archive.
    ///
    /// - Parameter secret: a value that is the same for equal secrets only; nil if the secret is unknown.
    init(_ item: Item, secret: [UInt8]?) {
        // Nothing writes half of an item to a keychain: an empty secret is one that was given.
        self.init(label: item.attributes.text(.labl) ?? "", secret: secret, isEmpty: false, created: item.created)
    }
}
