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

    /// A conflict between two items that cannot be in one archive; items are numbered from 0 in the order of adding.
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
    package mutating func add(_ draft: ItemDraft, secret: borrowing SecretBytes?) throws(ItemProblem) {
        let item = try item(draft, secret: secret)
        append(item, key: PackedItem.key(of: item), secret: secret)
    }

    /// The item that `add` would add.
    func item(_ draft: ItemDraft, secret: borrowing SecretBytes?) throws(ItemProblem) -> Item {
        var draft = draft
        let isNamed = draft.uuid != nil
        // A random one would be replaced.
        if !isNamed { draft.uuid = ItemUUID(high: 0, low: 0) }
        let item = try draft.completed(now: date, secretSize: size(secret))
        try item.requireMeaningfulFlag()
        return isNamed ? item : item.with(uuid: item.derivedUUID)
    }

    /// Adds an item that `item` returned, with the key that `PackedItem` makes of it.
    mutating func append(_ item: Item, key: [UInt8], secret: borrowing SecretBytes?) {
        places.append(items.append(item, key: key, secret: secret))
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

    /// True if the item at `index` has this secret, or has none if `secret` is nil.
    func hasSecret(_ secret: borrowing SecretBytes?, at index: Int) -> Bool {
        items.withBytes(of: places[index]) { bytes in
            let (item, range) = PackedItem.decode(bytes)
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
        let places = places
        let items = items.finish()
        try Self.requireDifferentUUIDs(items, places)
        var sorted = places
        sorted.sort { items.precedes($0, $1) }
        for (one, next) in zip(sorted, sorted.dropFirst()) where items.haveSameKey(one, next) {
            let numbers = [one, next].map { place in
                places.firstIndex { $0.chunk == place.chunk && $0.offset == place.offset } ?? 0
            }
            throw .sameKey(min(numbers[0], numbers[1]), max(numbers[0], numbers[1]))
        }
        return CollectedItems(items, sorted)
    }

    private static func requireDifferentUUIDs(
        _ items: ReadablePackedItems, _ places: [PackedItems.Place]
    ) throws(Clash) {
        // Sorting one word of each takes a fraction of the memory of a set.
        var words = places.map { place in
            let uuid = items.withBytes(of: place) { PackedItem.uuid($0) }
            return uuid.high ^ (uuid.low << 32 | uuid.low >> 32)
        }
        words.sort()
        if !zip(words, words.dropFirst()).contains(where: { $0 == $1 }) { return }
        words = []
        var ordinals: [ItemUUID: Int] = [:]
        for (ordinal, place) in places.enumerated() {
            let uuid = items.withBytes(of: place) { PackedItem.uuid($0) }
            if let other = ordinals.updateValue(ordinal, forKey: uuid) {
                throw items.haveSameKey(places[other], place) ? .sameKey(other, ordinal) : .sameUUID(other, ordinal)
            }
        }
    }
}

/// The items of a collection, in archive order.
package final class CollectedItems: ItemSource, Sendable {
    private let items: ReadablePackedItems
    private let places: [PackedItems.Place]

    init(_ items: ReadablePackedItems, _ places: [PackedItems.Place]) {
        self.items = items
        self.places = places
    }

    /// How many items there are.
    package var count: Int { places.count }

    /// The `index`-th item in archive order, from 0.
    package func item(at index: Int) -> Item { items.item(at: places[index]) }

    /// True if each item of `other` is here too, by its UUID, with the same secret.
    package func hasAll(of other: CollectedItems) -> Bool {
        var indices: [ItemUUID: Int] = [:]
        for index in places.indices { indices[item(at: index).uuid] = index }
        return other.places.indices.allSatisfy { index in
            guard let mine = indices[other.item(at: index).uuid] else { return false }
            return withSecret(at: mine) { mine in
                other.withSecret(at: index) { theirs in mine.isEqual(to: theirs) }
            }
        }
    }

    /// The secret of the `index`-th item; nil if it has none.
    package func secret(at index: Int) -> SecretBytes? {
        if item(at: index).secretSize == nil { return nil }
        return withSecret(at: index) { SecretBytes($0) }
    }

    /// Passes the secret of the `index`-th item to `body`; an absent one is empty.
    private func withSecret<Result: ~Copyable>(
        at index: Int, _ body: (borrowing Span<UInt8>) -> Result
    ) -> Result {
        items.withBytes(of: places[index]) { bytes in body(bytes.extracting(PackedItem.decode(bytes).secret)) }
    }

    /// Visits every item; see `ItemSource`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        var line = SecretBytes(capacity: 1_024)
        var secret = SecretBytes(capacity: 1_024)
        for place in places {
            let (item, range) = items.withBytes(of: place) { PackedItem.decode($0) }
            guard try visitor.wants(item) else { continue }
            line.removeAll()
            ItemLine.encode(item, into: &line)
            secret.removeAll()
            items.withBytes(of: place) { secret.append($0.extracting(range)) }
            try line.withBytes { span in try visitor.take(item, line: span, secret: secret) }
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
            switch attributes[code] ?? Self.keyDefault(code) {
            case .text(let value): Self.append(value.utf8.span, to: &text)
            case .data(let bytes): Self.append(bytes.span, to: &text)
            case .number(let number): Self.append(String(number).utf8.span, to: &text)
            case .date(let date): Self.append(date.description.utf8.span, to: &text)
            }
        }
        return ItemUUID(derivedFrom: SHA256.hash(text.span).bytes)
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
private func size(_ secret: borrowing SecretBytes?) -> Int? {
    switch secret {
    case .some(let secret): secret.count
    case .none: nil
    }
}
