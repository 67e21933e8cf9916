package import KCItemSources
package import KCKeychainModel

/// Collects the items that a restore changes, or keeps although the archive's version differs.
///
/// An archive may have a million items, and large ones, so only as many are taken as will be shown, and few are in memory.
package final class RestoreChanges {
    /// The collected items.
    package struct Lists: Sendable {
        package let created: ListedItems
        package let replaced: ListedItems
        package let kept: ListedItems
        package let same: ListedItems

        package static let none = Lists(created: .none, replaced: .none, kept: .none, same: .none)
    }

    private let created: ItemLog
    private let replaced: ItemLog
    private let kept: ItemLog
    private let same: ItemLog
    private let namesCreated: Bool
    private let namesSame: Bool
    private let limit: Int
    private let isForNames: Bool

    /// Creates empty lists.
    ///
    /// - Parameters:
    ///   - namesCreated: true if the items that are created without a loss are to be named.
    ///   - namesSame: true if those that are there already are to be named.
    ///   - limit: how many items a list can have.
    ///   - isForNames: true if no more of the items is needed than their names.
    ///   - folder: where items wait that are too many or too large for the memory.
    package init(
        namesCreated: Bool, namesSame: Bool, limit: Int, isForNames: Bool = false, spoolingIn folder: String
    ) {
        created = ItemLog(spoolingIn: folder)
        replaced = ItemLog(spoolingIn: folder)
        kept = ItemLog(spoolingIn: folder)
        same = ItemLog(spoolingIn: folder)
        self.namesCreated = namesCreated
        self.namesSame = namesSame
        self.limit = limit
        self.isForNames = isForNames
    }

    /// Notes the decision about an item.
    ///
    /// - Throws: as `ItemLog.add`.
    package func add(_ item: Item, _ action: RestoreAction) throws {
        switch action {
        case .create: if namesCreated { try add(item, to: created) }
        case .update: try add(item, to: replaced)
        case .keep: try add(item, to: kept)
        case .same: if namesSame { try add(item, to: same) }
        case .staysBehind, .fail, .notSelected: break
        }
    }

    private func add(_ item: Item, to log: ItemLog) throws {
        if log.count < limit { try log.add(isForNames ? item.shortened() : item) }
    }

    /// The collected items, in archive order: records that depend on others are decided about last.
    ///
    /// - Throws: as `ItemLog.finish`.
    package func finish() throws -> Lists {
        Lists(
            created: try created.finish(), replaced: try replaced.finish(), kept: try kept.finish(),
            same: try same.finish())
    }
}
