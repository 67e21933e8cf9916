package import KCByteStreams
package import KCKeychainModel

/// Holds items that can be changed: a keychain, or the desktop keyring.
///
/// A command opens the store that the user means and works through this protocol; it does not know which one it has.
/// A store itself refuses what it cannot hold.
package protocol ItemStore: ReadableStore {
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

    /// The number of states before earlier changes, which may have what is deleted.
    func countOfStates() throws -> Int

    /// Deletes items that were found, and rows that are no items if `filter` selects them.
    ///
    /// - Parameter keepsState: false to keep no state before the change.
    func delete(_ found: FoundItems, _ filter: ItemFilter, now: Timestamp, keepsState: Bool) throws
}

/// New values of attributes; nil removes one.
package typealias AttributeChanges = [AttributeCode: AttributeValue?]

/// Why a store cannot hold a new item.
package enum UnfitItem: Error {
    /// The store has no items of its class.
    case itemClass
    /// The store cannot keep the value of an attribute.
    case attribute(AttributeCode)
}

/// The result of a change of items.
package struct UpdateReport {
    /// The items with their changes.
    package var changed: [Item] = []
    /// The items of which the store did not keep all of the change, as they were.
    package var unkept: [Item] = []
    /// How many items were bound to this device, and are not any longer.
    package var unbound = 0
    /// How many items asked for the passcode each time, and do not any longer.
    package var unasking = 0
    /// How many earlier states were removed, since the secrets of items that ask from now on could be read there.
    package var removedStates = 0
    /// True if an item is bound to this device from now on, and the store cannot enforce it.
    package var marksOnly = false
}
