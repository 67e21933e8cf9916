internal import ByteStreams
internal import BackupArchive
package import KeychainModel

/// Imports the items of a source other than an archive, such as another program's file.
///
/// It makes a plan first, then writes in the same transaction. The source holds its items in memory, so they cannot
/// change in between.
package struct ImportItems {
    private let isDryRun: Bool
    private let rules: RestoreRules

    /// Prepares an import.
    ///
    /// - Parameter policy: what happens to items that already exist.
    package init(policy: ConflictPolicy, isDryRun: Bool) {
        self.isDryRun = isDryRun
        // Origin does not matter here: anyone who can read the file has its secrets.
        rules = RestoreRules(
            mode: .encrypted, isSameDevice: true, policy: policy, replaced: nil, filter: nil,
            verdict: { _, _, _ in .restores })
    }

    /// Imports into `target`.
    ///
    /// - Parameters:
    ///   - keep: called before anything is replaced, in the same transaction; not called if nothing is.
    ///   - step: called for each item during planning, and again during writing.
    ///   - observe: called during planning with each item and the decision about it, in order; the calls are meaningful
    ///     only if `run` returns.
    /// - Throws: `RestoreRefusal` (`conflicts`), and what the source, the target and `keep` throw; nothing is written
    ///   then.
    package func run(
        _ source: some ItemSource, into target: some ItemTarget, keep: () throws -> Void = {},
        step: @escaping () -> Void = {}, observe: @escaping (Item, RestoreAction) -> Void = { _, _ in }
    ) throws -> ImportReport {
        if isDryRun {
            return try target.readItems { existing in try plan(source, existing, step, observe).report }
        }
        return try target.writeItems { writer in
            let plan = try plan(source, writer, step, observe)
            if plan.report.counts.update > 0 { try keep() }
            var visitor = WritingVisitor(actions: plan.actions, writer: writer, step: step)
            try source.visitItems(&visitor)
            // After a signal during the last items, the transaction must not be committed.
            if Interruption.isRequested { throw StreamFailure(.writing, .interrupted) }
            return plan.report
        }
    }

    private func plan(
        _ source: some ItemSource, _ existing: any ExistingItems, _ step: @escaping () -> Void,
        _ observe: @escaping (Item, RestoreAction) -> Void
    ) throws -> (report: ImportReport, actions: ActionList) {
        var alike = AlikeVisitor()
        try source.visitItems(&alike)
        var visitor = PlanVisitor(
            rules: rules, existing: existing, isEmpty: try existing.isEmpty, alike: alike.groups, step: step,
            observe: observe)
        try source.visitItems(&visitor)
        let counts = visitor.actions.counts
        if rules.policy == .fail, counts.update > 0 { throw RestoreRefusal.conflicts(counts.update) }
        let report = ImportReport(counts: counts, failing: visitor.failing, isDryRun: isDryRun)
        return (report, visitor.actions)
    }
}

/// The result of an import or of its dry run.
package struct ImportReport: Sendable {
    /// The number of items for each decision.
    package let counts: RestoreCounts
    /// The items that cannot be written.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// True if this was a dry run.
    package let isDryRun: Bool
}

/// Finds items that only an import mark tells apart: rows with the same title, address and user name.
private struct AlikeVisitor: ItemVisitor {
    private(set) var groups: [Item.Looks: [Item]] = [:]

    mutating func wants(_ item: Item) -> Bool {
        groups[item.looks, default: []].append(item)
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    func skip(damaged item: Item?) {}
}

/// The first pass, which decides.
private struct PlanVisitor: ItemVisitor {
    let rules: RestoreRules
    let existing: any ExistingItems
    let isEmpty: Bool
    /// The items of the source, grouped by what they have in common.
    let alike: [Item.Looks: [Item]]
    let step: () -> Void
    let observe: (Item, RestoreAction) -> Void
    var actions = ActionList()
    var failing: [(item: Item, problem: RestoreAction.Problem)] = []

    func wants(_ item: Item) -> Bool { true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        step()
        let action = try action(for: item, secret)
        actions.append(action)
        observe(item, action)
        if case .fail(let problem) = action { failing.append((item, problem)) }
    }

    mutating func skip(damaged item: Item?) {
        preconditionFailure("a source of an import leaves nothing out")
    }

