package import BackupArchive
internal import ByteStreams
internal import KeychainKeys
package import DeviceIdentity
package import KeychainModel

/// What a restore is asked to do.
package struct RestoreOptions: Hashable, Sendable {
    /// What happens to items that are there already.
    package var conflictPolicy: ConflictPolicy = .newer
    /// Apple's device restore: these local items go first; nil for none.
    package var replacing: LocalItems?
    /// An item that stays behind stops the restore before it begins.
    package var requiresAll = false
    /// Plans and reads everything, and writes nothing.
    package var isDryRun = false
    /// Which items of the archive are restored; nil for all of them.
    package var filter: ItemFilter?
    /// The device whose unknown origin the user accepts.
    package var acceptedOrigin: DeviceID?

    /// The defaults.
    package init() {}
}

/// Why a restore is refused before anything is written.
package enum RestoreRefusal: Error, Hashable, Sendable {
    /// An unencrypted archive of another device.
    case unencryptedElsewhere(device: DeviceID)
    /// The signer is neither this device nor a trusted one, and no passphrase vouches for it.
    case unknownOrigin(device: DeviceID)
    /// This many items of the archive are broken, and whole ones would be removed first.
    case wouldRemoveForBroken(Int)
    /// This many items of the archive were not opened, so that whole ones might be removed for broken ones.
    case wouldRemoveUnopened(Int)
    /// No item of the archive passes the filter.
    case nothingMatches
    /// This many items would stay behind, and all were required.
    case itemsStayBehind(Int)
    /// This many items conflict, and the policy is to fail.
    case conflicts(Int)
}

/// What a restore did, or would do.
package struct RestoreReport: Sendable {
    /// How many items met which fate.
    package let counts: RestoreCounts
    /// How much the archive holds.
    package let contents: ArchiveContents
    /// The items that stay behind, with the reason.
    package let stayingBehind: [(item: Item, reason: Verdict.Reason)]
    /// The local items that a replacing restore removes, and that the archive does not bring back.
    package let vanishing: [Item]
    /// The items that cannot be written.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// How many secrets go in as the archive has them, without a key to look at their seal.
    package let notOpened: Int
    /// True when nothing was written because that was asked.
    package let isDryRun: Bool

    /// False if a new keychain would be empty although items were asked for.
    package var makesKeychain: Bool { counts.create > 0 || counts.stayBehind + counts.fail == 0 }
    /// True if something of the target is changed or removed.
    package var losesSomething: Bool { counts.update > 0 || counts.remove > 0 }
}

