internal import BackupArchive
internal import ByteStreams
internal import KeychainModel

/// What a restore will do with each item, decided with the whole archive read and the target unchanged.
///
/// Only planning makes one, within the transaction in which it is applied, so that it cannot be out of date.
struct RestorePlan {
    let report: RestoreReport
    let archive: ProvenArchive
    let streams: ReadStreams
    let form: SecretForm
    let actions: ActionList
    let removesLocalItems: Bool

    /// Writes; everything is undone when this throws, with the transaction.
    func apply(to writer: any ItemWriter) throws -> RestoreReport {
        if removesLocalItems { _ = try writer.removeLocalItems() }
        var visitor = ApplyingVisitor(actions, writer, form: form)
        try archive.readAgain(streams, form, &visitor)
        // A signal during the last items must not be followed by a commit.
        if Interruption.isRequested { throw ArchiveFailure.stream(StreamFailure(.writing, .interrupted)) }
        return report
    }
}

/// The first pass: decides.
struct PlanningVisitor: RecordVisitor {
    private let rules: RestoreRules
    private let existing: any ExistingItems
    /// Nothing is written while planning, so this stays as it was at the start.
    private let isEmpty: Bool
    private let form: SecretForm
    private let observe: ((Item, RestoreAction) -> Void)?
    private(set) var actions = ActionList()
    private(set) var stayingBehind: [(item: Item, reason: Verdict.Reason)] = []
    private(set) var failing: [(item: Item, problem: RestoreAction.Problem)] = []
    private(set) var notOpened = 0

    init(
        _ rules: RestoreRules, _ existing: any ExistingItems, form: SecretForm,
        observe: ((Item, RestoreAction) -> Void)?
    ) throws {
        self.rules = rules
        self.existing = existing
        isEmpty = try existing.isEmpty
        self.form = form
        self.observe = observe
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        let action = try action(for: item, secret: secret, state: state)
        actions.append(action)
        if state == .stored { notOpened += 1 }
        observe?(item, action)
        switch action {
        case .staysBehind(let reason): stayingBehind.append((item, reason))
        case .fail(let problem): failing.append((item, problem))
        case .create, .update, .same, .keep: break
        }
    }

    private func action(
        for item: Item, secret: borrowing SecretBytes, state: SecretState
    ) throws -> RestoreAction {
        let byKey = isEmpty ? nil : try existing.item(withKeyOf: item)
        let byUUID = isEmpty ? nil : try existing.item(withUUID: item.uuid)
        let problem: RestoreAction.Problem? =
            switch state {
            case .sealedElsewhere: .noKey
            case .broken: .broken
            case .absent, .open, .stored, .storedWhole, .notRead: nil
            }
        return try rules.action(
            for: item, byKey: byKey, byUUID: byUUID, problem: problem, isProvedWhole: state != .stored,
            hasSecret: { counterpart in try existing.secret(of: counterpart, equals: secret, in: form) })
    }
}

/// The second pass: writes what the plan says.
private struct ApplyingVisitor: RecordVisitor {
    private let actions: ActionList
    private let writer: any ItemWriter
    private let form: SecretForm
    private var ordinal = 0

    init(_ actions: ActionList, _ writer: any ItemWriter, form: SecretForm) {
        self.actions = actions
        self.writer = writer
        self.form = form
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        defer { ordinal += 1 }
        guard actions.writes(ordinal) else { return }
        let replaced =
            actions.updates(ordinal) ? try writer.item(withKeyOf: item) ?? writer.item(withUUID: item.uuid) : nil
        try writer.put(item, line: line, secret: secret, in: form, replacing: replaced)
    }
}
