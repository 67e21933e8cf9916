package import KCBackupArchive
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCItemMatching
internal import KCKeychainKeys
package import KCKeychainModel

/// The options of a restore.
package struct RestoreOptions: Hashable, Sendable {
    /// The policy for items that already exist.
    package var conflictPolicy: ConflictPolicy = .newer
    /// The local items to remove first, as in Apple's device restore; nil for none.
    package var replacing: LocalItems?
    /// Refuse the restore if any item would stay behind; an import of items, if one cannot be written, which a dry run names.
    package var requiresAll = false
    /// Read everything and plan, but write nothing.
    package var isDryRun = false
    /// Which items of the archive to restore; nil for all of them.
    package var filter: ItemFilter?
    /// Write items that are bound to this device into a target that cannot bind them.
    package var givesUpBinding = false
    /// The only local items that a replacing restore may remove without replacing them; nil for any.
    package var removable: Set<ItemUUID>?
    /// The only items of the archive that may be written over others; nil for any.
    package var updatable: Set<ItemUUID>?
    /// The device of unknown origin that the user accepts.
    package var acceptedOrigin: DeviceID?
    /// How many items of each kind the report of an import into a keychain names; a file may have a million.
    package var namesLimit = Int.max

    /// Creates the default options.
    package init() {}
}

/// Why a restore is refused before anything is written.
package enum RestoreRefusal: Error, Hashable, Sendable {
    /// The archive is unencrypted, and from another device.
    case unencryptedElsewhere(device: DeviceID)
    /// The signer is neither this device nor trusted, and no passphrase authenticates the archive.
    case unknownOrigin(device: DeviceID)
    /// This many items of the archive are broken, and intact ones would be removed first.
    case wouldRemoveForBroken(Int)
    /// This many items were not in the source's reach when the archive was made, and would be removed.
    case wouldRemoveUnread(Int)
    /// This many items of the archive were not opened, so intact items might be replaced with broken ones.
    case wouldRemoveUnopened(Int)
    /// This many items of the archive need a keychain with a passcode, and others would be removed first.
    case wouldRemoveAsking(Int)
    /// No item in the archive matches the filter.
    case nothingMatches
    /// This many items would stay behind, but all are required.
    case itemsStayBehind(Int)
    /// This many items conflict, and the policy does not allow conflicts.
    case conflicts(Int)
    /// An item cannot be written, and all are required.
    case cannotWrite(Item, RestoreAction.Problem)
    /// Items would be removed or changed that `removable` and `updatable` do not allow.
    case unconfirmed
}

/// The result of a restore or of its dry run.
package struct RestoreReport: Sendable {
    /// The number of items for each decision.
    package let counts: RestoreCounts
    /// How much the archive contains.
    package let contents: ArchiveContents
    /// The items that stay behind, with the reasons.
    package let stayingBehind: [(item: Item, reason: Verdict.Reason)]
    /// The local items that a replacing restore removes and the archive does not bring back.
    package let vanishing: [Item]
    /// The number of local items that a replacing restore removes or writes over.
    package let replaced: Int
    /// The items that cannot be written.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// The items that asked for the passcode each time, and do not any longer.
    package let unasking: [Item]
    /// The number of secrets that are stored without checking their seals, because no key was available.
    package let notOpened: Int
    /// The items that an import into a keychain names; none for another restore.
    package let imported: ImportedItems
    /// True if this was a dry run.
    package let isDryRun: Bool

    /// False if a new keychain would be empty although items were selected.
    package var makesKeychain: Bool { counts.create > 0 || counts.stayBehind + counts.fail == 0 }
    /// True if anything in the target is added, changed or removed.
    package var writesSomething: Bool { counts.create + counts.update + counts.remove > 0 }
}

