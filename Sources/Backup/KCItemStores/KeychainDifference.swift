internal import KCKeychainModel
internal import KCKeychainStore

/// How a keychain differs from an earlier copy of it.
struct KeychainDifference {
    let changes: UndoneChanges
    /// The number of items of the copy.
    let itemsAfter: Int
    private let copy: Keychain
    private let versions: Set<RowVersion>
    private let old: VersionedItems

    /// - Parameters:
    ///   - keychain: the keychain that is replaced.
    ///   - copy: its state at an earlier time.
    ///   - written: the rows that the undone command wrote; nil if that is unknown.
    init(from keychain: Keychain, to copy: Keychain, written: Set<RowVersion>?) throws(KeychainStoreError) {
        self.copy = copy
        old = try copy.versionedItems()
        let now = try keychain.versionedItems(since: old, of: copy)
        versions = now.versions
        itemsAfter = try copy.itemCount()
        let (known, present) = (KnownItems(old.items.map(\.item)), KnownItems(now.items.map(\.item)))
        let differing = now.items.filter { [old] in !old.versions.contains($0.version) }
        var changes = UndoneChanges()
        changes.itemsBefore = try keychain.itemCount()
        changes.vanishing = differing.map(\.item).filter { !known.contain($0) }
        changes.changing = differing.map(\.item).filter(known.contain)
        changes.returning = old.items.map(\.item).filter { !present.contain($0) }
        if let written {
            let since = differing.filter { !written.contains($0.version) }.map(\.item)
            changes.since = .init(added: since.filter { !known.contain($0) }, changed: since.filter(known.contain))
        }
        self.changes = changes
    }

    /// True if the copy holds what the keychain holds; rows that are no valid items count, too.
    var isNone: Bool { versions == old.versions }

    /// Checks that what was listed, and perhaps confirmed, is still what is removed or set back.
    ///
    /// - Throws: `KeychainStoreError` (`busy` if it is not).
    func requireCurrent(_ writer: KeychainWriter) throws(KeychainStoreError) {
        guard try writer.versionedItems(since: old, of: copy).versions == versions else { throw .busy }
    }
}

/// Tells whether an item is one of others: a restore gives a replaced item the UUID of the archive's, so it is one that
/// has its UUID, or its class and unique key.
private struct KnownItems {
    private let uuids: Set<ItemUUID>
    private let keys: Set<Key>

    init(_ items: [Item]) {
        uuids = Set(items.map(\.uuid))
        keys = Set(items.map(Key.init))
    }

    func contain(_ item: Item) -> Bool { uuids.contains(item.uuid) || keys.contains(Key(item)) }

    private struct Key: Hashable {
        let itemClass: ItemClass
        let values: [AttributeValue?]

        init(_ item: Item) {
            itemClass = item.itemClass
            values = item.itemClass.uniqueKey.map { item.attributes[$0] ?? Item.keyDefault($0) }
        }
    }
}
