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
    let matching: any RecordMatching
    let replaced: LocalItems?
    /// The items that are not removed, since they are exactly as in the archive.
    let staying: Set<ItemUUID>

    /// Writes the planned items; if this throws, the transaction is rolled back.
    func apply(to writer: any ItemWriter, _ step: @escaping () -> Void) throws -> RestoreReport {
        if replaced == nil, !actions.writesAny { return report }
        if let replaced { _ = try writer.removeLocalItems(replaced, except: staying) }
        var visitor = ApplyingVisitor(
            actions: actions, matching: matching, writer: writer, form: records.form, step: step)
        try records.visitAgain(found, &visitor)
        // After a signal during the last items, the transaction must not be committed.
        if Interruption.isRequested { throw ArchiveFailure.stream(StreamFailure(.writing, .interrupted)) }
        return report
    }
}

/// Finds out which item of a target a record is, and what it becomes there.
protocol RecordMatching {
    /// The items that an import into a keychain names.
    var imported: ImportedItems { get }

    /// Decides about a record that was selected; nil if the decision depends on records that follow.
    mutating func match(
        _ record: Item, ordinal: Int, secret: borrowing SecretBytes, state: SecretState
    ) throws -> RecordMatch?

    /// Passes the decisions that were left open to `body`, in order, once all records are known.
    func settle(_ records: RestoreRecords, _ body: (_ ordinal: Int, RecordMatch) throws -> Void) throws

    /// A record as it is written, and the item that it is written over; `put` also replaces the one with the unique key.
    ///
    /// - Parameter isUpdate: false for a record that becomes a new item.
    func written(
        _ record: Item, ordinal: Int, isUpdate: Bool, in writer: any ItemWriter
    ) throws -> (item: Item, replaced: Item?)
}

extension RecordMatching {
    var imported: ImportedItems { ImportedItems(limit: 0) }

    func settle(_ records: RestoreRecords, _ body: (_ ordinal: Int, RecordMatch) throws -> Void) {}
}

/// The decision about a record.
struct RecordMatch {
    /// The item by which reports name it.
    let item: Item
    let action: RestoreAction
    /// The item of the target that it is.
    var counterpart: Item?
    /// The version of the target, if reports name that when it is kept.
    var kept: Item?
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
struct PlanningVisitor<Matching: RecordMatching>: RecordVisitor {
    var matching: Matching
    let rules: RestoreRules
    /// True if items with the same attributes are told apart by comparison, so that their own names say nothing.
    let isAnnounced: Bool
    let observe: (Item, RestoreAction) throws -> Void
    /// The items that will be written; recorded only if local items are removed first.
    private(set) var restored = RestoredItems()
    /// The items that stay as they are where the others are removed first.
    private(set) var staying: Set<ItemUUID> = []
    private(set) var actions = ActionList()
    private(set) var stayingBehind: [(item: Item, reason: Verdict.Reason)] = []
    /// Items that are written without the constraint that the target's own have.
    private(set) var unasking: [Item] = []
    private(set) var failing: [(item: Item, problem: RestoreAction.Problem)] = []
    private(set) var notOpened = 0

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        guard rules.selects(item) else {
            actions.append(.notSelected)
            return try observe(item, .notSelected)
        }
        let match = try matching.match(item, ordinal: actions.count, secret: secret, state: state)
        // A target that removes what it is not told of must be told of items that stay as they are.
        let isWritten = match?.action == .same && rules.replaced != nil && rules.replacesInPlace
        actions.append(match?.action, isWritten: isWritten)
        if state == .stored { notOpened += 1 }
        if let match { try note(match) }
    }

    /// Makes the decisions that depend on other records; called when all are known.
    ///
    /// - Throws: as `RestoreRecords.visitItems`, and what the target throws.
    mutating func finish(_ records: RestoreRecords) throws {
        let matching = matching
        var isSorted = true
        try matching.settle(records) { ordinal, match in
            actions.settle(match.action, at: ordinal)
            try note(match)
            isSorted = false
        }
        if !isSorted { failing.sort { $0.item.precedes($1.item) } }
    }

    private mutating func note(_ match: RecordMatch) throws {
        let (item, action) = (match.item, match.action)
        try observe(action == .keep ? match.kept ?? item : item, action)
        if action.writes, match.counterpart?.constraint != nil, item.constraint == nil { unasking.append(item) }
        if rules.replaced != nil, action.writes || action == .same {
            if action == .same, !rules.replacesInPlace { staying.insert(item.uuid) }
            if let restored = isAnnounced ? match.counterpart : item { self.restored.insert(restored) }
        }
        switch action {
        case .staysBehind(let reason): stayingBehind.append((item, reason))
        case .fail(let problem): failing.append((item, problem))
        case .create, .update, .same, .keep, .notSelected: break
        }
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
    let actions: ActionList
    let matching: any RecordMatching
    let writer: any ItemWriter
    let form: SecretForm
    let step: () -> Void
    var ordinal = 0

    mutating func take(
        _ record: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        defer { ordinal += 1 }
        step()
        guard actions.writes(ordinal) else { return }
        let (item, replaced) = try matching.written(
            record, ordinal: ordinal, isUpdate: actions.updates(ordinal), in: writer)
        if item == record { return try writer.put(item, line: line, secret: secret, in: form, replacing: replaced) }
        var line = SecretBytes(capacity: 1_024)
        ItemLine.encode(item, into: &line)
        try line.withBytes { line in
            try writer.put(item, line: line, secret: secret, in: form, replacing: replaced)
        }
    }
}
