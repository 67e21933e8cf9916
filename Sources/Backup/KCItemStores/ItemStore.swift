package import KCByteStreams
package import KCKeychainModel
package import KCSecretService

/// Holds the items that a user works on: a keychain, or the desktop keyring.
///
/// A command opens the store that the user means and works through this protocol; it does not know which one it has.
/// What a store cannot hold, it refuses itself.
///
/// ```swift
/// let found = try store.find(filter)
/// try store.open(Set(found.items.map(\.accessibility)))
/// for item in found.items { print(item, try store.secret(of: item)) }
/// ```
package protocol ItemStore {
    /// The items that pass `filter`, in archive order; attributes only.
    func find(_ filter: ItemFilter) throws -> FoundItems

    /// Visits the items that pass `filter`, in archive order, without keeping them in memory where there may be many.
    ///
    /// - Parameters:
    ///   - first: receives every item before `body` receives the first one, for example to measure a table.
    /// - Returns: what the store has and cannot show.
    func walk(
        _ filter: ItemFilter, first: (Item) throws -> Void, _ body: (Item) throws -> Void
    ) throws -> Shortfall

    /// Makes the secrets of these accessibilities readable, for which the user may be asked; with nil, those that need no
    /// question.
    func open(_ needed: Set<Accessibility>?) throws

    /// The items whose seals do not prove their attributes, as far as there are keys: another program changed them, or
    /// the file is damaged.
    func brokenSeals(among items: [Item]) throws -> Set<ItemUUID>

    /// The same of all items that pass `filter`.
    func brokenSeals(_ filter: ItemFilter) throws -> Set<ItemUUID>

    /// The secret of an item that was found; nil if it has none.
    func secret(of item: Item) throws -> SecretBytes?

    /// Refuses a change of items that were found, before anything is asked.
    func requireFit(_ changes: AttributeChanges, of items: [Item]) throws

    /// Refuses a new item that the store cannot hold, before anything is asked.
    ///
    /// - Parameter given: the attributes that must be kept as they are.
    /// - Throws: `UnfitItem`.
    func requireFit(_ item: Item, given: [AttributeCode]) throws

    /// Adds an item.
    ///
    /// - Parameter keepsState: false to keep no state before the change.
    /// - Returns: the item as the store has it.
    /// - Throws: `KeychainStoreError.duplicateItem` if it could not be told from another one.
    func add(_ draft: ItemDraft, secret: borrowing SecretBytes?, now: Timestamp, keepsState: Bool) throws -> Item

    /// Changes items that were found, if they are still as they were.
    ///
    /// - Parameters:
    ///   - secret: the new secret of all of them; nil to leave their secrets as they are.
    ///   - keepsState: false to keep no state before the change.
    func update(
        _ items: [Item], _ changes: AttributeChanges, secret: borrowing SecretBytes?, now: Timestamp, keepsState: Bool
    ) throws -> UpdateReport

    /// Deletes items that were found, and rows that are no items if `filter` selects them.
    ///
    /// - Parameter keepsState: false to keep no state before the change.
    func delete(_ found: FoundItems, _ filter: ItemFilter, now: Timestamp, keepsState: Bool) throws
}

/// New values of attributes; nil removes one.
package typealias AttributeChanges = [AttributeCode: AttributeValue?]

/// Why a store cannot hold a new item.
package enum UnfitItem: Error {
    /// It has no items of its class.
    case itemClass
    /// It cannot keep the value of an attribute.
    case attribute(AttributeCode)
}

/// The items that a store has of those that were asked for.
package struct FoundItems {
    /// The items, in archive order.
    package let items: [Item]
    /// What the store has and cannot show.
    package let shortfall: Shortfall

    /// How many there are, with those that cannot be shown.
    package var isEmpty: Bool { items.isEmpty && shortfall.isNone }
}

/// What a store has and cannot show.
package struct Shortfall {
    /// How many rows of a keychain are no items.
    package var damaged = 0
    /// What the desktop keyring has and does not give.
    package var unreadable: [Unreadable] = []
    /// How many items end with the session of the desktop; they are no loss.
    package var ofSession = 0

    /// True if everything was shown.
    package var isNone: Bool { damaged == 0 && unreadable.isEmpty }
}

/// What became of items that were to be changed.
package struct UpdateReport {
    /// The items with their changes.
    package var changed: [Item] = []
    /// The items of which the store did not keep all of the change, as they were.
    package var unkept: [Item] = []
    /// How many items were bound to this device, and are not any longer.
    package var unbound = 0
    /// True if an item is bound to this device from now on, and the store cannot enforce it.
    package var marksOnly = false
}
