internal import KCBackupEngine
internal import KCKeychainModel

/// The items that a restore changes, or keeps although the archive's version differs.
///
/// An archive may have a million items, so only as many are held as will be shown.
struct RestoreChanges {
    private(set) var created: [Item] = []
    private(set) var replaced: [Item] = []
    private(set) var kept: [Item] = []
    private(set) var same: [Item] = []
    private let namesCreated: Bool
    private let namesSame: Bool
    private let limit: Int

    /// Creates empty lists.
    ///
    /// - Parameter namesAll: true if the items that are created without a loss, and those that are there already, are to
    ///   be named too.
    init(isDryRun: Bool, namesAll: Bool, in session: Session) {
        namesCreated = isDryRun || namesAll || session.style.isJSON
        namesSame = namesAll
        // One more shows that there are more.
        limit = namesAll || session.style.isJSON ? .max : ChangeList.limit + 1
    }

    /// Notes the decision about an item.
    mutating func add(_ item: Item, _ action: RestoreAction) {
        switch action {
        case .create: if namesCreated { append(item, to: &created) }
        case .update: append(item, to: &replaced)
        case .keep: append(item, to: &kept)
        case .same: if namesSame { append(item, to: &same) }
        case .staysBehind, .fail, .notSelected: break
        }
    }

    private func append(_ item: Item, to list: inout [Item]) {
        if list.count < limit { list.append(item) }
    }
}
