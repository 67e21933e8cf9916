internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks

/// A run of a job: create archives, verify those that have not been verified for a while, prune.
struct JobRun {
    let job: Job
    let session: Session
    /// True if this run may keep an archive with far fewer items than the last one.
    let acceptsShrink: Bool
    /// True if this run may use the folder for something else from now on.
    let mayChange: Bool
    /// The number of items in the last good backup; nil if no earlier run was successful.
    let itemsBefore: Int?

    private var hadBackups: Bool { itemsBefore != nil }

    /// The result of a run.
    struct Report {
        var status = ExitStatus.ok
        /// The first error, or the reason why the backup is incomplete.
        var explanation: Explanation?
        /// True if the backup of a keychain succeeded, even if nothing had changed and there is no new archive.
        var isBackedUp = false
        /// True if the backup is good, whatever became of its copies.
        var isGood = false
        var items = 0
        var archives = 0
        var verified = 0
        var removed = 0
        var copies: [JobCopies.Outcome] = []
        /// The problems besides `explanation`.
        var warnings: [String] = []
        /// The outcome of the receipt in the fleet; nil if the job is in none.
        var receipt: JobReceipts.Outcome?
        /// True if nothing but the receipt failed.
        var isOfReceipt = false
        /// Explains failures of copies and receipts as the run does.
        var explain: (any Error) -> Explanation = { Failure($0).explanation }

        /// Notes what else went wrong: the first time it is the error of the run.
        mutating func note(_ explanation: Explanation) {
            if status == .ok { fail(explanation) } else { warnings.append(explanation.message) }
        }

        /// Notes the failure of a step, which says more than what was missing before, and that this is still true.
        mutating func fail(_ failure: Explanation) {
            explanation = explanation.map { failure.suffixed("; before that: \($0.message)") } ?? failure
            status = failure.status
        }
    }

    /// The number of days after which an archive is verified again.
    private static let verifyAfter: Int64 = 7

    /// Backs up, copies what is not on the remotes yet, and writes a receipt of that into the fleet.
    func run() -> Report {
        var report = backUp()
        let backup = report.status
        report.isGood = backup == .ok
        if isCopied, report.explanation?.isOfSignal != true { copy(after: &report) }
        // Archives stay here if this run has found their newest copies gone. After a backup that failed, none is removed.
        if backup == .ok || backup == .incomplete, report.explanation?.isOfSignal != true { prune(&report) }
        if report.isGood, report.isBackedUp, report.items == 0 {
            report.warnings.append("there was no item to back up")
        }
        let outcome = RunOutcome(code: report.status.code)
        report.receipt = JobReceipts(of: job, on: session.machine, start: session.now, describe: session.recorded)
            .run(backup: report.isGood ? .good : outcome, outcome: outcome, copies: report.copies)
        if report.status == .ok,
            let refusal = report.receipt?.interruption(report.explain) ?? report.receipt?.refusal(report.explain)
        {
            report.note(refusal)
            report.isOfReceipt = true
        }
        return report
    }

    private func copy(after report: inout Report) {
        do {
            let jobs = Jobs(session.machine)
            // A folder that may be another one is not copied.
            if !mayChange { try jobs.requireFolder(of: job, hadBackups: hadBackups || report.isBackedUp) }
            report.copies = try JobCopies(
                of: job, on: session.machine, now: session.now, acceptsLoss: mayChange, describe: session.recorded
            ).run()
            for note in report.copies.notes { session.note(note) }
            guard let explanation = report.copies.explanation(isGood: report.isGood, report.explain) else { return }
            if report.isGood || report.copies.interruption(report.explain) != nil {
                (report.explanation, report.status) = (explanation, explanation.status)
            } else {
                report.warnings.append(explanation.message)
            }
        } catch {
            let failure = session.failure(of: error).explanation
            if report.status == .ok {
                report.fail(failure.prefixed("the backup is done, but "))
            } else if failure.isOfSignal {
                report.fail(failure)
            } else {
                report.warnings.append(failure.message)
            }
        }
    }

    private var isCopied: Bool { !job.copyTo.isEmpty || job.fleet != nil }

    /// Runs all steps of the backup, up to the first one that fails.
    private func backUp() -> Report {
        var report = Report()
        report.explain = { session.failure(of: $0).explanation }
        do {
            try back(up: &report)
            if report.status == .ok || report.status == .incomplete { try verify(&report) }
        } catch {
            report.fail(session.failure(of: error).explanation)
        }
        return report
    }

    private func back(up report: inout Report) throws {
        try session.context.requireClock()
        if !mayChange { try Jobs(session.machine).requireFolder(of: job, hadBackups: hadBackups) }
        // A disk that is not mounted must not be replaced by a new folder in its place.
        session.subject.file = job.folder
        var backup = FolderBackup(job.request, in: session.context)
        backup.accepted = RunExceptions(acceptsShrinkage: acceptsShrink, mayChange: mayChange)
        backup.isCopied = isCopied
        backup.makesFolder = mayChange
        backup.requiresKeyring = true
        backup.itemsBefore = itemsBefore
        backup.namesBound = session.style.isVerbose
        let text = try FolderBackupText(backup.run(), of: job.request, in: session)
        report.status = text.status
        report.isBackedUp = text.isBackedUp
        report.items = text.items
        report.archives = text.saved
        report.explanation = text.explanation
    }

    private func folder() throws -> BackupFolder {
        try session.backupFolder(job.folder, waitingAtMost: job.request.waiting)
    }

    private func verify(_ report: inout Report) throws {
        let folder = try folder()
        let limit = session.now.advanced(byMicroseconds: -Self.verifyAfter * 86_400_000_000)
        // A clock that was fast must not put it off.
        for entry in folder.catalogue.complete
        where entry.foundDamaged != nil || !(limit...session.now).contains(entry.verified) {
            guard try folder.isPresent(entry) else { continue }
            try folder.verifyOutside(entry, now: session.now)
            report.verified += 1
        }
    }

    private func prune(_ report: inout Report) {
        do {
            // A copy may take hours, in which a link may have come to lead elsewhere.
            if !mayChange {
                try Jobs(session.machine).requireFolder(of: job, hadBackups: hadBackups || report.isBackedUp)
            }
            let (removed, leftOut) = try prune(isComplete: report.isGood)
            report.removed = removed
            if let leftOut { report.note(leftOut) }
        } catch {
            report.isGood = false
            report.fail(session.failure(of: error).explanation)
        }
    }

    /// - Parameter isComplete: false if the backup could not read everything; no archive that has everything is removed then.
    /// - Returns: how many archives were removed, and why none was although rules would remove some.
    private func prune(isComplete: Bool) throws -> (removed: Int, leftOut: Explanation?) {
        if job.keep.isEmpty { return (0, nil) }
        let folder = try folder()
        var plan = try folder.plan(job.keep, now: session.now, calendar: session.calendar)
        for fate in plan.fates {
            guard case .notCounted(let reason) = fate.decision else { continue }
            // As one that is found when it is read again.
            if let failure = folder.failure(of: fate.entry, reason) { throw failure }
            session.warn("\(quoted(fate.entry.name)) is not counted, and stays: \(reason.words)")
        }
        let leftOut: Explanation?
        (plan, leftOut) = try session.keepingUncopied(plan, in: job.folder)
        if !isComplete { plan = plan.keeping(.incompleteRun) { $0.isComplete != false } }
        let removed = try folder.discard(plan, now: session.now)
        _ = try folder.emptyTrash(now: session.now)
        return (removed, leftOut)
    }
}
