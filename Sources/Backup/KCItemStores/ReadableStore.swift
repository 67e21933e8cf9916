package import KCBackupEngine
package import KCByteStreams
package import KCDeviceIdentity
package import KCItemSources
internal import KCKeychainKeys
package import KCKeychainModel
internal import KCKeychainStore

/// Holds items that can be read: a keychain, the desktop keyring, a file.
///
/// A list, a backup, an export and a comparison read it in the same way; they do not know which one it is. A kind of
/// store provides its items and their number, and overrides what it can do better than by a visit of all of them.
///
/// ```swift
/// let found = try store.find(filter)
/// try store.open(.of(Set(found.items.map(\.protection))))
/// for item in found.items { print(item, try store.secret(of: item)) }
/// ```
package protocol ReadableStore: ItemSource {
    /// The text that tells the store from others of the same name.
    var identity: String { get }

    /// The items that could not be read, and were named when the store was read; a visit reports as many as unreadable.
    var unread: UnreadItems { get throws }

    /// The number of items.
    func itemCount() throws -> Int

    /// The state that the store is in; nil if only its items can tell whether anything has changed.
    func state() throws -> StoreState?

    /// Makes secrets readable, for which the user may be asked.
    func open(_ needed: NeededSecrets) throws

    /// Makes the form in which the store holds items, for comparisons: nil for an item that has no place there. Nil if it
    /// holds all items as they are.
    func form() throws -> ((Item) -> Item?)?

    /// The same items with their secrets as this device stores them, for an unencrypted archive.
    func stored(_ device: DeviceKey) throws -> any StoredItemSource

    /// The items that pass `filter`, in archive order; attributes only.
    func find(_ filter: ItemFilter) throws -> FoundItems

    /// Visits the items that pass `filter`, in archive order, without keeping them in memory where there may be many.
    ///
    /// - Parameters:
    ///   - first: receives every item before `body` receives the first one, for example to measure a table, and whether
    ///     its seal does not prove its attributes (see `brokenSeals`).
    ///   - isComplete: called after that; true if `body` need not be called.
    /// - Returns: what the store has and cannot show.
    func walk(
        _ filter: ItemFilter, first: (_ item: Item, _ isBroken: Bool) throws -> Void, unless isComplete: () -> Bool,
        _ body: (Item) throws -> Void
    ) throws -> Shortfall

    /// Adds the items that pass `filter` to a log, each with the number of its `ListedSeal`.
    ///
    /// - Parameter withSecrets: true to add their secrets too, after `open`; an item that is broken has none.
    /// - Returns: what the store has and cannot show.
    func list(_ filter: ItemFilter, withSecrets: Bool, in log: ItemLog) throws -> Shortfall

    /// The items whose seals do not prove their attributes, as far as there are keys: another program changed them, or
    /// the file is damaged.
    func brokenSeals(among items: [Item]) throws -> Set<ItemUUID>

    /// The secret of an item that was found; nil if it has none.
    ///
    /// - Throws: `KeychainStoreError.itemDamaged` if it cannot be read, and the errors of reading the store.
    func secret(of item: Item) throws -> SecretBytes?
}

extension ReadableStore {
    package var unread: UnreadItems { UnreadItems() }

    package func form() throws -> ((Item) -> Item?)? { nil }

    package func state() throws -> StoreState? { nil }

    /// Does nothing: what was read has its secrets.
    package func open(_ needed: NeededSecrets) {}

    /// Seals the secrets under keys of the device.
    package func stored(_ device: DeviceKey) throws -> any StoredItemSource { SealedSource(self, deviceKey: device) }

    package func find(_ filter: ItemFilter) throws -> FoundItems {
        var visitor = MatchingItems(filter)
        try visitItems(&visitor)
        return FoundItems(items: visitor.items, shortfall: Shortfall(unread: try unread.count))
    }

    package func walk(
        _ filter: ItemFilter, first: (_ item: Item, _ isBroken: Bool) throws -> Void, unless isComplete: () -> Bool,
        _ body: (Item) throws -> Void
    ) throws -> Shortfall {
        let found = try find(filter)
        for item in found.items { try first(item, false) }
        if !isComplete() { try found.items.forEach(body) }
        return found.shortfall
    }

    package func list(_ filter: ItemFilter, withSecrets: Bool, in log: ItemLog) throws -> Shortfall {
        var visitor = ItemLogger(filter, withSecrets: withSecrets, log)
        try visitItems(&visitor)
        return Shortfall(unread: try unread.count)
    }

    /// None: there are no seals.
    package func brokenSeals(among items: [Item]) throws -> Set<ItemUUID> { [] }

    package func secret(of item: Item) throws -> SecretBytes? {
        var visitor = SecretVisitor(of: item)
        try visitItems(&visitor)
        return visitor.secret.take()
    }
}

/// The state of the seal of an item that was listed.
package enum ListedSeal: Int {
    /// The seal fits, or there is no key to check it with.
    case whole
    /// The seal does not prove the attributes; see `ReadableStore.brokenSeals`.
    case broken
}

/// Adds the items that pass a filter to a log.
struct ItemLogger: ItemVisitor {
    private let filter: ItemFilter
    private let withSecrets: Bool
    private let log: ItemLog

    init(_ filter: ItemFilter, withSecrets: Bool, _ log: ItemLog) {
        self.filter = filter
        self.withSecrets = withSecrets
        self.log = log
    }

    func wants(_ item: Item) throws -> Bool {
        guard filter.matches(item) else { return false }
        if withSecrets, item.secretSize != nil { return true }
        try log.add(item)
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        try log.add(item, number: ListedSeal.whole.rawValue, secret: secret)
    }

    func skip(damaged item: Item?) throws {
        if let item, filter.matches(item) { try log.add(item, number: ListedSeal.broken.rawValue) }
    }
}

/// Which secrets a command is about to read.
package enum NeededSecrets: Hashable, Sendable {
    /// The secrets that are readable without a question to the user.
    case withoutQuestion
    /// The secrets of items with these protections.
    case of(Set<Protection>)
    /// The secrets of all items.
    case all
}

/// Items that a source has and does not give.
package struct UnreadItems: Sendable {
    /// How many there are, at least.
    package var count = 0
    /// The names of those that have one; foreign text.
    package var names: [String] = []
    /// How many of them stay in their place by a rule.
    package var left = 0
    /// The labels of the collections that are locked.
    package var lockedCollections: [String] = []

    package init() {}
}

/// The items that a store has of those that were asked for.
package struct FoundItems {
    /// The items, in archive order.
    package let items: [Item]
    /// The counts of what the store has and cannot show.
    package let shortfall: Shortfall

    /// True if none was found, nor could be among those that cannot be shown.
    package var isEmpty: Bool { items.isEmpty && shortfall.isNone }
}

/// How much a store has and cannot show.
package struct Shortfall {
    /// How many rows of a keychain are no items.
    package var damaged = 0
    /// How many items could not be read, and were named then.
    package var unread = 0

    /// True if everything was shown.
    package var isNone: Bool { damaged == 0 && unread == 0 }
}

/// Takes the secret of one item.
private final class SecretVisitor: ItemVisitor {
    private let uuid: ItemUUID
    var secret: SecretBytes?

    init(of item: Item) { uuid = item.uuid }

    func wants(_ item: Item) -> Bool { item.uuid == uuid && item.secretSize != nil }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) { self.secret = secret.copy() }

    func skip(damaged item: Item?) throws(KeychainStoreError) {
        if item?.uuid == uuid { throw .itemDamaged(uuid) }
    }
}
