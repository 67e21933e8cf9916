internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
internal import KCKeychainModel

/// The decisions about all items of a restore, made from all records and the unchanged target.
///
/// A plan is made in the transaction in which it is applied, so it cannot be out of date.
struct RestorePlan {
    let report: RestoreReport
    let records: RestoreRecords
    let found: RestoreRecords.Found
    let actions: ActionList
    let places: AlikePlaces
    let replaced: LocalItems?
    /// The items that are not removed, since they are exactly as in the archive.
    let staying: Set<ItemUUID>

    /// Writes the planned items; if this throws, the transaction is rolled back.
    func apply(to writer: any ItemWriter, _ step: @escaping () -> Void) throws -> RestoreReport {
        if replaced == nil, !actions.writesAny { return report }
        if let replaced { _ = try writer.removeLocalItems(replaced, except: staying) }
        var visitor = ApplyingVisitor(actions, places, writer, form: records.form, step)
        try records.visitAgain(found, &visitor)
        // After a signal during the last items, the transaction must not be committed.
        if Interruption.isRequested { throw ArchiveFailure.stream(StreamFailure(.writing, .interrupted)) }
        return report
    }
}

/// Announces all items to a target that needs it.
struct AnnouncingVisitor: RecordVisitor {
    let existing: any ExistingItems

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        try existing.announce(item, secret: secret, hasSecret: state == .open || state == .absent)
    }
}

/// The pass that decides.
struct PlanningVisitor: RecordVisitor {
    private let rules: RestoreRules
    private let existing: any ExistingItems
    let places: AlikePlaces
    /// Whether the target is empty; planning writes nothing, so this does not change.
    private let isEmpty: Bool
    /// The items that will be written; recorded only if local items are removed first.
    private(set) var restored = RestoredItems()
    /// The items that stay as they are where the others are removed first.
    private(set) var staying: Set<ItemUUID> = []
    private let form: SecretForm
    private let observe: (Item, RestoreAction) throws -> Void
    private(set) var actions = ActionList()
    private(set) var stayingBehind: [(item: Item, reason: Verdict.Reason)] = []
    /// Items that are written without the constraint that the target's own have.
    private(set) var unasking: [Item] = []
    var failing: [(item: Item, problem: RestoreAction.Problem)] = []
    private(set) var notOpened = 0
    private(set) var crossings = Crossings()

    init(
        _ rules: RestoreRules, _ existing: any ExistingItems, _ places: AlikePlaces, form: SecretForm,
        observe: @escaping (Item, RestoreAction) throws -> Void
    ) throws {
        self.rules = rules
        self.existing = existing
        self.places = places
        isEmpty = try existing.isEmpty
        // An item that is found by its key is not looked for by its UUID.
        try existing.requireSound()
        self.form = form
        self.observe = observe
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        let (item, decision) = try decisionInPlace(about: item, secret: secret, state: state)
        switch decision {
        case .made(let action, let counterpart, let kept):
            // A target that removes what it is not told of must be told of items that stay as they are.
            actions.append(action, isWritten: action == .same && rules.replaced != nil && rules.replacesInPlace)
            if state == .stored, action != .notSelected { notOpened += 1 }
            try note(item, action, counterpart: counterpart, kept: kept)
        case .open:
            actions.appendOpen()
            if state == .stored { notOpened += 1 }
        }
    }

    /// Makes the decision that was left open about a record.
    mutating func settle(_ record: Item, _ action: RestoreAction, _ ordinal: Int) throws {
        let item = try record.placed(at: places.place(of: record.uuid))
        actions.settle(action, at: ordinal)
        let kept = action == .keep ? try existing.item(withUUID: item.uuid) ?? existing.item(withKeyOf: item) : nil
        try note(item, action, counterpart: nil, kept: kept)
    }

    private mutating func note(
        _ item: Item, _ action: RestoreAction, counterpart: Item?, kept: Item?
    ) throws {
        try observe(action == .keep ? kept ?? item : item, action)
        if action.writes, counterpart?.constraint != nil, item.constraint == nil { unasking.append(item) }
        if rules.replaced != nil, action.writes || action == .same {
            if action == .same, !rules.replacesInPlace { staying.insert(item.uuid) }
            // Where items with the same attributes are told apart by comparison, their own names say nothing.
            if let restored = existing.needsAnnouncements ? counterpart : item { self.restored.insert(restored) }
        }
        switch action {
        case .staysBehind(let reason): stayingBehind.append((item, reason))
        case .fail(let problem): failing.append((item, problem))
        case .create, .update, .same, .keep, .notSelected: break
        }
    }

    private enum Decision {
        /// The action for an item, its counterpart by unique key, and the version of it in the keychain.
        case made(RestoreAction, counterpart: Item? = nil, kept: Item? = nil)
        /// The decision depends on other records.
        case open
    }

