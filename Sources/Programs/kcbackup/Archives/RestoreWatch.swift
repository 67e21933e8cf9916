internal import KCBackupEngine
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel

/// Collects, while a restore plans, what its report names.
final class RestoreWatch {
    private let changes: RestoreChanges
    /// The items that change.
    private(set) var lists = RestoreChanges.Lists.none
    /// The attributes that the store does not hold of the items that it gets.
    private(set) var unmapped = UnmappedAttributes()
    /// The written credentials that only the machine that encrypted them can open.
    private(set) var bound: [Item] = []

    init(_ changes: RestoreChanges) {
        self.changes = changes
    }

    /// The observer of a restore into a store; `step` is called for each item.
    func observer(of place: any RestorableStore, _ step: @escaping () -> Void) -> RestoreObserver {
        var observer = RestoreObserver(step: step) { [self] item, action in
            try changes.add(item, action)
            guard action == .create || action == .update else { return }
            if let loss = place.loss(of: item) { unmapped.add(item, loss) }
            if HomeItem(item)?.key?.isBoundToMachine ?? false { bound.append(item) }
        }
        observer.planned = { [self] in lists = try changes.finish() }
        return observer
    }
}