/// Brings the items of an archive, or items that are in none, into a target: a restore, or an import.
///
/// All records are read to make a plan, which is then carried out in the same transaction, from memory or, if an archive is
/// large, by reading it again.
///
/// The transaction writes nothing until the plan is complete. The plan therefore cannot become stale, and a failure at
/// any point leaves the target as it was.
package struct Bring {
    private let source: RestoreSource
    private var options: RestoreOptions
    private let rules: RestoreRules
    /// How many bytes of records may be held; none only in the test of what is read again.
    var heldLimit = HeldRecords.limit

    /// Prepares a restore or an import.
    package init(_ source: RestoreSource, options: RestoreOptions) throws(RestoreRefusal) {
        try self.init(source, options: options) { accessibility, mode, onSameDevice in
            Verdict.decide(accessibility, in: mode, onSameDevice: onSameDevice)
        }
    }

    /// Prepares a restore with another verdict function, for the test that shows that keys, not the verdict, protect
    /// items.
    init(
        _ source: RestoreSource, options: RestoreOptions,
        verdict: @escaping @Sendable (Accessibility, ArchiveMode, Bool) -> Verdict
    ) throws(RestoreRefusal) {
        self.source = source
        self.options = options
        guard let archive = source.archive else {
            rules = RestoreRules(mode: .encrypted, isSameDevice: true, options) { _, _, _ in .restores }
            return
        }
        let header = archive.header
        let refusesAll = verdict(.whenUnlocked, header.mode, archive.isFromThisDevice) != .restores
        if header.mode == .unencrypted, refusesAll { throw .unencryptedElsewhere(device: header.device) }
        if archive.origin == .unknown, options.acceptedOrigin != header.device {
            throw .unknownOrigin(device: header.device)
        }
        rules = RestoreRules(mode: header.mode, isSameDevice: archive.isFromThisDevice, options, verdict: verdict)
    }

    /// Restores or imports into `target`.
    ///
    /// - Parameters:
    ///   - keep: called before anything is written, in the same transaction; not called if nothing is.
    ///   - observer: receives the decisions.
    /// - Throws: `ArchiveFailure` (`passcodeNeeded` if the target's class keys differ from the archive's),
    ///   `RestoreRefusal` (`nothingMatches`, `itemsStayBehind`, `conflicts`, `unconfirmed`, `wouldRemoveForBroken`,
    ///   `wouldRemoveUnread`, `wouldRemoveUnopened`, `wouldRemoveAsking`; of an import `conflicts`, `cannotWrite`), and what
    ///   the items, the target and `keep` throw; nothing is written then.
    package func run(
        into target: some ItemTarget, keep: () throws -> Void = {}, _ observer: RestoreObserver = RestoreObserver()
    ) throws -> RestoreReport {
        try restore(into: target, keep: keep, observer) { try form(for: target) }
    }

    /// The same restore, as a dry run.
    func rehearsing() -> Bring {
        var rehearsal = self
        rehearsal.options.isDryRun = true
        return rehearsal
    }

    /// Writes stored secrets unchanged, whatever the target's keys, for the test that shows what keys protect.
    func write(into target: some ItemTarget) throws -> RestoreReport {
        try restore(into: target, keep: {}, RestoreObserver()) { .stored }
    }

    private func restore(
        into target: some ItemTarget, keep: () throws -> Void, _ observer: RestoreObserver,
        form: () throws -> SecretForm
    ) throws -> RestoreReport {
        // The form is determined within the transaction, where the target's class keys cannot change anymore.
        if options.isDryRun {
            return try target.readItems { existing in try plan(existing, form(), observer).report }
        }
        return try target.writeItems { writer in
            let plan = try plan(writer, form(), observer)
            if options.requiresAll, let (item, problem) = plan.report.failing.first {
                throw RestoreRefusal.cannotWrite(item, problem)
            }
            if plan.report.writesSomething { try keep() }
            return try plan.apply(to: writer, observer.step)
        }
    }

    /// Returns the form in which secrets are written to the target.
    private func form(for target: some ItemTarget) throws -> SecretForm {
        guard let archive = source.archive, let stored = archive.stored else { return .plain }
        if let target = target as? any StoredItemTarget, try target.form(ofSecretsUnder: stored.keybag) == .stored {
            return .stored
        }
        if try archive.needsPasscode(for: options.filter) { throw ArchiveFailure.passcodeNeeded }
        return .plain
    }

    /// Reads all records, an archive to its last byte, and decides about each item; writes nothing.
    private func plan(
        _ existing: any ExistingItems, _ form: SecretForm, _ observer: RestoreObserver
    ) throws -> RestorePlan {
        let records = try RestoreRecords(
            of: source, form, options.filter, into: existing.kind, holding: heldLimit)
        if existing.needsAnnouncements {
            var announcing = AnnouncingVisitor(existing: existing)
            _ = try records.visit(&announcing)
        }
        // An item that is found by its key is not looked for by its UUID.
        try existing.requireSound()
        var rules = rules
        rules.replacesInPlace = existing.needsAnnouncements
        // Elsewhere it makes no difference, and reading it takes another pass.
        if existing.kind == .desktopKeyring { rules.source = try source.passage() }
        if source.archive == nil, existing.kind == .keychain {
            let places = try AlikePlaces(ofFile: records, in: existing)
            let matching = try FileMatching(rules, existing, places, namesLimit: options.namesLimit)
            return try plan(records, matching, rules, existing, observer)
        }
        let places = try AlikePlaces(of: records, in: existing)
        let matching = try ArchiveMatching(
            rules: rules, existing: existing, places: places, form: form, isEmpty: existing.isEmpty)
        return try plan(records, matching, rules, existing, observer)
    }

    private func plan(
        _ records: RestoreRecords, _ matching: some RecordMatching, _ rules: RestoreRules,
        _ existing: any ExistingItems, _ observer: RestoreObserver
    ) throws -> RestorePlan {
        var isConfirmed = true
        var visitor = PlanningVisitor(
            matching: matching, rules: rules, isAnnounced: existing.needsAnnouncements
        ) { item, action in
            if action == .update, options.updatable?.contains(item.uuid) == false { isConfirmed = false }
            observer.step()
            try observer.observe(item, action)
        }
        let found = try records.visit(&visitor)
        try visitor.finish(records)
        var counts = visitor.actions.counts
        if options.filter != nil, counts.notSelected == visitor.actions.count { throw RestoreRefusal.nothingMatches }
        let missing = counts.stayBehind + visitor.failing.count
        if options.requiresAll, source.archive != nil, missing > 0 { throw RestoreRefusal.itemsStayBehind(missing) }
        if options.conflictPolicy == .fail, counts.update > 0, options.replacing == nil || !rules.replacesInPlace {
            throw RestoreRefusal.conflicts(counts.update)
        }
        var vanishing: [Item] = []
        if let replaced = options.replacing {
            counts.remove += try existing.localItems(replaced) { item in
                let vanishes = !visitor.restored.contains(item)
                if vanishes { vanishing.append(item) }
                let stays = rules.replacesInPlace || visitor.staying.contains(item.uuid)
                if vanishes || !stays { counts.remove += 1 }
            }
        }
        if let removable = options.removable, vanishing.contains(where: { !removable.contains($0.uuid) }) {
            isConfirmed = false
        }
        if !isConfirmed { throw RestoreRefusal.unconfirmed }
        if counts.remove > 0 { try requireAllRead(visitor, found.contents) }
        try observer.planned()
        let report = RestoreReport(
            counts: counts, contents: found.contents, stayingBehind: visitor.stayingBehind, vanishing: vanishing,
            replaced: counts.remove + (rules.replacesInPlace ? counts.update : 0), failing: visitor.failing,
            unasking: visitor.unasking, notOpened: visitor.notOpened, imported: visitor.matching.imported,
            isDryRun: options.isDryRun)
        return RestorePlan(
            report: report, records: records, found: found, actions: visitor.actions, matching: visitor.matching,
            replaced: options.replacing, staying: visitor.staying)
    }

    /// Refuses to remove items for an archive of which something would not come back.
    private func requireAllRead(
        _ visitor: PlanningVisitor<some RecordMatching>, _ contents: ArchiveContents
    ) throws(RestoreRefusal) {
        let broken = visitor.failing.count { $0.problem == .broken }
        if broken > 0 { throw RestoreRefusal.wouldRemoveForBroken(broken) }
        let asking =
            visitor.failing.count { $0.problem == .noPasscode }
            + visitor.stayingBehind.count { $0.reason == .asksForPasscode }
        if asking > 0 { throw RestoreRefusal.wouldRemoveAsking(asking) }
        // Items that could not be read when the archive was made would not be restored either.
        if contents.damaged > 0 { throw RestoreRefusal.wouldRemoveUnread(contents.damaged) }
        if visitor.notOpened > 0 { throw RestoreRefusal.wouldRemoveUnopened(visitor.notOpened) }
    }
}
