internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
package import KCKeychainModel

/// Imports the items of a source other than an archive, such as another program's file.
///
/// An import makes a plan first, then writes in the same transaction. The source holds its items in memory, so they
/// cannot change in between.
package struct ImportItems {
    private let isDryRun: Bool
    private let requiresAll: Bool
    private let namesLimit: Int
    private let rules: RestoreRules

    /// Prepares an import.
    ///
    /// - Parameters:
    ///   - policy: what happens to items that already exist.
    ///   - requiresAll: true if nothing is written where one item cannot be.
    ///   - namesLimit: how many items of each kind the report names; a file may have a million.
    package init(policy: ConflictPolicy, isDryRun: Bool, requiresAll: Bool = false, namesLimit: Int = .max) {
        self.isDryRun = isDryRun
        self.requiresAll = requiresAll
        self.namesLimit = namesLimit
        // Origin does not matter here: anyone who can read the file has its secrets.
        var options = RestoreOptions()
        options.conflictPolicy = policy
        rules = RestoreRules(mode: .encrypted, isSameDevice: true, options) { _, _, _ in .restores }
    }

    /// Imports into `target`.
    ///
    /// - Parameters:
    ///   - keep: called before anything is written, in the same transaction; not called if nothing is.
    ///   - step: called for each item during planning, and again during writing.
    ///   - observe: called during planning with each item and the decision about it, in order; the calls are meaningful
    ///     only if `run` returns.
    /// - Throws: `RestoreRefusal` (`conflicts`, `cannotWrite`), and what the source, the target and `keep` throw; nothing is written
    ///   then.
    package func run(
        _ source: some ItemSource, into target: some ItemTarget, keep: () throws -> Void = {},
        step: @escaping () -> Void = {}, observe: @escaping (Item, RestoreAction) throws -> Void = { _, _ in }
    ) throws -> ImportReport {
        if isDryRun {
            return try target.readItems { existing in try plan(source, existing, step, observe).report }
        }
        return try target.writeItems { writer in
            let plan = try plan(source, writer, step, observe)
            if requiresAll, let (item, problem) = plan.report.failing.first {
                throw RestoreRefusal.cannotWrite(item, problem)
            }
            if plan.report.counts.create + plan.report.counts.update > 0 { try keep() }
            var visitor = WritingVisitor(
                actions: plan.actions, changes: plan.changes, writer: writer, step: step)
            try source.visitItems(&visitor)
            // After a signal during the last items, the transaction must not be committed.
            if Interruption.isRequested { throw StreamFailure(.writing, .interrupted) }
            return plan.report
        }
    }

    private func plan(
        _ source: some ItemSource, _ existing: any ExistingItems, _ step: @escaping () -> Void,
        _ observe: @escaping (Item, RestoreAction) throws -> Void
    ) throws -> (report: ImportReport, actions: ActionList, changes: [Int: Change]) {
        // An item that is found by its key is not looked for by its UUID.
        try existing.requireSound()
        let places = try AlikePlaces(of: source, in: existing)
        var visitor = PlanVisitor(
            rules: rules, existing: existing, isEmpty: try existing.isEmpty, places: places, step: step,
            observe: observe, namesLimit: namesLimit)
        try source.visitItems(&visitor)
        let counts = visitor.actions.counts
        if rules.policy == .fail, counts.update > 0 { throw RestoreRefusal.conflicts(counts.update) }
        let report = ImportReport(
            counts: counts, replaced: visitor.replaced, keptOthers: visitor.keptOthers, keptAlike: visitor.keptAlike,
            unclear: visitor.unclear, beside: visitor.beside, failing: visitor.failing, skipped: visitor.skipped,
            isDryRun: isDryRun)
        return (report, visitor.actions, visitor.changes)
    }
}

/// The result of an import or of its dry run.
package struct ImportReport: Sendable {
    /// The number of items for each decision.
    package let counts: RestoreCounts
    /// The items of the keychain that get another secret, with the modification dates that they get.
    package let replaced: FirstEntries<(item: Item, date: Timestamp)>
    /// The items of the source for which the keychain keeps its own version with another secret.
    package let keptOthers: FirstEntries<Item>
    /// The items of the source for which the keychain keeps its own version, of which only attributes differ.
    package let keptAlike: FirstEntries<Item>
    /// The items that were created because several alike items exist and it is unclear which of them changed.
    package let unclear: FirstEntries<Item>
    /// The items that were created beside an item with the same unique key, which belongs to another record.
    package let beside: FirstEntries<Item>
    /// The items that cannot be written.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// The items that the source could not read; nil for one without a name.
    package let skipped: [Item?]
    /// True if this was a dry run.
    package let isDryRun: Bool
}

