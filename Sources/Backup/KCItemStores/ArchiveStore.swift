internal import KCBackupArchive
package import KCBackupEngine
package import KCByteStreams
package import KCKeychainModel
internal import KCKeychainStore

/// The items of an archive that a restore on this device would bring back, to be read without a keychain.
///
/// What the rules leave behind is no item of the store, and no key is asked for before a secret is wanted.
package final class ArchiveStore: ReadableStore {
    package let identity: String
    /// The items that were searched for, and that a restore would leave behind.
    package private(set) var stayingBehind: [(item: Item, reason: Verdict.Reason)] = []
    /// The number of items that could not be read when the archive was made, and are not in it.
    package private(set) var unreadCount = 0
    private let proven: ProvenArchive
    private let options: RestoreOptions
    private let openSecrets: () throws -> Void
    private let step: () -> Void
    private var found: Set<ItemUUID> = []
    private var secrets: [ItemUUID: KeptBytes] = [:]
    /// Known once the secrets have been read.
    private var broken: Set<ItemUUID> = []

    /// - Parameters:
    ///   - identity: the ID of the archive.
    ///   - step: called for each item that is read.
    ///   - openSecrets: makes the secrets of an unencrypted archive readable; called at most once for each `open`.
    /// - Throws: `RestoreRefusal`, if the archive may not be restored here.
    package init(
        _ proven: ProvenArchive, _ options: RestoreOptions, identity: String, step: @escaping () -> Void,
        openSecrets: @escaping () throws -> Void
    ) throws {
        _ = try RestoreBackup(proven, options: options)
        self.proven = proven
        self.options = options
        self.identity = identity
        self.step = step
        self.openSecrets = openSecrets
    }

    package func itemCount() throws -> Int { try survey(nil)?.items.count ?? 0 }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        _ = try RestoreBackup(proven, options: options).visit(&visitor, step: step)
    }

    package func find(_ filter: ItemFilter) throws -> FoundItems {
        guard let (items, report) = try survey(filter) else {
            return FoundItems(items: [], shortfall: Shortfall(unread: unreadCount))
        }
        found = Set(items.map(\.uuid))
        return FoundItems(items: items, shortfall: Shortfall(unread: report.failing.count + unreadCount))
    }

    /// Reads the secrets of the items that were found, in one pass.
    package func open(_ needed: NeededSecrets) throws {
        guard needed != .withoutQuestion, !found.isEmpty else { return }
        try openSecrets()
        var visitor = FoundSecrets(found)
        let report = try RestoreBackup(proven, options: options).visit(&visitor, step: step)
        secrets = visitor.secrets
        broken = Set(report.failing.map(\.item.uuid))
    }

    package func brokenSeals(among items: [Item]) -> Set<ItemUUID> { broken.intersection(items.map(\.uuid)) }

    package func secret(of item: Item) throws -> SecretBytes? {
        // A secret that does not open must not look like an item without one.
        if broken.contains(item.uuid) { throw KeychainStoreError.itemDamaged(item.uuid) }
        return secrets[item.uuid]?.bytes.copy()
    }

    /// - Returns: nil if nothing matches.
    private func survey(_ filter: ItemFilter?) throws -> (items: [Item], report: RestoreReport)? {
        var options = options
        options.filter = filter
        do {
            let surveyed = try RestoreBackup(proven, options: options).survey(step: step)
            stayingBehind = surveyed.report.stayingBehind
            unreadCount = surveyed.report.contents.damaged
            return surveyed
        } catch RestoreRefusal.nothingMatches {
            // What was searched for may be what could not be read.
            unreadCount = try proven.survey(step: step) { _ in }.contents.damaged
            return nil
        }
    }
}

/// A secret that several hold.
private final class KeptBytes {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }
}

/// Takes the secrets of items.
private struct FoundSecrets: ItemVisitor {
    private let wanted: Set<ItemUUID>
    private(set) var secrets: [ItemUUID: KeptBytes] = [:]

    init(_ wanted: Set<ItemUUID>) {
        self.wanted = wanted
    }

    func wants(_ item: Item) -> Bool { item.secretSize != nil && wanted.contains(item.uuid) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        secrets[item.uuid] = KeptBytes(secret.copy())
    }

    func skip(damaged item: Item?) {}
}
