internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// What bringing back a kept state does to the items of a keychain.
struct UndoPlan {
    /// The rows of the keychain before, as compared with those of the state.
    let versions: Set<RowVersion>
    /// The rows of the state.
    let rowsAfter: VersionedItems
    /// The number of items after.
    let itemsAfter: Int
    /// The items that the state does not have.
    let vanishing: [Item]
    /// The items that only the state has.
    let returning: [Item]
    /// The items that differ in the state, as they are now.
    let changing: [Item]
    /// Those of `vanishing` that the undone command did not write.
    let addedSince: [Item]
    /// Those of `changing` that the undone command did not write, or that were changed again.
    let changedSince: [Item]

    /// - Parameters:
    ///   - keychain: the keychain that is replaced.
    ///   - state: a copy of it from an earlier time.
    ///   - written: the rows that the undone command wrote; nil if unknown, so that all differences count as made since.
    init(from keychain: Keychain, to state: Keychain, written: Set<RowVersion>?) throws {
        let old = try state.versionedItems()
        let now = try keychain.versionedItems(since: old, of: state)
        versions = now.versions
        rowsAfter = old
        itemsAfter = try state.itemCount()
        // A restore gives a replaced item the UUID of the archive's, so items are also matched by unique key.
        let oldUUIDs = Set(old.items.map(\.item.uuid))
        let oldKeys = Set(old.items.map { Key($0.item) })
        let uuidsNow = Set(now.items.map(\.item.uuid))
        let keysNow = Set(now.items.map { Key($0.item) })
        let differing = now.items.filter { !old.versions.contains($0.version) }
        let isOld = { (item: Item) in oldUUIDs.contains(item.uuid) || oldKeys.contains(Key(item)) }
        let since = differing.filter { written?.contains($0.version) != true }.map(\.item)
        vanishing = differing.map(\.item).filter { !isOld($0) }
        changing = differing.map(\.item).filter(isOld)
        addedSince = since.filter { !isOld($0) }
        changedSince = since.filter(isOld)
        returning = old.items.map(\.item).filter { !uuidsNow.contains($0.uuid) && !keysNow.contains(Key($0)) }
    }

    /// The class and unique key of an item.
    private struct Key: Hashable {
        let itemClass: ItemClass
        let values: [AttributeValue?]

        init(_ item: Item) {
            itemClass = item.itemClass
            values = item.itemClass.uniqueKey.map { item.attributes[$0] ?? Item.keyDefault($0) }
        }
    }

    /// Lists the items that go or change and that the undone command did not write, or all that go, change or come
    /// back.
    ///
    /// - Parameter isDone: true if the state has been brought back.
    func tell(isDone: Bool, all: Bool, in list: inout ChangeList) {
        let changedSince = Set(changedSince.map(\.uuid))
        list.add(all ? vanishing : addedSince) { _, words in
            "\(isDone ? "removed" : "would be removed"): \(words)"
        }
        let shown = all ? changing : self.changedSince
        list.add(shown) { index, words in
            let since = changedSince.contains(shown[index].uuid) ? " (changed here since)" : ""
            return "\(isDone ? "set back" : "would be set back"): \(words)\(since)"
        }
        guard all else { return }
        list.add(returning) { _, words in "\(isDone ? "came back" : "would come back"): \(words)" }
    }

    /// True if the state holds what the keychain holds now; rows that are no valid items count, too.
    var changesNothing: Bool { versions == rowsAfter.versions }

    /// The changes in words: "1 removed, 2 set back".
    var counts: String {
        [(vanishing.count, "removed"), (changing.count, "set back"), (returning.count, "brought back")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// The question to ask before anything is lost that was written after the undone command; nil if nothing is.
    ///
    /// - Parameter undone: what is taken back, after "Take back".
    func question(_ undone: String) -> String? {
        var losses: [String] = []
        if !addedSince.isEmpty {
            let (them, were) = Self.words(addedSince)
            losses.append("without \(them) that \(were) added since")
        }
        if !changedSince.isEmpty {
            let (them, were) = Self.words(changedSince)
            losses.append("setting back \(them) that \(were) changed since")
        }
        if losses.isEmpty { return nil }
        return "Take back \(undone), \(listed(losses))?"
    }

    private static func words(_ items: [Item]) -> (them: String, were: String) {
        (counted(items.count, "item"), items.count == 1 ? "was" : "were")
    }
}
