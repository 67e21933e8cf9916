internal import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
package import KCItemSources
package import KCKeychainModel

/// The items of an archive that a restore on this device would bring back, to be read without a keychain.
///
/// Items that the rules leave behind are not in the store, and no key is asked for before a secret is wanted.
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
    /// The items that no restore would write, whatever their secrets are.
    private var unwritable: Set<ItemUUID> = []

    /// - Parameters:
    ///   - identity: the ID of the archive.
    ///   - step: called for each item that is read.
    ///   - openSecrets: makes the secrets of an unencrypted archive readable; called at most once for each `open`.
    /// - Throws: `RestoreRefusal`, if the archive may not be restored here.
    package init(
        _ proven: ProvenArchive, _ options: RestoreOptions, identity: String, step: @escaping () -> Void,
        openSecrets: @escaping () throws -> Void
    ) throws {
        _ = try Bring(.archive(proven), options: options)
        self.proven = proven
        self.options = options
        self.identity = identity
        self.step = step
        self.openSecrets = openSecrets
    }

    package func itemCount() throws -> Int {
        var count = 0
        _ = try Bring(.archive(proven), options: options).survey(step: step) { _ in count += 1 }
        return count
    }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        _ = try Bring(.archive(proven), options: options).visit(&visitor, step: step)
    }

    package func open(_ needed: NeededSecrets) throws { if needed != .withoutQuestion { try openSecrets() } }

    package func list(_ filter: ItemFilter, withSecrets: Bool, in log: ItemLog) throws -> Shortfall {
        var options = options
        options.filter = filter
        let backup = try Bring(.archive(proven), options: options)
        if withSecrets {
            var visitor = ItemLogger(filter, withSecrets: true, log)
            let report = try backup.visit(&visitor, step: step)
            // A secret that does not open must not look like an item without one.
            for failing in report.failing where !unwritable.contains(failing.item.uuid) {
                try log.add(failing.item, number: ListedSeal.broken.rawValue)
            }
            return Shortfall(unread: unwritable.count + report.contents.damaged)
        }
        do {
            let report = try backup.survey(step: step) { try log.add($0) }
            stayingBehind = report.stayingBehind
            unreadCount = report.contents.damaged
            unwritable = Set(report.failing.map(\.item.uuid))
        } catch RestoreRefusal.nothingMatches {
            // The items that were searched for may be those that could not be read.
            unreadCount = try proven.survey(step: step) { _ in }.contents.damaged
        }
        return Shortfall(unread: unwritable.count + unreadCount)
    }
}
