package import ByteStreams

/// Where the items of a backup come from.
package protocol ItemSource {
    /// Visits every item in archive order (class, then unique key by bytes) as one consistent snapshot, with secrets in
    /// the clear.
    ///
    /// `visitor` says of each item whether it wants the secret, and gets it if so. An error that the visitor throws
    /// ends the visit and comes out unchanged.
    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws
}

/// A source that can also hand out secrets as it stores them, which takes no key.
package protocol StoredItemSource: ItemSource {
    /// Visits every item as `visitItems` does, with secrets in their stored form.
    ///
    /// - Parameter begin: makes the visitor, for the keychain as it is in the snapshot that is visited.
    /// - Returns: the visitor after its last item.
    func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor

    /// True when there is a key for items of an accessibility: a visit of stored items then notices broken seals.
    func canOpen(_ accessibility: Accessibility) -> Bool
}

/// What an unencrypted archive says of the keychain whose stored secrets it holds.
package struct StoredKeychain: Hashable, Sendable {
    /// 16 bytes that name the keychain file.
    package let storeID: [UInt8]
    /// The wrapped class keys, as canonical JSON.
    package let keybag: String

    /// Describes a keychain.
    package init(storeID: [UInt8], keybag: String) {
        self.storeID = storeID
        self.keybag = keybag
    }
}

/// In which form a visitor wants secrets.
package enum SecretForm: Hashable, Sendable {
    /// In the clear; the source must be unlocked.
    case plain
    /// As the source stores them; no key is needed.
    case stored
}

/// What is done with the items of a source.
package protocol ItemVisitor {
    /// Says whether the secret of `item` is wanted; items that are not wanted are not opened.
    mutating func wants(_ item: Item) throws -> Bool

    /// Takes an item that was wanted, its metadata line and its secret.
    ///
    /// Line and secret are lent for the time of the call. A plain secret is empty when `item.secretSize` is nil.
    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws

    /// Learns that an item cannot be read: its row makes no valid item (nil), or its secret does not open.
    mutating func skip(damaged item: Item?) throws
}

/// Where restored items go: a keychain file now, other keyrings later.
package protocol ItemTarget {
    /// Runs `body` against one unchanging state of the target.
    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result

    /// Runs `body` in one transaction: all of it becomes durable when `body` returns, nothing when it throws.
    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result
}

/// Looks up what is already there.
package protocol ExistingItems {
    /// True when there is no live item, so that there is nothing to look up.
    var isEmpty: Bool { get throws }

    /// The live item with the unique key of `item`, or nil; a tombstone does not count.
    func item(withKeyOf item: Item) throws -> Item?

    /// The live item with this UUID, or nil.
    func item(withUUID uuid: ItemUUID) throws -> Item?

    /// True when the stored secret of `existing` equals `secret`; both count as absent when their item's `secretSize` is nil.
    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) throws -> Bool

    /// Every live item that is not synchronizable, in archive order: what a replacing restore removes.
    func localItems(_ body: (Item) throws -> Void) throws
}

/// Changes the target within a transaction.
package protocol ItemWriter: ExistingItems {
    /// Writes `item`, dates and UUID as they are, with its secret in `form`.
    ///
    /// A plain secret is ignored when `item.secretSize` is nil; a stored one always goes in as it is.
    ///
    /// A live item or tombstone with the same unique key is replaced, and so is `replacing` where it is given. The
    /// caller has made sure that no third item has the UUID. `line` is the metadata line of `item`.
    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm,
        replacing: Item?) throws

    /// Removes every live item that is not synchronizable and returns how many there were.
    func removeLocalItems() throws -> Int
}

extension ExistingItems {
    /// A target that cannot tell is looked at item by item.
    package var isEmpty: Bool { false }
}
