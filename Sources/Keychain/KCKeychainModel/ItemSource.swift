package import KCByteStreams

/// Provides the items of a backup.
package protocol ItemSource {
    /// Visits every item in archive order (class, then unique key by bytes) as one consistent snapshot, with decrypted
    /// secrets.
    ///
    /// `visitor` decides for each item whether it needs the secret. An error thrown by the visitor ends the visit and
    /// is rethrown unchanged.
    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws
}

/// A source that can also provide secrets in their stored form, which needs no key.
package protocol StoredItemSource: ItemSource {
    /// Visits every item like `visitItems`, with secrets in their stored form.
    ///
    /// - Parameter begin: creates the visitor for the keychain in the snapshot that is being visited.
    /// - Returns: the visitor after its last item.
    func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor

    /// True if there is a key for items of an accessibility; a visit of stored items then detects broken seals.
    func canOpen(_ protection: Protection) -> Bool
}

/// The facts that an unencrypted archive records about the keychain whose stored secrets it contains.
package struct StoredKeychain: Hashable, Sendable {
    /// 16 bytes that identify the keychain file.
    package let storeID: [UInt8]
    /// The wrapped class keys, as canonical JSON.
    package let keybag: String

    /// Creates a description of a keychain.
    package init(storeID: [UInt8], keybag: String) {
        self.storeID = storeID
        self.keybag = keybag
    }
}

/// The form in which a visitor receives secrets.
package enum SecretForm: Hashable, Sendable {
    /// Decrypted; the source must be unlocked.
    case plain
    /// As the source stores them; no key is needed.
    case stored
}

/// Receives the items of a source.
package protocol ItemVisitor {
    /// Whether the secret of `item` is needed; other items are not opened.
    mutating func wants(_ item: Item) throws -> Bool

    /// Receives an item that was selected, its metadata line and its secret.
    ///
    /// The line and the secret are valid only during the call. A plain secret is empty if `item.secretSize` is nil.
    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws

    /// Reports an unreadable item: its row is not a valid item (nil), or its secret does not open.
    mutating func skip(damaged item: Item?) throws
}

/// A target that restored items are written to: a keychain file, or the keyring of a desktop.
package protocol ItemTarget {
    /// Runs `body` against one consistent state of the target.
    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result

    /// Runs `body` in one transaction: everything becomes durable if `body` returns, nothing if it throws.
    ///
    /// The error of a target without transactions says how much was written.
    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result
}

/// The local items (`Item.isLocal`) that a replacing restore removes.
package enum LocalItems: Hashable, Sendable {
    /// The items that archives hold: all except WhenPasscodeSetThisDeviceOnly items, which no archive could bring back.
    case archived
    case all

    /// True if `item` is one of these.
    package func includes(_ item: Item) -> Bool {
        item.isLocal && (self == .all || Travel(item.accessibility) != .nowhere)
    }
}

/// Why a target cannot hold an item.
package enum ItemObstacle: Hashable, Sendable {
    /// Its accessibility needs a passcode, and the target has none.
    case noPasscode
    /// The target has no items of its class.
    case noPlace
    /// The item is no file that may be written into a home.
    case notAHomeFile
    /// Where it goes, or on the way there, is something that is not written over.
    case inTheWay
    /// The user may not read or write there.
    case notPermitted
}

