internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup run`.
struct RunCommand: Verb {
    static let mainOptions: [OptionName] = [.acceptShrink, .change, .lockWait]

    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a job: create, verify, copy, prune.",
        discussion: """
            For cron and systemd. Nothing is asked; without a terminal, success is silent, and a failure is one line. \
            Archives that have not been read for a week are read again. \
            New archives are copied to the remotes of the job ('--copy-to'); if the backup is good and \
            a copy failed, the run ends with 19, and the next one copies what is missing. Old archives are removed only \
            after a good backup; the newest of which the copies are gone stay. A folder that has lost all its \
            copies gets none, as when its disk is not mounted, and each run ends with 19, until '--change' is given. A job of a fleet ('--fleet') \
            ends by writing a signed receipt of its result there, whatever the result is.

            The commands of the job get KCBACKUP_JOB, KCBACKUP_RESULT (the name of the exit code), KCBACKUP_CODE, \
            KCBACKUP_ITEMS, KCBACKUP_ARCHIVES and KCBACKUP_REMOVED in their environment, and no names of items. Their \
            standard input is empty, and only their standard error is shown. They are ended after 5 minutes \
            ('--hook-timeout' of 'schedule add'), or when the run is interrupted.

            EXAMPLES:
              kcbackup run nightly
              kcbackup run nightly -v
              kcbackup run nightly --accept-shrink
            """)

    @Argument(help: "The job, as 'schedule list' shows it.", completion: KnownNames.jobs)
    var job: String

    @Flag(
        name: OptionName.acceptShrink.name,
        help: "For this run, keep an archive even if it has far fewer items than the last one.")
    var acceptShrink = false

    @Flag(
        name: OptionName.change.name,
        help: "For this run, accept a different keychain, keys or mode, or emptied folders of backups or copies.")
    var change = false

    @Option(
        name: OptionName.lockWait.name,
        help: ArgumentHelp(
            "Wait that long for a run of the same job, as in '5m'. (default: do not wait)", valueName: "time"))
    var lockWait: String?

    @Option(
        name: OptionName.whenChanged.name,
        help: ArgumentHelp(
            "Run only if something has changed since the last run, once nothing has for that long, as in '30s'.",
            valueName: "time"))
    var whenChanged: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        guard let whenChanged else { return try runNow(in: session) ?? .ok }
        let quiet = try LockWaitOption.wait(whenChanged, of: .whenChanged)
        let known = try Jobs(session.machine).job(job)
        guard known.onChange, let files = WatchedFiles(of: known, in: session.machine.dataFolder) else {
            throw UsageProblem.notAfterChanges(known)
        }
        var status: ExitStatus?
        // A change during a run starts no other one, so this one looks for it.
        for _ in 0..<Self.mostRuns {
            try files.waitForQuiet(quiet)
            guard let ended = try runNow(ifChanged: files, in: session) else { break }
            status = ended
        }
        if status == nil { session.note("nothing has changed since the last run of job \(quoted(job))") }
        return status ?? .ok
    }

    /// How often it runs if something changes during each run.
    private static let mostRuns = 10
    /// How long it waits for another run before it looks whether that one has found the change.
    private static let longestWait = Duration.seconds(24 * 3_600)

    /// Runs the job.
    ///
    /// - Parameter files: nil to run in any case.
    /// - Returns: nil if the last run has found the files as they are.
    private func runNow(ifChanged files: WatchedFiles? = nil, in session: Session) throws -> ExitStatus? {
        let jobs = Jobs(session.machine)
        let known = try jobs.job(self.job)
        let wait =
            try lockWait.map { text throws(UsageProblem) in try LockWaitOption.wait(text) }
            ?? (files == nil ? .zero : Self.longestWait)
        let lock: FileLock
        do throws(FileFailure) {
            lock = try jobs.lock(self.job, waitingAtMost: wait)
        } catch {
            if error.problem == .busy { throw refusal(besideRunOf: known, jobs, session) }
            throw error
        }
        defer { withExtendedLifetime(lock) {} }
        // While this run waited, the job may have been edited.
        let job = try jobs.job(self.job)
        let last = lastRecord(of: job, jobs, session)
        if let files, let last, try last.hasSeen(files.marks()) { return nil }
        var record = RunRecord(began: session.now)
        record.good = last?.good
        record.items = last?.items ?? 0
        record.seen = try job.marks(in: session)
        do {
            try jobs.save(record, of: job.name)
        } catch {
            // The backup is worth more than its record.
            session.warn("job \(quoted(job.name)): \(recordFailure(error, session).message)")
        }
        return try finish(job, record, last, jobs, session)
    }

    /// Runs a job whose beginning is recorded.
    private func finish(
        _ job: Job, _ begun: RunRecord, _ last: RunRecord?, _ jobs: Jobs, _ session: Session
    ) throws -> ExitStatus {
        var record = begun
        var text = run(job, itemsBefore: last?.good == nil ? nil : last?.items, session)
        if change, text.report.backup?.isBackedUp == true { keepFolder(of: job, jobs, session) }
        record.end(with: text, at: max(session.now, session.machine.clock()))
        do {
            // A run that a signal has ended is recorded too.
            try Interruption.withheld { try jobs.save(record, of: job.name) }
        } catch {
            let failure = recordFailure(error, session)
            if text.status == .ok {
                text.fail(failure.prefixed("the backup is done, but "))
            } else {
                session.warn("job \(quoted(job.name)): \(failure.message)")
            }
        }
        if text.status == .ok { session.done = "job \(quoted(job.name)) ran" }
        let told = Result { try text.tell(session) }
        callHook(of: job, text.status, text.report, session)
        do {
            try told.get()
        } catch  where text.status != .ok {
            // The status of the job says more.
            session.warn(session.failure(of: error).explanation.message)
        }
        return text.status
    }

    /// Refuses to run beside another run.
    ///
    /// If that should have ended long ago, this is the only one that can call the command for failures.
    private func refusal(besideRunOf job: Job, _ jobs: Jobs, _ session: Session) -> Refusal {
        let refusal = Refusal.jobRuns(job.name)
        do {
            guard try jobs.record(job.name)?.isOverdue(at: session.now) == true else { return refusal }
            callHook(of: job, .busy, nil, session)
        } catch {
            session.warn(session.failure(of: error).explanation.message)
        }
        return refusal
    }

    /// Runs the steps of a job, which ask nobody.
    private func run(_ job: Job, itemsBefore: Int?, _ session: Session) -> JobRunText {
        var world = session.world
        world.terminal = NoTerminal()
        if !style.verbose { world.messages = NoOutput() }
        let unattended = Session(world, OutputStyle(isVerbose: style.verbose))
        unattended.subject = Failure.Subject(file: job.folder, job: job.name)
        var run = JobRun(
            of: job, in: unattended.context, calendar: session.calendar, describe: unattended.recorded)
        run.accepted = RunExceptions(acceptsShrinkage: acceptShrink, mayChange: change)
        run.itemsBefore = itemsBefore
        run.namesBound = style.verbose
        return JobRunText(run.run(), of: job, in: unattended)
    }

    /// Lets later runs use the folder to which links lead now.
    private func keepFolder(of job: Job, _ jobs: Jobs, _ session: Session) {
        var changed = job
        changed.place = CatalogueFile.place(of: job.folder)
        if changed == job { return }
        do {
            try jobs.replace(changed)
            changed.warnOfSystemUnits(since: job, in: session)
        } catch {
            session.warn(
                "job \(quoted(job.name)): its folder cannot be changed: "
                    + session.failure(of: error).explanation.message)
        }
    }

    /// Returns the record of the last run; one that cannot be read does not keep this run from its backup.
    private func lastRecord(of job: Job, _ jobs: Jobs, _ session: Session) -> RunRecord? {
        do {
            return try jobs.record(job.name)
        } catch {
            session.warn(session.failure(of: error).explanation.message + "; this run writes a new one")
            return nil
        }
    }

    private func recordFailure(_ error: any Error, _ session: Session) -> Explanation {
        session.failure(of: error).explanation
            .prefixed("the record of this run cannot be written: ")
    }

    private func callHook(of job: Job, _ status: ExitStatus, _ report: JobRun.Report?, _ session: Session) {
        guard let command = status == .ok ? job.onSuccess : job.onFailure else { return }
        let values = [
            "KCBACKUP_JOB": job.name, "KCBACKUP_RESULT": status.name, "KCBACKUP_CODE": String(status.code),
            "KCBACKUP_ITEMS": String(report?.items ?? 0), "KCBACKUP_ARCHIVES": String(report?.archives ?? 0),
            "KCBACKUP_REMOVED": String(report?.removed ?? 0),
        ]
        let option = status == .ok ? OptionName.onSuccess : .onFailure
        let limit = job.hookTimeout ?? Job.usualHookTimeout
        do throws(ShellCommand.RunFailure) {
            try ShellCommand.run(
                ShellScript(ofUser: command), environment: session.machine.environment.merging(values) { $1 },
                timeLimit: limit)
        } catch {
            let reason =
                switch error {
                case .failed(let status): "ended with status \(status)"
                case .notStarted(let code): "cannot be started: error \(code)"
                case .interrupted: "was interrupted"
                case .timedOut: "took more than \(limit.components.seconds) s, and was ended"
                }
            session.warn("job \(quoted(job.name)): the command of '\(option.spelling)' \(reason)")
        }
    }
}

extension RunRecord {
    fileprivate mutating func end(with text: JobRunText, at time: Timestamp) {
        ended = time
        status = text.status
        message = text.explanation?.message ?? ""
        hints = text.explanation?.hints ?? []
        // Missing copies have a record of their own.
        if text.report.isGood {
            good = time
            items = text.report.items
        }
    }
}
