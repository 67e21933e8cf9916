package import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Gathers items for a backup that come in any order and without UUIDs, such as those of other keyrings and their
/// files.
///
/// Secrets are kept together in wiped memory. An item without a UUID gets one derived from its class and unique key, so
/// that it is the same in every backup.
///
/// ```swift
/// var collection = ItemCollection(date: changed)
/// try collection.add(draft, secret: secret)
/// let source = try collection.finish()
/// ```
package struct ItemCollection: ~Copyable {
    private let date: Timestamp
    private var items = PackedItems()
    /// The places of the items, in the order of adding.
    private var places: [PackedItems.Place] = []

    /// A conflict between two items that cannot be in one archive, by their numbers, the lower one first: those that
    /// they were added with, or else from 0 in the order of adding.
    package enum Clash: Error, Hashable, Sendable {
        case sameKey(Int, Int)
        case sameUUID(Int, Int)
    }

    /// Starts an empty collection.
    ///
    /// - Parameter date: the creation and modification date of items without dates.
    package init(date: Timestamp) {
        self.date = date
    }

    /// How many items there are.
    package var count: Int { places.count }

    /// Adds an item, with Apple's defaults for missing attributes.
    ///
    /// - Parameter isForState: true to add it as a kept state has it.
    package mutating func add(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, isForState: Bool = false
    ) throws(ItemProblem) {
        var item = try item(draft, secret: secret)
        if isForState { item = try item.keptApart() }
        append(item, key: PackedItem.key(of: item), secret: secret)
    }

    /// The size of the items in bytes.
    var size: Int { items.size }

    /// The item that `add` would add.
    func item(_ draft: ItemDraft, secret: borrowing SecretBytes?) throws(ItemProblem) -> Item {
        try Self.item(draft, secret: secret, date: date)
    }

    /// The item of a draft, with Apple's defaults for missing attributes.
    ///
    /// - Parameter date: the dates of an item without.
    static func item(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, date: Timestamp
    ) throws(ItemProblem) -> Item {
        var draft = draft
        let isNamed = draft.uuid != nil
        // A random one would be replaced.
        if !isNamed { draft.uuid = ItemUUID(high: 0, low: 0) }
        let item = try draft.completed(now: date, secretSize: sizeOfSecret(secret))
        try requireImportable(item)
        return isNamed ? item : item.with(uuid: item.derivedUUID)
    }

    /// Refuses an item that no other program can have made.
    package static func requireImportable(_ item: Item) throws(ItemProblem) {
        try item.requireMeaningfulFlag()
        if item.extra.contains(where: KeyringExtra.isForeign) { throw .reservedExtra }
    }

    /// Adds an item that `item` returned, with the key that `PackedItem` makes of it.
    mutating func append(_ item: Item, key: [UInt8], secret: borrowing SecretBytes?) {
        places.append(items.append(item, number: places.count, key: key, secret: secret))
    }

    /// Adds an item that is packed already.
    mutating func append(_ packed: borrowing Span<UInt8>, _ entry: PackedRecords.Entry) {
        places.append(items.append(packed, beginning: entry.beginning))
    }

    /// Removes all items but the first `count`.
    mutating func keepFirst(_ count: Int) {
        guard count < places.count else { return }
        items.removeAll(from: places[count])
        places.removeSubrange(count...)
    }

    /// The unique key of the item at `index` in the order of adding, from 0, as `PackedItem` makes it.
    func key(at index: Int) -> [UInt8] {
        items.withBytes(of: places[index]) { bytes in
            var key: [UInt8] = []
            key.append(bytes.extracting(PackedItem.keyRange(in: bytes)))
            return key
        }
    }

    /// True if the item at `index` has this unique key.
    func hasKey(_ key: [UInt8], at index: Int) -> Bool {
        items.withBytes(of: places[index]) { bytes in
            bytes.extracting(PackedItem.keyRange(in: bytes)).isEqual(to: key.span)
        }
    }

    /// The item at `index`.
    func item(at index: Int) -> Item {
        items.withBytes(of: places[index]) { bytes in
            var builder = AttributesBuilder()
            return PackedItem.decode(bytes, &builder).item
        }
    }

    /// True if the item at `index` has this secret, or has none if `secret` is nil.
    func hasSecret(_ secret: borrowing SecretBytes?, at index: Int) -> Bool {
        items.withBytes(of: places[index]) { bytes in
            var builder = AttributesBuilder()
            let (item, range) = PackedItem.decode(bytes, &builder)
            switch secret {
            case .none: return item.secretSize == nil
            case .some(let secret):
                return item.secretSize == secret.count
                    && secret.withBytes { bytes.extracting(range).isEqual(to: $0) }
            }
        }
    }

    /// Puts the items in archive order.
    package consuming func finish() throws(Clash) -> CollectedItems {
        let run = sorted()
        try Self.requireDifferentUUIDs(run)
        let (items, places) = (run.items, run.places)
        for (one, next) in zip(places, places.dropFirst()) where items.haveSameKey(one, next) {
            let numbers = [one, next].map { place in items.withBytes(of: place) { PackedItem.number($0) } }
            throw .sameKey(min(numbers[0], numbers[1]), max(numbers[0], numbers[1]))
        }
        return CollectedItems([.held(run)], count: places.count)
    }

    /// Puts the items in archive order, without a comparison of their UUIDs and unique keys.
    consuming func sorted() -> HeldRun {
        var places = places
        let items = items.finish()
        places.sort { items.precedes($0, $1) }
        return HeldRun(items: items, places: places)
    }

    private static func requireDifferentUUIDs(_ run: HeldRun) throws(Clash) {
        let items = run.items
        // Sorting one word of each takes a fraction of the memory of a set.
        var words = WordList()
        for place in run.places { words.append(items.withBytes(of: place) { PackedItem.uuid($0).word }) }
        if words.repeated().isEmpty { return }
        let places = run.places.sorted { one, other in run.number(one) < run.number(other) }
        var earlier: [ItemUUID: PackedItems.Place] = [:]
        for place in places {
            let uuid = items.withBytes(of: place) { PackedItem.uuid($0) }
            if let other = earlier.updateValue(place, forKey: uuid) {
                let numbers = (run.number(other), run.number(place))
                throw items.haveSameKey(other, place)
                    ? .sameKey(numbers.0, numbers.1) : .sameUUID(numbers.0, numbers.1)
            }
        }
    }
}