/// How the item that is written differs from the item of the source.
private struct Change {
    /// The UUID of a new item.
    let uuid: ItemUUID
    /// The item that is replaced and whose UUID is kept; nil for a new item.
    var target: ItemUUID?
    /// True if the item gets an import mark because another item has its unique key.
    var isMarked = false
    /// True if the item that is replaced has no authentication type, and stays so.
    var lacksAuthentication = false

    /// The item as it is written.
    ///
    /// - Parameter replaced: the target.
    func applied(to item: Item, replacing replaced: Item?) throws(ItemProblem) -> Item {
        let source = try lacksAuthentication ? item.withoutAuthentication : item
        let result =
            if let replaced {
                try source.merged(into: replaced)
            } else {
                try source.with(uuid: uuid, attributes: source.attributes)
            }
        if !isMarked { return result }
        var attributes = result.attributes
        guard attributes.mark(result.itemClass, for: result.uuid) else { return result }
        return try result.with(uuid: result.uuid, attributes: attributes)
    }
}

/// The first pass, which decides.
private struct PlanVisitor: ItemVisitor {
    let rules: RestoreRules
    let existing: any ExistingItems
    let isEmpty: Bool
    let places: AlikePlaces
    let step: () -> Void
    let observe: (Item, RestoreAction) throws -> Void
    var actions = ActionList()
    var changes: [Int: Change] = [:]
    var replaced: FirstEntries<(item: Item, date: Timestamp)>
    var keptOthers: FirstEntries<Item>
    var keptAlike: FirstEntries<Item>
    var unclear: FirstEntries<Item>
    var beside: FirstEntries<Item>
    var failing: [(item: Item, problem: RestoreAction.Problem)] = []
    var skipped: [Item?] = []
    /// The items of the keychain that items of the source belong to; each is used once.
    private var targets: UsedItems

    init(
        rules: RestoreRules, existing: any ExistingItems, isEmpty: Bool, places: AlikePlaces,
        step: @escaping () -> Void, observe: @escaping (Item, RestoreAction) throws -> Void, namesLimit: Int
    ) {
        replaced = FirstEntries(limit: namesLimit)
        (keptOthers, keptAlike) = (FirstEntries(limit: namesLimit), FirstEntries(limit: namesLimit))
        (unclear, beside) = (FirstEntries(limit: namesLimit), FirstEntries(limit: namesLimit))
        (self.rules, self.existing, self.isEmpty) = (rules, existing, isEmpty)
        (self.places, targets) = (places, places.unused)
        (self.step, self.observe) = (step, observe)
    }

    mutating func wants(_ item: Item) throws -> Bool {
        // Where nothing is, there is nothing to compare with.
        guard isEmpty else { return true }
        try begin()
        try note(item, problem(with: item).map { .fail($0) } ?? .create)
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        try begin()
        var action: RestoreAction
        do {
            action = try self.action(for: item, secret)
        } catch is ItemProblem {
            action = .fail(.overLimit)
        }
        try note(item, action)
    }

    private func begin() throws {
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        step()
    }

    private mutating func note(_ item: Item, _ action: RestoreAction) throws {
        actions.append(action)
        try observe(item, action)
        if case .fail(let problem) = action { failing.append((item, problem)) }
    }

    private func problem(with item: Item) -> RestoreAction.Problem? {
        existing.obstacle(to: item).map { RestoreAction.Problem($0) }
    }

    mutating func skip(damaged item: Item?) { skipped.append(item) }

    private mutating func action(for item: Item, _ secret: borrowing SecretBytes) throws -> RestoreAction {
        if let problem = problem(with: item) { return .fail(problem) }
        var change = Change(uuid: places.uuid(of: item.uuid))
        let isOwn = change.uuid == item.uuid
        let byUUID = try existing.item(withUUID: change.uuid)
        change.target = byUUID?.uuid
        var row = try change.applied(to: item, replacing: byUUID)
        var byKey = try holder(of: row, byUUID)
        if isOwn, byUUID == nil, byKey == nil {
            byKey = try holderWithoutAuthentication(of: item, secret)
            change.lacksAuthentication = byKey != nil
        }
        if let other = byKey, other.uuid != row.uuid {
            let isBeside = try isOwn && isOfAnotherRecord(other, than: item, secret)
            let hasOwn = byUUID != nil && item.freeAttribute("source.format") != nil
            if isBeside || !isOwn || places.isTaken(other.uuid) || hasOwn {
                // The other item belongs to another record, which may be missing in the source as a duplicate of this
                // one; a mark lets both exist.
                change.isMarked = true
                if isBeside, byUUID == nil { beside.append(row) }
                row = try change.applied(to: item, replacing: byUUID)
                byKey = try holder(of: row, byUUID)
                if let byKey, byKey.uuid != row.uuid { return .fail(.identityTaken) }
            } else if byUUID == nil {
                change.target = other.uuid
                row = try change.applied(to: item, replacing: other)
            }
        }
        let target = byUUID ?? byKey
        if let target, !targets.use(target.uuid) { return .fail(.identityTaken) }
        let action = try decide(row, target, byKey, byUUID, secret)
        switch action {
        case .create where change.uuid != item.uuid || change.isMarked:
            changes[actions.count] = change
        case .update:
            changes[actions.count] = change
            if let target, try !existing.secret(of: target, equals: secret, in: .plain) {
                replaced.append((target, row.modified))
            }
        case .keep:
            let differs = try target.map {
                try existing.canCompare($0) && !existing.secret(of: $0, equals: secret, in: .plain)
            }
            if differs ?? true { keptOthers.append(item) } else { keptAlike.append(item) }
        default: break
        }
        if places.isUnclear(item.uuid), action == .create { unclear.append(row) }
        return action
    }

