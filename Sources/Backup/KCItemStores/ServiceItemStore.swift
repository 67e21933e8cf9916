package import KCByteStreams
package import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
package import KCSecretService

/// The desktop keyring, or one of its collections, as a store of items.
///
/// Commands work on the contents that were read first; a change is refused if the keyring was changed since.
package final class ServiceItemStore: ItemStore {
    package let identity: String
    private let client: SecretServiceClient
    private let scope: ServiceScope
    private let states: any StateKeeping
    private let read: () throws -> ServiceSource
    private var contents: ServiceSource?

    /// - Parameters:
    ///   - client: of a service whose collections have been unlocked.
    ///   - read: reads the items, and says what it leaves out.
    package init(
        _ client: SecretServiceClient, _ scope: ServiceScope, identity: String, states: any StateKeeping,
        read: @escaping () throws -> ServiceSource
    ) {
        self.identity = identity
        self.client = client
        self.scope = scope
        self.states = states
        self.read = read
    }

    /// Returns the contents of the keyring, which are read once.
    package func source() throws -> ServiceSource {
        if let contents { return contents }
        let contents = try read()
        self.contents = contents
        return contents
    }

    package var unread: UnreadItems {
        get throws {
            let source = try source()
            var unread = UnreadItems()
            unread.count = source.unreadableCount
            unread.names = source.unreadableLabels
            unread.lockedCollections = source.lockedCollections
            return unread
        }
    }

    package func itemCount() throws -> Int { try source().count }

    package func form() throws -> ((Item) -> Item?)? { client.form(in: try source(), scope).form }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try source().visitItems(&visitor) }

    /// Refuses attributes that the service cannot hold, and those that would make an item equal to another one of its
    /// collection: programs could not tell them apart.
    ///
    /// - Throws: `UnmappedAttribute`, `ItemProblem`, `KeychainStoreError.duplicateItem`.
    package func requireFit(_ changes: AttributeChanges, of items: [Item]) throws {
        let chosen = Set(items.map(\.uuid))
        let others = try find(ItemFilter()).items.filter { !chosen.contains($0.uuid) }
        let taken = Set(others.map { ServiceChanges(of: $0).key })
        var origins: [[UInt8]: [UInt8]] = [:]
        for item in items {
            let after = try changed(item, changes)
            try after.check()
            let (old, new) = (ServiceChanges(of: item).key, after.key)
            // Items that are equal already stay so.
            if let other = origins.updateValue(old, forKey: new), other != old {
                throw KeychainStoreError.duplicateItem
            }
            if new != old, taken.contains(new) { throw KeychainStoreError.duplicateItem }
        }
    }

    /// Refuses certificates and keys, attributes that the service cannot hold, and a binding to the passcode.
    package func requireFit(_ item: Item, given: [AttributeCode]) throws {
        if ServiceMapping.serviceItem(of: item) == nil { throw UnfitItem.itemClass }
        if case .stays(let reason) = Passage.decide(item, from: .itemList, to: .desktopKeyring) {
            throw UnfitItem.attribute(reason == .asksForPasscode ? .accc : .pdmn)
        }
        if let code = ServiceMapping.unmappedAttributes(item).first(where: given.contains) {
            throw UnfitItem.attribute(code)
        }
    }

    package func add(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, now: Timestamp, keepsState: Bool
    ) throws -> Item {
        let value =
            switch secret {
            case .some(let secret): secret.copy()
            case .none: SecretBytes(capacity: 0)
            }
        let item = try draft.completed(now: now, secretSize: value.count)
        contents = nil
        let added = try states.keeping(before: .itemAdd, isKept: keepsState) { keep in
            try target(keep).add(item, secret: value)
        }
        guard let added else { throw KeychainStoreError.duplicateItem }
        return added
    }

    /// Changes items in place, and reads them again to see what the service kept.
    ///
    /// - Throws: as `ServiceTarget.change`.
    package func update(
        _ items: [Item], _ changes: AttributeChanges, secret: borrowing SecretBytes?, now: Timestamp, keepsState: Bool
    ) throws -> UpdateReport {
        let updates = try items.map { (before: $0, after: try changed($0, changes)) }
        let results = try states.keeping(before: .itemUpdate, isKept: keepsState) { keep in
            try target(keep).change(updates, secret: secret)
        }
        var report = UpdateReport()
        for (before, after) in zip(items, results) {
            if let after { report.changed.append(after) } else { report.unkept.append(before) }
        }
        report.unbound = updates.count { $0.before.accessibility.isThisDeviceOnly && !$0.after.isMarkedAsBound }
        report.marksOnly = updates.contains { $0.after.isMarkedAsBound && !$0.before.accessibility.isThisDeviceOnly }
        return report
    }

    package func countOfStates() throws -> Int { try states.count() }

    package func delete(_ found: FoundItems, _ filter: ItemFilter, now: Timestamp, keepsState: Bool) throws {
        try states.keeping(before: .itemDelete, isKept: keepsState) { keep in
            try target(keep).delete(found.items)
        }
    }

    private func target(_ keep: @escaping () throws -> Void) -> ServiceTarget {
        var options = ServiceTarget.Options(scope: scope, making: .refused)
        options.willWrite = { _ in try keep() }
        return ServiceTarget(client, options)
    }

    private func changed(_ item: Item, _ changes: AttributeChanges) throws(UnmappedAttribute) -> ServiceChanges {
        var changed = ServiceChanges(of: item)
        for (code, value) in changes.sorted(by: { $0.key.code < $1.key.code }) { try changed.set(code, to: value) }
        return changed
    }
}
