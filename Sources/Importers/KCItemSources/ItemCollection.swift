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
    private var entries: [CollectedItems.Entry] = []
    private var secrets = SecretBytes(capacity: 4_096)

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
    package var count: Int { entries.count }

    /// Adds an item, with Apple's defaults for missing attributes.
    package mutating func add(_ draft: ItemDraft, secret: borrowing SecretBytes?) throws(ItemProblem) {
        append(try item(draft, secret: secret), secret: secret)
    }

    /// The item that `add` would add.
    func item(_ draft: ItemDraft, secret: borrowing SecretBytes?) throws(ItemProblem) -> Item {
        let size = size(secret)
        var draft = draft
        if draft.uuid == nil { draft.uuid = try draft.completed(now: date, secretSize: size).derivedUUID }
        let item = try draft.completed(now: date, secretSize: size)
        try item.requireMeaningfulFlag()
        return item
    }

    /// Adds an item that `item` returned.
    mutating func append(_ item: Item, secret: borrowing SecretBytes?) {
        let start = secrets.count
        switch secret {
        case .some(let secret): secret.withBytes { secrets.append($0) }
        case .none: break
        }
        entries.append(CollectedItems.Entry(item: item, secret: start..<secrets.count, ordinal: entries.count))
    }

    /// Removes all items but the first `count`.
    mutating func keepFirst(_ count: Int) {
        guard count < entries.count else { return }
        secrets.removeLast(secrets.count - entries[count].secret.lowerBound)
        entries.removeSubrange(count...)
    }

    /// The item at `index` in the order of adding, from 0.
    func item(at index: Int) -> Item { entries[index].item }

    /// True if the item at `index` has this secret, or has none if `secret` is nil.
    func hasSecret(_ secret: borrowing SecretBytes?, at index: Int) -> Bool {
        let entry = entries[index]
        guard entry.item.secretSize == size(secret) else { return false }
        switch secret {
        case .none: return true
        case .some(let secret):
            return secret.withBytes { one in
                secrets.withBytes { all in zip(one.indices, entry.secret).allSatisfy { one[$0] == all[$1] } }
            }
        }
    }

    /// Puts the items in archive order.
    package consuming func finish() throws(Clash) -> CollectedItems {
        var ordinals: [ItemUUID: Int] = [:]
        for entry in entries {
            if let other = ordinals.updateValue(entry.ordinal, forKey: entry.item.uuid) {
                let first = entries[other].item
                throw first.hasKey(of: entry.item)
                    ? .sameKey(other, entry.ordinal) : .sameUUID(other, entry.ordinal)
            }
        }
        entries.sort { $0.item.precedes($1.item) }
        for (one, next) in zip(entries, entries.dropFirst()) where one.item.hasKey(of: next.item) {
            throw .sameKey(min(one.ordinal, next.ordinal), max(one.ordinal, next.ordinal))
        }
        return CollectedItems(entries, secrets)
    }
}

/// The items of a collection, in archive order.
package final class CollectedItems: ItemSource, Sendable {
    struct Entry: Sendable {
        let item: Item
        /// The position of its secret among all secrets.
        let secret: Range<Int>
        /// Its position in the order of adding, from 0.
        let ordinal: Int
    }

    private let entries: [Entry]
    private let secrets: SecretBytes

    init(_ entries: [Entry], _ secrets: consuming SecretBytes) {
        self.entries = entries
        self.secrets = secrets
    }

    /// How many items there are.
    package var count: Int { entries.count }

    /// The `index`-th item in archive order, from 0.
    package func item(at index: Int) -> Item { entries[index].item }

    /// True if each item of `other` is here too, by its UUID, with the same secret.
    package func hasAll(of other: CollectedItems) -> Bool {
        var places: [ItemUUID: Range<Int>] = [:]
        for entry in entries { places[entry.item.uuid] = entry.secret }
        return other.entries.allSatisfy { entry in
            guard let place = places[entry.item.uuid], place.count == entry.secret.count else { return false }
            return secrets.withBytes { mine in
                other.secrets.withBytes { theirs in
                    zip(place, entry.secret).allSatisfy { mine[$0] == theirs[$1] }
                }
            }
        }
    }

    /// The secret of the `index`-th item; nil if it has none.
    func secret(at index: Int) -> SecretBytes? {
        if entries[index].item.secretSize == nil { return nil }
        return secrets.withBytes { SecretBytes($0.extracting(entries[index].secret)) }
    }

    /// Visits every item; see `ItemSource`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        var line = SecretBytes(capacity: 1_024)
        var secret = SecretBytes(capacity: 1_024)
        for entry in entries where try visitor.wants(entry.item) {
            line.removeAll()
            ItemLine.encode(entry.item, into: &line)
            secret.removeAll()
            secrets.withBytes { secret.append($0.extracting(entry.secret)) }
            try line.withBytes { span in try visitor.take(entry.item, line: span, secret: secret) }
        }
    }
}

extension Item {
    /// A UUID (version 8, RFC 9562) derived from class and unique key.
    fileprivate var derivedUUID: ItemUUID {
        var hash = SHA256()
        hash.update(Array("kcbackup item without UUID\n\(itemClass.rawValue)\n".utf8).span)
        for code in itemClass.uniqueKey {
            let bytes = (attributes[code] ?? Self.keyDefault(code)).hashedBytes
            hash.update(Array("\(bytes.count)\n".utf8).span)
            hash.update(bytes.span)
        }
        return ItemUUID(derivedFrom: hash.finalize().bytes)
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

extension AttributeValue {
    /// The bytes from which a UUID is derived.
    fileprivate var hashedBytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number(let number): Array(String(number).utf8)
        case .date(let date): Array(date.description.utf8)
        }
    }
}
