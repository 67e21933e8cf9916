internal import KCAsking
package import KCBackupCatalogue
package import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
package import KCStoreTasks

/// A run of a job: creates archives, verifies those that have not been verified for a while, copies, prunes, and writes a
/// receipt into the fleet.
///
/// ```swift
/// let report = JobRun(of: job, in: context, calendar: LocalCalendar(), describe: describe).run()
/// print(report.items, report.outcome.code)
/// ```
package struct JobRun {
    let job: Job
    let context: TaskContext
    let calendar: LocalCalendar
    let describe: (any Error) -> CopyRecord.Failed
    package var accepted = RunExceptions()
    /// The number of items in the last good backup; nil if no earlier run was successful.
    package var itemsBefore: Int?
    /// True to tell which items restore on this device alone.
    package var namesBound = false

    /// - Parameter describe: returns a failure as records keep it.
    package init(
        of job: Job, in context: TaskContext, calendar: LocalCalendar,
        describe: @escaping (any Error) -> CopyRecord.Failed
    ) {
        self.job = job
        self.context = context
        self.calendar = calendar
        self.describe = describe
    }

    /// The number of days after which an archive is verified again.
    private static let verifyAfter: Int64 = 7

    private var jobs: Jobs { Jobs(context.machine) }
    private var isCopied: Bool { !job.copyTo.isEmpty || job.fleet != nil }

    /// Runs the job.
    package func run() -> Report {
        var report = Report()
        backUp(&report)
        report.isGood = report.outcome == .good
        // After a backup that failed, no archive is removed.
        let mayPrune = report.isGood || report.outcome == .incomplete
        if isCopied, !report.outcome.isOfSignal { copy(after: &report) }
        // Archives stay here if this run has found their newest copies gone.
        if mayPrune, !report.outcome.isOfSignal { prune(&report) }
        if report.isGood, report.backup?.isBackedUp == true, report.backup?.items == 0 {
            report.warnings.append(.noItem)
        }
        let outcome = report.outcome
        report.receipt = JobReceipts(of: job, on: context.machine, start: context.now, describe: describe)
            .run(backup: report.isGood ? .good : outcome, outcome: outcome, copies: report.copies)
        if outcome == .good, let receipt = report.receipt, let failure = receipt.failure {
            report.fail(.noReceipt(receipt), notCopied(by: failure))
        }
        return report
    }

    private func requireFolder(after report: Report? = nil) throws {
        if accepted.mayChange { return }
        try jobs.requireFolder(of: job, hadBackups: itemsBefore != nil || report?.backup?.isBackedUp == true)
    }

    /// Runs all steps of the backup, up to the first one that fails.
    private func backUp(_ report: inout Report) {
        do {
            let summary = try backUp()
            report.backup = summary
            let outcome = summary.outcome(describe)
            if outcome != .good { report.fail(.incomplete(summary), outcome) }
            guard outcome == .good || outcome == .incomplete else { return }
            try verify(&report)
        } catch {
            report.fail(.failed(error), describe(error).outcome)
        }
    }

    private func backUp() throws -> FolderBackup.Summary {
        try context.requireClock()
        try requireFolder()
        var backup = FolderBackup(job.request, in: context)
        backup.accepted = accepted
        backup.isCopied = isCopied
        // A disk that is not mounted must not be replaced by a new folder in its place.
        backup.makesFolder = accepted.mayChange
        backup.requiresKeyring = true
        backup.itemsBefore = itemsBefore
        backup.namesBound = namesBound
        return try backup.run()
    }

    private func folder() throws -> BackupFolder {
        try context.machine.backupFolder(job.folder, waitingAtMost: job.request.waiting)
    }

    private func verify(_ report: inout Report) throws {
        let folder = try folder()
        let limit = context.now.advanced(byMicroseconds: -Self.verifyAfter * 86_400_000_000)
        // A clock that was fast must not put it off.
        for entry in folder.catalogue.complete
        where entry.foundDamaged != nil || !(limit...context.now).contains(entry.verified) {
            guard try folder.isPresent(entry) else { continue }
            try folder.verifyOutside(entry, now: context.now)
            report.verified += 1
        }
    }

    private func copy(after report: inout Report) {
        do {
            // A folder that may be another one is not copied.
            try requireFolder(after: report)
            report.copies = try JobCopies(
                of: job, on: context.machine, now: context.now, acceptsLoss: accepted.mayChange, describe: describe
            ).run()
            let endings = report.copies.compactMap(\.failure).map(notCopied)
            guard let ending = endings.first(where: \.isOfSignal) ?? endings.first else { return }
            if report.isGood || ending.isOfSignal {
                report.fail(.notCopied, ending)
            } else {
                report.warnings.append(.notCopied)
            }
        } catch {
            let ending = describe(error).outcome
            if report.outcome == .good || ending.isOfSignal {
                report.fail(.notCopying(error), ending)
            } else {
                report.warnings.append(.notCopying(error))
            }
        }
    }

    /// How a run ends that is good but for a copy or a receipt.
    private func notCopied(by failure: any Error) -> RunOutcome {
        let outcome = describe(failure).outcome
        return outcome.isOfSignal ? outcome : .notCopied
    }

    private func prune(_ report: inout Report) {
        do {
            // A copy may take hours, in which a link may have come to lead elsewhere.
            try requireFolder(after: report)
            if job.keep.isEmpty { return }
            let unreadable = try prune(folder(), &report)
            if !unreadable.isEmpty { report.note(.removesNothing(unreadable: unreadable), .incomplete) }
        } catch {
            report.isGood = false
            report.fail(.failed(error), describe(error).outcome)
        }
    }

    /// - Returns: the jobs that cannot be read and may have to copy what would be removed, so that nothing is.
    private func prune(_ folder: BackupFolder, _ report: inout Report) throws -> [String] {
        var plan = try folder.plan(job.keep, now: context.now, calendar: calendar)
        for fate in plan.fates {
            guard case .notCounted(let reason) = fate.decision else { continue }
            // As one that is found when it is read again.
            if let failure = folder.failure(of: fate.entry, reason) { throw failure }
            context.tell(JobRunEvent.notCounted(name: fate.entry.name, reason))
        }
        let unreadable: [String]
        (plan, unreadable) = try jobs.keepingUncopied(plan, in: job.folder)
        // No archive that has everything is removed after a backup that could not read everything.
        if !report.isGood { plan = plan.keeping(.incompleteRun) { $0.isComplete != false } }
        report.removed = try folder.discard(plan, now: context.now)
        _ = try folder.emptyTrash(now: context.now)
        return unreadable
    }
}

