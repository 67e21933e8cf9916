internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// What bringing back a kept state does to the items of a keychain.
struct UndoPlan {
    /// The items of the keychain before.
    let before: ItemMatches
    /// The number of items after.
    let itemsAfter: Int
    /// The items that the state does not have.
    let vanishing: [Item]
    /// The items that only the state has.
    let returning: [Item]
    /// The items that differ in the state, as they are now.
    let changing: [Item]

    /// - Parameters:
    ///   - keychain: the keychain that is replaced.
    ///   - state: a copy of it from an earlier time.
    init(from keychain: Keychain, to state: Keychain) throws {
        before = try keychain.find(ItemQuery())
        let old = try state.find(ItemQuery()).items
        itemsAfter = try state.itemCount()
        let oldByUUID = Dictionary(old.map { ($0.uuid, $0) }, uniquingKeysWith: { first, _ in first })
        let now = Set(before.items.map(\.uuid))
        // A restore gives a replaced item the UUID of the archive's, so items are also matched by unique key.
        let oldKeys = Set(old.map(Key.init))
        let keysNow = Set(before.items.map(Key.init))
        vanishing = before.items.filter { oldByUUID[$0.uuid] == nil && !oldKeys.contains(Key($0)) }
        returning = old.filter { !now.contains($0.uuid) && !keysNow.contains(Key($0)) }
        changing = before.items.filter { item in
            if let former = oldByUUID[item.uuid] { return former != item }
            return oldKeys.contains(Key(item))
        }
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

    /// Lists the items that go, and with `--verbose` those that come back or change.
    ///
    /// - Parameter isDone: true if the state has been brought back.
    func tell(isDone: Bool, _ session: Session) {
        session.list(vanishing) { _, words in "\(isDone ? "removed" : "would be removed"): \(words)" }
        guard session.style.isVerbose else { return }
        session.list(returning) { _, words in "\(isDone ? "came back" : "would come back"): \(words)" }
        session.list(changing) { _, words in "\(isDone ? "changed back" : "would change back"): \(words)" }
    }

    /// The question to ask before items are removed; nil if none are.
    func question(_ state: KeptStates.State) -> String? {
        if vanishing.isEmpty { return nil }
        let time = state.before.map { "the state before '\($0.command)'" } ?? "the state of \(state.name)"
        let them = counted(vanishing.count, "item")
        return "Bring back \(time), without \(them) that \(vanishing.count == 1 ? "was" : "were") added since?"
    }
}