    private func action(for item: Item, _ secret: borrowing SecretBytes) throws -> RestoreAction {
        if isEmpty { return rules.action(for: item, byKey: nil, byUUID: nil, problem: nil) { _ in false } }
        // If rows were reordered in the file, the same secret may already be stored under the mark of another row.
        if let group = alike[item.looks], group.count > 1 {
            for other in group {
                guard let counterpart = try existing.item(withUUID: other.uuid), counterpart.looks == item.looks else {
                    continue
                }
                if try existing.secret(of: counterpart, equals: secret, in: .plain) { return .same }
            }
        }
        let item = try item.merged(in: existing)
        let byKey = try existing.item(withKeyOf: item)
        let byUUID = try existing.item(withUUID: item.uuid)
        // Items without dates of their own get the file's date, which differs between copies of the same file.
        if let byUUID, try item.dated(as: byUUID) == byUUID,
            try existing.secret(of: byUUID, equals: secret, in: .plain)
        {
            return .same
        }
        return try rules.action(for: item, byKey: byKey, byUUID: byUUID, problem: nil) { counterpart in
            try existing.secret(of: counterpart, equals: secret, in: .plain)
        }
    }
}

/// The second pass, which carries out the plan.
private struct WritingVisitor: ItemVisitor {
    let actions: ActionList
    let writer: any ItemWriter
    let step: () -> Void
    private var ordinal = 0

    init(actions: ActionList, writer: any ItemWriter, step: @escaping () -> Void) {
        self.actions = actions
        self.writer = writer
        self.step = step
    }

    func wants(_ item: Item) -> Bool { true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        defer { ordinal += 1 }
        step()
        guard actions.writes(ordinal) else { return }
        guard actions.updates(ordinal) else {
            return try writer.put(item, line: line, secret: secret, in: .plain, replacing: nil)
        }
        let item = try item.merged(in: writer)
        let replaced = try writer.item(withKeyOf: item) ?? writer.item(withUUID: item.uuid)
        var line = SecretBytes(capacity: 1_024)
        ItemLine.encode(item, into: &line)
        try line.withBytes { line in
            try writer.put(item, line: line, secret: secret, in: .plain, replacing: replaced)
        }
    }

    mutating func skip(damaged item: Item?) {
        preconditionFailure("a source of an import leaves nothing out")
    }
}

extension Item {
    /// What makes items look alike to a user: the class, the unique key without the import mark, and the label.
    fileprivate struct Looks: Hashable {
        let itemClass: ItemClass
        let label: AttributeValue?
        let key: [AttributeValue]
    }

    fileprivate var looks: Looks {
        Looks(
            itemClass: itemClass, label: attributes[.labl],
            key: itemClass.uniqueKey.map { code in
                let value = attributes[code] ?? Self.keyDefault(code)
                guard code == .svce || code == .sdmn, case .text(let text) = value,
                    let mark = text.firstRange(of: Self.mark)
                else { return value }
                let rest = text[..<mark.lowerBound]
                return .text(String(rest.hasSuffix(" ") ? rest.dropLast() : rest))
            })
    }

    /// The start of the mark that distinguishes items that differ only in their secrets.
    private static var mark: String { "import:" }

    /// Returns the item to write over an existing one.
    ///
    /// It keeps attributes that the source does not have, and those that the user decides, such as who may read it.
    fileprivate func merged(in existing: any ExistingItems) throws -> Item {
        guard let old = try existing.item(withUUID: uuid) ?? existing.item(withKeyOf: self),
            old.itemClass == itemClass
        else { return self }
        var merged = attributes
        for entry in old.attributes.entries where merged[entry.code] == nil { merged[entry.code] = entry.value }
        for code in [AttributeCode.agrp, .sync, .cdat] { merged[code] = old.attributes[code] }
        if !accessibility.isThisDeviceOnly { merged[.pdmn] = old.attributes[.pdmn] }
        if looks == old.looks {
            for code in [AttributeCode.svce, .sdmn] { merged[code] = old.attributes[code] }
        }
        let names = Set(extra.map(\.name))
        let kept = old.extra.filter { !names.contains($0.name) }
        let all = (extra + kept).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return try Item(
            itemClass: itemClass, uuid: old.uuid, attributes: merged, extra: all, secretSize: secretSize)
    }

    /// Returns the item with the dates of another one.
    fileprivate func dated(as other: Item) throws(ItemProblem) -> Item {
        var attributes = attributes
        attributes[.cdat] = other.attributes[.cdat]
        attributes[.mdat] = other.attributes[.mdat]
        return try Item(
            itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: secretSize)
    }
}
