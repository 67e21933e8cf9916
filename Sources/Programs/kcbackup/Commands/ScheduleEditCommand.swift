internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup schedule edit`.
struct ScheduleEditCommand: Verb {
    static let keyringUse = KeyringUse.direct

    static let mainOptions: [OptionName] = [.at, .keepDaily, .remove]

    static let otherOptions: [OptionName]? = [
        .keychain, .to, .recipient, .passphrase, .passcode, .ifChanged, .copyTo, .onSuccess, .onFailure,
    ]

    static func title(of option: OptionName) -> OptionTitle { option == .remove ? .job : option.title }

    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the options of a job.",
        discussion: """
            Takes the options of 'schedule add'. Options that are not given stay; one that may be repeated replaces \
            all earlier ones of its name. The job is checked like a new one, and stays as it was if a check fails. Its \
            systemd units are replaced too; if the system has units of the job, which only root can replace, a warning \
            names them.

            EXAMPLES:
              kcbackup schedule edit nightly --at hourly --keep-hourly 48
              kcbackup schedule edit nightly --remove on-failure --remove if-changed
            """)

    @Argument(help: "The job.", completion: KnownNames.jobs)
    var job: String

    @Option(
        name: OptionName.remove.name,
        help: ArgumentHelp("An option to remove, as in 'on-failure'; may be repeated.", valueName: "option"))
    var remove: [String] = []

    @OptionGroup
    var options: JobOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let jobs = Jobs(session.machine)
        _ = try jobs.job(job)
        // A run may keep the job with its folder of now.
        let lock: FileLock
        do throws(FileFailure) {
            lock = try jobs.lock(job, waitingAtMost: .zero)
        } catch {
            if error.problem == .busy { throw Refusal.jobRuns(job) }
            throw error
        }
        defer { withExtendedLifetime(lock) {} }
        let old = try jobs.job(job)
        let checked = try edited(old, in: session)
        var new = checked.job
        if new.folder.exact == old.folder.exact {
            new.place = old.place
        } else {
            new = try checked.placed(in: session)
        }
        try new.makeFoldersOfCopies(beyond: old.copyTo)
        let outdated = try keep(new, insteadOf: old, jobs, session)
        // In a folder without backups, the job begins anew; otherwise a run would miss those that it had elsewhere.
        if new.place.exact != old.place.exact,
            try session.machine.catalogueIfAny(of: new.folder)?.complete.isEmpty != false
        {
            try jobs.forgetGood(of: job)
        }
        session.noteDone(
            new == old
                ? "job \(quoted(job)) is as before"
                : "job \(quoted(job)) changed, which backs up \(checked.subject); try it: 'kcbackup run \(job) -v'")
        if checked.switches {
            session.warn(
                "the backups in \(quoted(new.folder)) are others so far: "
                    + "'kcbackup run \(job) \(OptionName.change.spelling)' accepts that once")
        }
        new.backup.warnOfLocks(of: job, in: session)
        if let outdated { session.warn(outdated) }
        new.warnOfSystemUnits(since: old, in: session)
        if style.json { try session.result(["jobs": [new.json]], []) }
        return .ok
    }

    /// The job with the given options in place of those that it has.
    private func edited(_ old: Job, in session: Session) throws -> CheckedJob {
        if options.create.folder.acceptShrink { throw UsageProblem.notUnattended(.acceptShrink) }
        let settings = JobSetting.all
        if remove.isEmpty, !settings.contains(where: { $0.isGiven(in: options) }) {
            throw UsageProblem.noSetting(
                use: "an option of 'kcbackup schedule add', or '\(OptionName.remove.spelling) OPTION'")
        }
        var all = JobOptions(old)
        let known = settings.filter { $0.isGiven(in: all) }
        for name in remove {
            guard let setting = known.first(where: { $0.option.rawValue.exact == name.exact }),
                setting.isGiven(in: all)
            else {
                let list = known.map(\.option.rawValue).sorted().joined(separator: ", ")
                throw UsageProblem(
                    "\(quoted(name)) is not an option that '\(OptionName.remove.spelling)' can remove; these are: \(list)"
                )
            }
            setting.copy(from: .none, to: &all)
        }
        JobSetting.merge(options, into: &all)
        // A run accepts that once; here it only means that this is known.
        return try all.checked(as: old.name, mayChange: options.create.folder.change, in: session)
    }

    /// Keeps the job and its units, or neither.
    ///
    /// - Returns: what starts the job and is as before, for a warning; nil if nothing is.
    private func keep(_ new: Job, insteadOf old: Job, _ jobs: Jobs, _ session: Session) throws -> String? {
        guard let installed = try InstalledUnits(of: job, in: session.machine.surroundings) else {
            let isOfSystem = try !InstalledUnits.systemPaths(of: job, in: session.machine.surroundings).isEmpty
            try jobs.replace(new)
            if new.time?.exact == old.time?.exact && new.onChange == old.onChange || isOfSystem { return nil }
            guard JobStarter(of: new, in: session.machine) == .found else { return nil }
            return "what starts job \(quoted(job)) does so when it did: "
                + "'kcbackup schedule show \(job) \(OptionName.crontab.spelling)' prints a new line for cron"
        }
        guard let units = try installed.units(of: new, insteadOf: old, in: session.machine.surroundings) else {
            try jobs.replace(new)
            return "the units of job \(quoted(job)) are as before, since 'kcbackup schedule install' has not written "
                + "them: 'kcbackup schedule install \(job)' replaces them"
        }
        let gone = try installed.startersGone(with: units)
        try installed.replace(
            with: units,
            notRestored: { session.warn("a unit could not be put back: \(explainFile($0).message)") },
            { try jobs.replace(new) })
        session.note("its units are replaced; '\(units.startCommand)' makes systemd read them")
        return gone.first.map { unit in
            "\(quoted(unit)) is removed, and runs until 'systemctl --user disable --now \(unit)' stops it"
        }
    }
}