/// Looks up existing items.
package protocol ExistingItems {
    /// True if there is no live item.
    var isEmpty: Bool { get throws }

    /// Checks that an item that is found by its unique key would be found by its UUID too.
    func requireSound() throws

    /// True if all items of a restore must be announced before anything is asked about one of them.
    var needsAnnouncements: Bool { get }

    /// Announces an item of a restore; called for all of them, in archive order, if `needsAnnouncements`.
    ///
    /// - Parameter hasSecret: false if the secret is not available.
    func announce(_ item: Item, secret: borrowing SecretBytes, hasSecret: Bool) throws

    /// The live item with the unique key of `item`, or nil; a tombstone does not count.
    func item(withKeyOf item: Item) throws -> Item?

    /// The live item with this UUID, or nil.
    func item(withUUID uuid: ItemUUID) throws -> Item?

    /// The live items of the class of `item` whose UUIDs differ from its UUID only in the ordinal, by ordinal.
    ///
    /// Includes the item with the same UUID; see `ItemUUID.ordinal`.
    func series(of item: Item) throws -> [Item]

    /// True if a live item of the class of `item` has a UUID that differs from its UUID only in the ordinal.
    func hasOthersInSeries(of item: Item) throws -> Bool

    /// True if a live item has a UUID that was derived from where it comes from; see `ItemUUID.isDerived`.
    var hasDerivedUUIDs: Bool { get throws }

    /// Calls `code` with the secret of a live item; returns nil, without the call, if its seal is broken.
    ///
    /// An absent secret is passed as an empty one.
    func code<Code>(ofSecretOf existing: Item, _ code: (borrowing SecretBytes) throws -> Code) throws -> Code?

    /// The kind of the target, for the rules about items that are bound to this device.
    var kind: Passage.Target { get }

    /// Why the target cannot hold items of this kind; nil if it can.
    func obstacle(to item: Item) -> ItemObstacle?

    /// Why an item that the target can hold cannot be written now, as far as that can be known before; nil if it can.
    ///
    /// Asked for an item that is to be written, since others need no right to write.
    func obstacle(toWriting item: Item) throws -> ItemObstacle?

    /// True if `existing` is the same as `item` as far as the target can hold it, ignoring secrets.
    ///
    /// Values that the target sets itself, such as its own dates, are ignored.
    func holds(_ item: Item, as existing: Item) -> Bool

    /// False if the secret of `existing` can be compared only by someone who gives a passcode for it.
    func canCompare(_ existing: Item) -> Bool

    /// True if the stored secret of `existing` equals `secret`; both count as absent if their item's `secretSize` is
    /// nil.
    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) throws -> Bool

    /// Visits the live items that a replacing restore removes, in archive order.
    ///
    /// - Returns: the number of rows beside them that are no valid items; they are removed too.
    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) throws -> Int
}

/// Changes the target within a transaction.
package protocol ItemWriter: ExistingItems {
    /// Writes `item` with its dates and UUID, and its secret in `form`.
    ///
    /// A plain secret is ignored if `item.secretSize` is nil; a stored one is always written unchanged.
    ///
    /// A live item or tombstone with the same unique key is replaced, and so is `replacing` if given. The caller has
    /// checked that no other item has the UUID. `line` is the metadata line of `item`.
    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm,
        replacing: Item?) throws

    /// Removes live local items, and rows that are no valid items, and returns their number.
    ///
    /// - Parameter staying: items that are not removed.
    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) throws -> Int
}

extension ExistingItems {
    /// Does nothing, for a target without such indexes.
    package func requireSound() {}

    /// False, so that a target without this information is searched item by item.
    package var isEmpty: Bool { false }

    /// Nil, for a target that is written as a whole or not at all.
    package func obstacle(toWriting item: Item) -> ItemObstacle? { nil }

    /// False: unique keys and UUIDs tell all items apart.
    package var needsAnnouncements: Bool { false }

    /// Does nothing.
    package func announce(_ item: Item, secret: borrowing SecretBytes, hasSecret: Bool) {}

    /// Default: the item with the same UUID.
    package func series(of item: Item) throws -> [Item] {
        try self.item(withUUID: item.uuid).map { $0.itemClass == item.itemClass ? [$0] : [] } ?? []
    }

    /// Default: looks at the series.
    package func hasOthersInSeries(of item: Item) throws -> Bool {
        try series(of: item).contains { $0.uuid != item.uuid }
    }

    /// False, for a target that tells alike items apart itself.
    package var hasDerivedUUIDs: Bool { false }

    /// Nil: no secret can be compared.
    package func code<Code>(ofSecretOf existing: Item, _ code: (borrowing SecretBytes) throws -> Code) -> Code? { nil }

    /// A keychain.
    package var kind: Passage.Target { .keychain }

    /// Default: nil.
    package func obstacle(to item: Item) -> ItemObstacle? { nil }

    package func canCompare(_ existing: Item) -> Bool { true }

    /// Compares the items: a keychain stores an item unchanged.
    package func holds(_ item: Item, as existing: Item) -> Bool { existing == item }
}