    /// The item with the unique key of `row`.
    private func holder(of row: Item, _ byUUID: Item?) throws -> Item? {
        // Only one item has a unique key.
        if let byUUID, byUUID.hasKey(of: row) { return byUUID }
        return try existing.item(withKeyOf: row)
    }

    /// The item that a record is, but for an authentication type: most files have none, and get the default one, and an
    /// item that was made here may have none.
    private func holderWithoutAuthentication(of item: Item, _ secret: borrowing SecretBytes) throws -> Item? {
        // Only records of password managers get the default; in other files, the two are different items.
        guard item.itemClass == .internetPassword, item.freeAttribute("source.part") != nil,
            item.attributes.text(.atyp) == "dflt",
            let other = try existing.item(withKeyOf: item.withoutAuthentication), !places.isTaken(other.uuid),
            try !isOfAnotherRecord(other, than: item, secret)
        else { return nil }
        // Another secret may be a token for the same user, unless an import of this format has found the item before.
        if other.freeAttribute("source.format") == item.freeAttribute("source.format") { return other }
        return try existing.canCompare(other) && existing.secret(of: other, equals: secret, in: .plain) ? other : nil
    }

    /// True if an item that has the unique key of a record does not belong to it, so that replacing it would lose a
    /// secret.
    ///
    /// The unique key of an internet password names its server. The key of a generic password from another program is
    /// often no more than a title and a user name, which records of different files have in common.
    private func isOfAnotherRecord(
        _ other: Item, than item: Item, _ secret: borrowing SecretBytes
    ) throws -> Bool {
        guard let format = item.freeAttribute("source.format") else { return false }
        if try !existing.canCompare(other) || existing.secret(of: other, equals: secret, in: .plain) { return false }
        if let id = item.freeAttribute("source.id"), let otherID = other.freeAttribute("source.id"),
            format == other.freeAttribute("source.format")
        {
            return id != otherID
        }
        return item.itemClass == .genericPassword && rules.policy != .overwrite
    }

    private func decide(
        _ row: Item, _ target: Item?, _ byKey: Item?, _ byUUID: Item?, _ secret: borrowing SecretBytes
    ) throws -> RestoreAction {
        // A list of items has no secrets of those that ask for the passcode, and read back it must not remove them.
        if row.secretSize == nil, [byKey, byUUID].contains(where: { $0?.constraint != nil && $0?.secretSize != nil }) {
            return .keep
        }
        // Items without dates of their own have the file's, which another copy of the same file has not.
        if let target, try row.dated(as: target) == target {
            if try existing.secret(of: target, equals: secret, in: .plain) { return .same }
            // Nothing is written over that was not seen.
            if !existing.canCompare(target), rules.policy != .overwrite { return .keep }
        }
        return try rules.action(for: row, byKey: byKey, byUUID: byUUID, problem: nil) { counterpart in
            existing.canCompare(counterpart)
                ? try existing.secret(of: counterpart, equals: secret, in: .plain) : nil
        }
    }
}

/// The second pass, which carries out the plan.
private struct WritingVisitor: ItemVisitor {
    let actions: ActionList
    let changes: [Int: Change]
    let writer: any ItemWriter
    let step: () -> Void
    private var ordinal = 0

    init(actions: ActionList, changes: [Int: Change], writer: any ItemWriter, step: @escaping () -> Void) {
        self.actions = actions
        self.changes = changes
        self.writer = writer
        self.step = step
    }

    func wants(_ item: Item) -> Bool { true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        defer { ordinal += 1 }
        step()
        guard actions.writes(ordinal) else { return }
        guard let change = changes[ordinal] else {
            return try writer.put(item, line: line, secret: secret, in: .plain, replacing: nil)
        }
        // Each item is replaced at most once, so it has not changed since the plan was made.
        let replaced = try change.target.flatMap { try writer.item(withUUID: $0) }
        let item = try change.applied(to: item, replacing: replaced)
        var line = SecretBytes(capacity: 1_024)
        ItemLine.encode(item, into: &line)
        try line.withBytes { line in
            try writer.put(item, line: line, secret: secret, in: .plain, replacing: replaced)
        }
    }

    /// Does nothing: the plan has collected them.
    func skip(damaged item: Item?) {}
}
