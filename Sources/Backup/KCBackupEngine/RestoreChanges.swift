package import KCKeychainModel

/// The items that a restore changes, or keeps although the archive's version differs.
///
/// An archive may have a million items, so only as many are held as will be shown.
package struct RestoreChanges {
    private(set) var lists = (created: [Item](), replaced: [Item](), kept: [Item](), same: [Item]())
    private let namesCreated: Bool
    private let namesSame: Bool
    private let limit: Int
    private let isForNames: Bool

    package var created: [Item] { inOrder(lists.created) }
    package var replaced: [Item] { inOrder(lists.replaced) }
    package var kept: [Item] { inOrder(lists.kept) }
    package var same: [Item] { inOrder(lists.same) }

    // Records that depend on others are decided about last, and are shown where they belong.
    private func inOrder(_ list: [Item]) -> [Item] { list.sorted { $0.precedes($1) } }

    /// Creates empty lists.
    ///
    /// - Parameters:
    ///   - namesCreated: true if the items that are created without a loss are to be named.
    ///   - namesSame: true if those that are there already are to be named.
    ///   - limit: how many items a list can have.
    ///   - isForNames: true if no more of the items is needed than their names, so that large ones need little memory.
    package init(namesCreated: Bool, namesSame: Bool, limit: Int, isForNames: Bool = false) {
        self.namesCreated = namesCreated
        self.namesSame = namesSame
        self.limit = limit
        self.isForNames = isForNames
    }

    /// Notes the decision about an item.
    package mutating func add(_ item: Item, _ action: RestoreAction) {
        switch action {
        case .create: if namesCreated { Self.append(item, to: &lists.created, limit, isForNames: isForNames) }
        case .update: Self.append(item, to: &lists.replaced, limit, isForNames: isForNames)
        case .keep: Self.append(item, to: &lists.kept, limit, isForNames: isForNames)
        case .same: if namesSame { Self.append(item, to: &lists.same, limit, isForNames: isForNames) }
        case .staysBehind, .fail, .notSelected: break
        }
    }

    // Static: a method of a value holds it while it runs, and each list would be copied for each item.
    private static func append(_ item: Item, to list: inout [Item], _ limit: Int, isForNames: Bool) {
        if list.count < limit { list.append(isForNames ? item.shortened() : item) }
    }
}
