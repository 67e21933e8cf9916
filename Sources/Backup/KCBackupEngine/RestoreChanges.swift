package import KCKeychainModel

/// The items that a restore changes, or keeps although the archive's version differs.
///
/// An archive may have a million items, so only as many are held as will be shown.
package struct RestoreChanges {
    private var lists = (created: [Item](), replaced: [Item](), kept: [Item](), same: [Item]())
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
        case .create: if namesCreated { append(item, to: &lists.created) }
        case .update: append(item, to: &lists.replaced)
        case .keep: append(item, to: &lists.kept)
        case .same: if namesSame { append(item, to: &lists.same) }
        case .staysBehind, .fail, .notSelected: break
        }
    }

    private func append(_ item: Item, to list: inout [Item]) {
        if list.count < limit { list.append(isForNames ? item.shortened() : item) }
    }
}