/// Restores an archive: reads it to its last byte while planning, then writes in the same transaction.
///
/// Everything happens within one transaction of the target that writes nothing until the plan is complete, so the
/// plan cannot grow stale and a failure at any point leaves the target as it was.
package struct RestoreBackup {
    private let archive: ProvenArchive
    private let options: RestoreOptions
    private let rules: RestoreRules

    /// Prepares a restore.
    ///
    /// - Throws: `RestoreRefusal` (`unencryptedElsewhere`, `unknownOrigin`).
    package init(_ archive: ProvenArchive, options: RestoreOptions) throws(RestoreRefusal) {
        try self.init(archive, options: options) { accessibility, mode, onSameDevice in
            Verdict.decide(accessibility, in: mode, onSameDevice: onSameDevice)
        }
    }

    /// Prepares a restore with another verdict function, for the test that shows that keys protect and not the verdict.
    init(
        _ archive: ProvenArchive, options: RestoreOptions,
        verdict: @escaping @Sendable (Accessibility, ArchiveMode, Bool) -> Verdict
    ) throws(RestoreRefusal) {
        let header = archive.header
        let refusesAll = verdict(.whenUnlocked, header.mode, archive.isFromThisDevice) != .restores
        if header.mode == .unencrypted, refusesAll { throw .unencryptedElsewhere(device: header.device) }
        if archive.origin == .unknown, options.acceptedOrigin != header.device {
            throw .unknownOrigin(device: header.device)
        }
        self.archive = archive
        self.options = options
        rules = RestoreRules(
            mode: header.mode, isSameDevice: archive.isFromThisDevice, policy: options.conflictPolicy,
            replaced: options.replacing, filter: options.filter, verdict: verdict)
    }

    /// Restores into `target`.
    ///
    /// - Parameters:
    ///   - keep: called before anything is changed or removed, if it will be, in the transaction that does it.
    ///   - step: called once an item while the plan is made, and once more while it is carried out.
    ///   - observe: sees each item and what becomes of it, in archive order, while the plan is made; what it
    ///     collects counts only when `run` returns.
    /// - Throws: `ArchiveFailure` (`passcodeNeeded` where the target has other class keys than the archive), `RestoreRefusal`
    ///   (`nothingMatches`, `itemsStayBehind`, `conflicts`, `wouldRemoveForBroken`, `wouldRemoveUnopened`), and what target and
    ///   `keep` throw; nothing is written then.
    package func run(
        into target: some ItemTarget, keep: () throws -> Void = {}, step: @escaping () -> Void = {},
        observe: ((Item, RestoreAction) -> Void)? = nil
    ) throws -> RestoreReport {
        try restore(into: target, keep: keep, step, observe: observe) { try form(for: target) }
    }

    /// Writes stored secrets as they are, whatever the target's keys, for the test of what keys protect.
    func write(into target: some ItemTarget) throws -> RestoreReport {
        try restore(into: target, keep: {}, {}, observe: nil) { .stored }
    }

    private func restore(
        into target: some ItemTarget, keep: () throws -> Void, _ step: @escaping () -> Void,
        observe: ((Item, RestoreAction) -> Void)?, form: () throws -> SecretForm
    ) throws -> RestoreReport {
        let observe = { (item: Item, action: RestoreAction) in
            step()
            observe?(item, action)
        }
        // The form is found out within the transaction: the class keys of the target cannot change any more.
        if options.isDryRun {
            return try target.readItems { existing in try plan(existing, form(), observe).report }
        }
        return try target.writeItems { writer in
            let plan = try plan(writer, form(), observe)
            if plan.report.losesSomething { try keep() }
            return try plan.apply(to: writer, step)
        }
    }

    /// In which form secrets go into the target.
    private func form(for target: some ItemTarget) throws -> SecretForm {
        guard let stored = archive.stored else { return .plain }
        if let target = target as? any StoredItemTarget, try target.form(ofSecretsUnder: stored.keybag) == .stored {
            return .stored
        }
        if stored.needsPasscode { throw ArchiveFailure.passcodeNeeded }
        return .plain
    }

    /// Reads the archive to its last byte and decides what becomes of each item; nothing is written.
    private func plan(
        _ existing: any ExistingItems, _ form: SecretForm, _ observe: @escaping (Item, RestoreAction) -> Void
    ) throws -> RestorePlan {
        var visitor = try PlanningVisitor(rules, existing, form: form, observe: observe)
        let streams = try archive.read(form, &visitor)
        var counts = visitor.actions.counts
        if options.filter != nil, counts.notSelected == visitor.actions.count { throw RestoreRefusal.nothingMatches }
        if options.requiresAll, counts.stayBehind > 0 { throw RestoreRefusal.itemsStayBehind(counts.stayBehind) }
        if options.conflictPolicy == .fail, counts.update > 0 { throw RestoreRefusal.conflicts(counts.update) }
        var vanishing: [Item] = []
        if let replaced = options.replacing {
            try existing.localItems(replaced) { item in
                counts.remove += 1
                if !visitor.restored.contains(item) { vanishing.append(item) }
            }
        }
        if counts.remove > 0 {
            // Those that could not be read when the archive was made would not come back either.
            let broken = visitor.failing.count { $0.problem == .broken } + streams.contents.damaged
            if broken > 0 { throw RestoreRefusal.wouldRemoveForBroken(broken) }
            if visitor.notOpened > 0 { throw RestoreRefusal.wouldRemoveUnopened(visitor.notOpened) }
        }
        let report = RestoreReport(
            counts: counts, contents: streams.contents, stayingBehind: visitor.stayingBehind, vanishing: vanishing,
            failing: visitor.failing, notOpened: visitor.notOpened, isDryRun: options.isDryRun)
        return RestorePlan(
            report: report, archive: archive, streams: streams, form: form, actions: visitor.actions,
            replaced: options.replacing)
    }
}