    /// Returns the item under the identity that it has in the target, and the decision about it.
    private mutating func decisionInPlace(
        about item: Item, secret: borrowing SecretBytes, state: SecretState
    ) throws -> (item: Item, Decision) {
        guard rules.selects(item) else { return (item, .made(.notSelected)) }
        let place = places.place(of: item.uuid)
        let placed: Item
        do throws(ItemProblem) {
            placed = try item.placed(at: place)
        } catch {
            return (item, .made(.fail(.overLimit)))
        }
        let isNew = if case .new = place { true } else { false }
        return (placed, try decision(about: placed, isNew: isNew, secret: secret, state: state))
    }

    /// - Parameter isNew: true if it has an identity that no item of the keychain should have.
    private mutating func decision(
        about item: Item, isNew: Bool, secret: borrowing SecretBytes, state: SecretState
    ) throws -> Decision {
        // An item that another device sealed has a verdict of its own.
        if rules.verdict(item.sealingAccessibility, rules.mode, rules.isSameDevice) == .restores,
            let reason = rules.reason(against: item, in: existing.kind)
        {
            return .made(.staysBehind(reason))
        }
        if let obstacle = existing.obstacle(to: item) { return .made(.fail(RestoreAction.Problem(obstacle))) }
        let byKey = isEmpty ? nil : try existing.item(withKeyOf: item)
        let byUUID = isEmpty || byKey?.uuid == item.uuid ? byKey : try existing.item(withUUID: item.uuid)
        var problem: RestoreAction.Problem? =
            switch state {
            case .sealedElsewhere: .noKey
            case .broken: .broken
            case .absent, .open, .stored, .storedWhole, .notRead: nil
            }
        if isNew, byKey ?? byUUID != nil { problem = .identityTaken }
        let ordinal = actions.count
        if !existing.needsAnnouncements,
            rules.setsAside(item, byKey: byKey, byUUID: byUUID, problem: problem, ordinal: ordinal, &crossings)
        {
            return .open
        }
        let action = try rules.action(
            for: item, byKey: byKey, byUUID: byUUID, problem: problem, isProvedWhole: state != .stored,
            isHeld: { counterpart in existing.holds(item, as: counterpart) },
            hasSecret: { counterpart in
                if form == .plain, !existing.canCompare(counterpart) { return nil }
                return try existing.secret(of: counterpart, equals: secret, in: form)
            })
        if action.writes, let obstacle = try existing.obstacle(toWriting: item) {
            return .made(.fail(RestoreAction.Problem(obstacle)))
        }
        return .made(action, counterpart: byKey, kept: byKey ?? byUUID)
    }
}

/// The items that a restore writes, by UUID and by unique key.
///
/// Only hashes are kept, since an archive may have a million items. The hashes are seeded randomly, so that an archive
/// cannot contain items chosen to collide.
struct RestoredItems {
    private var hashes: Set<Int> = []

    mutating func insert(_ item: Item) {
        hashes.insert(item.uuid.hashValue)
        hashes.insert(Self.keyHash(item))
    }

    /// True if `item`, or an item with its UUID or unique key, was inserted.
    func contains(_ item: Item) -> Bool {
        hashes.contains(item.uuid.hashValue) || hashes.contains(Self.keyHash(item))
    }

    private static func keyHash(_ item: Item) -> Int {
        var hasher = Hasher()
        hasher.combine(item.itemClass)
        for code in item.itemClass.uniqueKey {
            let value = item.attributes[code] ?? Item.keyDefault(code)
            if let bytes = value.keyBytes { hasher.combine(bytes) } else { hasher.combine(value) }
        }
        return hasher.finalize()
    }
}

/// The pass that carries out the plan.
private struct ApplyingVisitor: RecordVisitor {
    private let actions: ActionList
    private let places: AlikePlaces
    private let writer: any ItemWriter
    private let form: SecretForm
    private let step: () -> Void
    private var ordinal = 0

    init(
        _ actions: ActionList, _ places: AlikePlaces, _ writer: any ItemWriter, form: SecretForm,
        _ step: @escaping () -> Void
    ) {
        self.actions = actions
        self.places = places
        self.writer = writer
        self.form = form
        self.step = step
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        defer { ordinal += 1 }
        step()
        guard actions.writes(ordinal) else { return }
        let placed = try item.placed(at: places.place(of: item.uuid))
        let replaced = actions.updates(ordinal) ? try self.replaced(by: placed) : nil
        if placed == item { return try writer.put(item, line: line, secret: secret, in: form, replacing: replaced) }
        var line = SecretBytes(capacity: 1_024)
        ItemLine.encode(placed, into: &line)
        try line.withBytes { line in
            try writer.put(placed, line: line, secret: secret, in: form, replacing: replaced)
        }
    }

    /// The item that is written over; `put` also replaces the one with the unique key.
    private func replaced(by item: Item) throws -> Item? {
        guard let holder = try writer.item(withKeyOf: item) else { return try writer.item(withUUID: item.uuid) }
        return holder.uuid == item.uuid ? holder : try writer.item(withUUID: item.uuid) ?? holder
    }
}