/// An event while a job runs.
package enum JobRunEvent: TaskEvent {
    /// An archive is not counted by the rules, and stays.
    case notCounted(name: String, BackupFolder.Exclusion)
}

extension JobRun {
    /// The result of a run.
    package struct Report {
        /// How the run ended.
        package private(set) var outcome = RunOutcome.good
        /// The failures and gaps in the order in which they were found; empty if the run ended well.
        package private(set) var errors: [Trouble] = []
        /// Other facts that the user needs to know.
        package fileprivate(set) var warnings: [Trouble] = []
        /// True if the backup is good, whatever became of its copies.
        package fileprivate(set) var isGood = false
        /// The results for the stores; nil if the backup failed before.
        package fileprivate(set) var backup: FolderBackup.Summary?
        /// The number of archives that were read again.
        package fileprivate(set) var verified = 0
        package fileprivate(set) var removed = 0
        package fileprivate(set) var copies: [JobCopies.Outcome] = []
        /// The outcome of the receipt in the fleet; nil if the job is in none.
        package fileprivate(set) var receipt: JobReceipts.Outcome?

        /// Notes what ends the run.
        fileprivate mutating func fail(_ trouble: Trouble, _ outcome: RunOutcome) {
            errors.append(trouble)
            self.outcome = outcome
        }

        /// Notes what else went wrong: the first time, it is the error of the run.
        fileprivate mutating func note(_ trouble: Trouble, _ outcome: RunOutcome) {
            if self.outcome == .good { fail(trouble, outcome) } else { warnings.append(trouble) }
        }
    }

    /// Something that keeps a run from being good, or is to be known of it.
    package enum Trouble {
        /// A step of the backup, or the removal of archives, failed.
        case failed(any Error)
        /// Stores failed, or items could not be read.
        case incomplete(FolderBackup.Summary)
        /// The copying could not begin.
        case notCopying(any Error)
        /// Copies are missing, as the report tells.
        case notCopied
        /// No archive is removed, since these jobs cannot be read, and may have to copy it.
        case removesNothing(unreadable: [String])
        /// The stores have no item.
        case noItem
        /// The fleet has no receipt.
        case noReceipt(JobReceipts.Outcome)
    }
}

extension FolderBackup.Summary {
    /// How a run ends whose backup this is.
    fileprivate func outcome(_ describe: (any Error) -> CopyRecord.Failed) -> RunOutcome {
        let failure = results.lazy.compactMap { if case .failed(let failure) = $0.result { failure } else { nil } }
            .first
        if let failure { return describe(failure).outcome }
        return damaged > 0 ? .incomplete : .good
    }
}
