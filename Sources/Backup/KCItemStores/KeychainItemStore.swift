package import KCBackupEngine
package import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCItemSources
package import KCKeychainModel
package import KCKeychainStore
internal import KCLocalKeychains

/// A keychain as a store of items, which gives its secrets when it is open.
package final class KeychainItemStore: ItemStore {
    private let keychain: Keychain
    private let states: any StateKeeping
    private let opening: (_ needed: NeededSecrets) throws -> any StoredItemSource
    private var opened: any StoredItemSource

    /// - Parameters:
    ///   - opening: makes keys available, and returns what all items are read from: the keychain, or the keychain as
    ///     opened with another key.
    package init(
        _ keychain: Keychain, states: any StateKeeping,
        opening: @escaping (_ needed: NeededSecrets) throws -> any StoredItemSource
    ) {
        self.keychain = keychain
        self.states = states
        self.opening = opening
        opened = keychain
    }

    package var identity: String { Hexadecimal.encode(keychain.storeID) }

    package func itemCount() throws -> Int { try keychain.itemCount() }

    package func state() throws -> StoreState? {
        let state = try keychain.state()
        return StoreState(digest: state.digest) { [keychain] in try keychain.isStill(state) }
    }

    package func open(_ needed: NeededSecrets) throws { opened = try opening(needed) }

    /// As they are in the keychain, which needs no key.
    package func stored(_ device: DeviceKey) throws -> any StoredItemSource { try opening(.withoutQuestion) }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try opened.visitItems(&visitor) }

    package func find(_ filter: ItemFilter) throws -> FoundItems {
        let matches = try keychain.find(ItemQuery(filter), where: filter.matches)
        return FoundItems(items: matches.items, shortfall: Shortfall(damaged: matches.damaged))
    }

    package func walk(
        _ filter: ItemFilter, first: (_ item: Item, _ isBroken: Bool) throws -> Void, unless isComplete: () -> Bool,
        _ body: (Item) throws -> Void
    ) throws -> Shortfall {
        Shortfall(
            damaged: try keychain.walk(
                ItemQuery(filter), where: filter.matches, checksSeals: true, first: first, unless: isComplete,
                body))
    }

    package func list(_ filter: ItemFilter, withSecrets: Bool, in log: ItemLog) throws -> Shortfall {
        var broken: Set<ItemUUID> = []
        return try walk(filter) { item, isBroken in
            if isBroken { broken.insert(item.uuid) }
            if !withSecrets { try log.add(item, number: (isBroken ? ListedSeal.broken : .whole).rawValue) }
        } unless: {
            !withSecrets
        } _: { item in
            if broken.contains(item.uuid) {
                try log.add(item, number: ListedSeal.broken.rawValue)
            } else if let secret = try keychain.secret(of: item) {
                try log.add(item, number: ListedSeal.whole.rawValue, secret: secret)
            } else {
                try log.add(item)
            }
        }
    }

    package func brokenSeals(among items: [Item]) throws -> Set<ItemUUID> {
        try keychain.read { reader in
            var broken: Set<ItemUUID> = []
            for item in items where keychain.canOpen(item.protection) {
                do throws(KeychainStoreError) {
                    if try !reader.isWhole(item) { broken.insert(item.uuid) }
                } catch .itemNotFound {
                    // Another process has deleted it since.
                }
            }
            return broken
        }
    }

    package func secret(of item: Item) throws -> SecretBytes? { try keychain.secret(of: item) }

    /// Does nothing: the keychain checks a change when it is made, in a transaction.
    package func requireFit(_ changes: AttributeChanges, of items: [Item]) {}

    /// Does nothing: a keychain holds every item.
    package func requireFit(_ item: Item, given: [AttributeCode]) {}

    package func add(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, now: Timestamp, keepsState: Bool
    ) throws -> Item {
        try change(.itemAdd, keepsState) { writer in try writer.add(draft, secret: secret, now: now) }
    }

    package func update(
        _ items: [Item], _ changes: AttributeChanges, secret: borrowing SecretBytes?, now: Timestamp, keepsState: Bool
    ) throws -> UpdateReport {
        var report = try change(.itemUpdate, keepsState) { writer in
            // Exactly the items that were found, which the user may have confirmed.
            let changed = try items.flatMap { item in
                let changed = try writer.update(matching: ItemQuery(item), set: changes, secret: secret, now: now)
                // An item that another program made synchronizable in name only may still be changed in other ways.
                if !item.isSynchronizableInNameOnly { for item in changed { try item.requireMeaningfulFlag() } }
                return changed
            }
            let unbound = zip(items, changed).count {
                $0.accessibility.isThisDeviceOnly && !$1.accessibility.isThisDeviceOnly
            }
            let unasking = zip(items, changed).count { $0.constraint != nil && $1.constraint == nil }
            return UpdateReport(changed: changed, unbound: unbound, unasking: unasking)
        }
        if zip(items, report.changed).contains(where: { $0.constraint == nil && $1.constraint != nil }) {
            report.removedStates = states.removeAll()
        }
        return report
    }

    package func countOfStates() throws -> Int { try states.count() }

    package func delete(_ found: FoundItems, _ filter: ItemFilter, now: Timestamp, keepsState: Bool) throws {
        try change(.itemDelete, keepsState) { writer in
            for item in found.items { _ = try writer.delete(matching: ItemQuery(item), now: now) }
            // Rows that are no items have no identity of their own.
            if found.shortfall.damaged > 0 { _ = try writer.delete(matching: ItemQuery(filter), now: now) }
        }
    }

    /// Changes items in one transaction.
    private func change<Result>(
        _ command: KeptStates.Change, _ keepsState: Bool, _ body: (KeychainWriter) throws -> Result
    ) throws -> Result {
        try states.keeping(before: command, isKept: keepsState) { keep in
            try keychain.write { writer in
                try keep()
                return try body(writer)
            }
        }
    }
}

extension ItemQuery {
    /// The conditions of a filter that a keychain can look for; the filter itself has the others.
    fileprivate init(_ filter: ItemFilter) {
        self.init(
            itemClass: filter.itemClass, uuid: filter.uuid, attributes: filter.attributes,
            synchronizable: filter.isSynchronizable ? .yes : .any)
    }
}