extension Item {
    /// A UUID (version 8, RFC 9562) derived from class and unique key.
    fileprivate var derivedUUID: ItemUUID {
        var text: [UInt8] = []
        text.reserveCapacity(256)
        text.append(utf8: "kcbackup item without UUID\n")
        text.append(utf8: itemClass.rawValue)
        text.append(utf8: "\n")
        for code in itemClass.uniqueKey {
            let isThere: Void? = attributes.withMember(code) { form, bytes in
                if form == .text {
                    Self.append(bytes.extracting(1..<bytes.count - 1), to: &text)
                } else {
                    Self.append(form.value(of: bytes), to: &text)
                }
            }
            if isThere == nil { Self.append(Self.keyDefault(code), to: &text) }
        }
        return ItemUUID(derivedFrom: SHA256.hash(text.span).bytes)
    }

    private static func append(_ value: AttributeValue, to text: inout [UInt8]) {
        switch value {
        case .text(let value): append(value.utf8.span, to: &text)
        case .data(let bytes): append(bytes.span, to: &text)
        case .number(let number): append(String(number).utf8.span, to: &text)
        case .date(let date): append(date.description.utf8.span, to: &text)
        }
    }

    private static func append(_ value: borrowing Span<UInt8>, to text: inout [UInt8]) {
        text.append(decimal: value.count)
        text.append(UInt8(ascii: "\n"))
        text.append(value)
    }
}

extension ItemUUID {
    /// Creates a UUID (version 8, RFC 9562) from the first 16 bytes of a digest.
    package init(derivedFrom digest: [UInt8]) {
        var bytes = Array(digest.prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        guard let uuid = ItemUUID(bytes: bytes.span) else { preconditionFailure("a digest has at least 16 bytes") }
        self = uuid
    }
}

/// The size of a secret in bytes; nil if there is none.
private func sizeOfSecret(_ secret: borrowing SecretBytes?) -> Int? {
    switch secret {
    case .some(let secret): secret.count
    case .none: nil
    }
}
