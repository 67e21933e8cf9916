internal import ByteStreams
internal import BackupArchive
package import KeychainModel

/// Writes the items of a source that is no archive, such as another program's file: plans first, then writes in the same
/// transaction.
///
/// Nothing is read twice that could change between: the source holds its items.
package struct ImportItems {
    private let isDryRun: Bool
    private let rules: RestoreRules

    /// Prepares an import.
    ///
    /// - Parameter policy: what happens to items that are there already.
    package init(policy: ConflictPolicy, isDryRun: Bool) {
        self.isDryRun = isDryRun
        // Whose archive it is has no meaning here: whoever can read the file has its secrets.
        rules = RestoreRules(
            mode: .encrypted, isSameDevice: true, policy: policy, replaced: nil, filter: nil,
            verdict: { _, _, _ in .restores })
    }

    /// Imports into `target`.
    ///
    /// - Parameters:
    ///   - keep: called before anything is changed, if it will be, in the transaction that does it.
    ///   - step: called once an item while the plan is made, and once more while it is carried out.
    ///   - observe: sees each item and what becomes of it, in archive order, while the plan is made; what it collects
    ///     counts only when `run` returns.
    /// - Throws: `RestoreRefusal` (`conflicts`), and what source, target and `keep` throw; nothing is written then.
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
            // A signal during the last items must not be followed by a commit.
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

/// What an import did, or would do.
package struct ImportReport: Sendable {
    /// How many items met which fate.
    package let counts: RestoreCounts
    /// The items that cannot be written.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// True when nothing was written because that was asked.
    package let isDryRun: Bool
}

/// Finds the items that nothing but a mark tells apart: rows of one title, address and user.
private struct AlikeVisitor: ItemVisitor {
    private(set) var groups: [Item.Looks: [Item]] = [:]

    mutating func wants(_ item: Item) -> Bool {
        groups[item.looks, default: []].append(item)
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    func skip(damaged item: Item?) {}
}

/// The first pass: decides.
private struct PlanVisitor: ItemVisitor {
    let rules: RestoreRules
    let existing: any ExistingItems
    let isEmpty: Bool
    /// The items of the source that look alike.
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
        // Where rows changed places, each secret is there already, under the mark of another row.
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
        // Items without dates of their own have the file's, which another copy of the same file has not.
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

/// The second pass: writes what the plan says.
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
    /// What items have in common that look alike to people: class, unique key without the mark of an import, label.
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

    /// How the mark begins that tells apart what differs in its secret alone.
    private static var mark: String { "import:" }

    /// The item as it replaces the one that is there: what the source does not say, and what the user decides, such as
    /// who may read it, stays as it is.
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

    /// The same item with the dates of another.
    fileprivate func dated(as other: Item) throws(ItemProblem) -> Item {
        var attributes = attributes
        attributes[.cdat] = other.attributes[.cdat]
        attributes[.mdat] = other.attributes[.mdat]
        return try Item(
            itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: secretSize)
    }
}
