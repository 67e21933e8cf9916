internal import ArgumentParser
internal import KCAsking
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup schedule`: manages jobs for unattended backups.
struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Schedule backups.",
        subcommands: [
            ScheduleAddCommand.self, ScheduleEditCommand.self, ScheduleShowCommand.self, ScheduleInstallCommand.self,
            ScheduleListCommand.self, ScheduleRemoveCommand.self,
        ])
}

/// `kcbackup schedule add`.
struct ScheduleAddCommand: Verb {
    static let keyringUse = KeyringUse.direct

    static let mainOptions: [OptionName] = [.to, .at, .keychain]

    static let otherOptions: [OptionName]? = [
        .all, .home, .recipient, .passphrase, .passcode, .unencrypted, .keepDaily, .copyTo, .onFailure,
    ]

    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a job for 'kcbackup run'.",
        discussion: """
            Takes the options of 'create --to', and those of 'prune' for what to keep. If a passcode or passphrase is \
            needed, name a SOURCE that works unattended: file:, cmd: or cred:. Makes the folder; 'run' never does, so \
            that a disk that is not mounted is noticed.

            EXAMPLES:
              kcbackup schedule add desk --keychain secret-service: --to ~/backups \\
                -r age1… --keep-daily 14
              kcbackup schedule add nightly --all --to ~/keychains -r age1… \\
                --passcode file:~/.passcode --keep-daily 14
              kcbackup schedule add hourly --unencrypted --to ~/hourly \\
                --if-changed --keep-hourly 48 --at hourly
            """)

    @Argument(help: "The name of the job.")
    var job: String

    @OptionGroup
    var options: JobOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let jobs = Jobs(session.machine)
        let checked = try options.checked(as: self.job, in: session) { try jobs.requireFree(self.job) }
        let job = try checked.placed(in: session)
        try job.makeFoldersOfCopies()
        try jobs.add(job)
        session.noteDone(
            "job \(quoted(job.name)) added, which backs up \(checked.subject); "
                + "try it: 'kcbackup run \(job.name) -v'")
        job.backup.warnOfLocks(of: job.name, in: session)
        job.warnOfUnits(in: session)
        if job.fleet != nil {
            session.note("the fleet knows this machine as \(try LocalDevice(session.machine).key().id)")
        }
        session.note("then let it run by itself: \(job.startingWords)")
        if style.json { try session.result(["jobs": [job.json]], []) }
        return .ok
    }
}

/// `kcbackup schedule list`.
struct ScheduleListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the jobs.",
        discussion: """
            EXAMPLES:
              kcbackup schedule list
            """)

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let jobs = Jobs(session.machine)
        var found: [Job] = []
        var unreadable: [UnreadableJob] = []
        for name in try jobs.names() {
            do {
                found.append(try jobs.job(name))
            } catch {
                // An unreadable job must neither hide the others nor be hidden.
                unreadable.append(UnreadableJob(name: name, error: error))
            }
        }
        var table = Table([
            Table.Column(title: "JOB", least: 8), Table.Column(title: "TIME", least: 6),
            Table.Column(title: "FOLDER", least: 10, isWhole: true),
        ])
        for job in found { table.append([job.name, job.timeWords, job.folder]) }
        for job in unreadable { table.append([job.name, "?", "?"]) }
        try session.result(
            ["jobs": .list(found.map(\.json)), "unreadable": .list(unreadable.map(\.json))],
            table.isEmpty ? [] : table.lines(width: session.tableWidth))
        if table.isEmpty { session.note("no jobs; 'kcbackup schedule add' makes one") }
        for job in unreadable { session.message(job.failure.explanation.lines) }
        return unreadable.first?.failure.explanation.status ?? .ok
    }
}

/// `kcbackup schedule remove`.
struct ScheduleRemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a job; its backups stay.",
        discussion: """
            EXAMPLES:
              kcbackup schedule remove nightly
            """)

    @Argument(help: "The job.", completion: KnownNames.jobs)
    var job: String

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let jobs = Jobs(session.machine)
        try jobs.requireExisting(job)
        var found: Job?
        var unreadable: UnreadableJob?
        do {
            found = try jobs.job(job)
        } catch {
            // A job can be removed without being read.
            unreadable = UnreadableJob(name: job, error: error)
        }
        // A run that goes on would leave its records to the next job of this name.
        let lock: FileLock
        do throws(FileFailure) {
            lock = try jobs.lock(job, waitingAtMost: .zero)
        } catch {
            if error.problem == .busy { throw Refusal.jobRuns(job) }
            throw error
        }
        try withExtendedLifetime(lock) { try jobs.remove(job) }
        session.noteDone(
            "job \(quoted(job)) removed; its backups stay" + (found.map { " in \(displayed($0.folder))" } ?? ""))
        try warnOfUnits(in: session)
        if style.json {
            try session.result(
                [
                    "jobs": .list(found.map { [$0.json] } ?? []),
                    "unreadable": .list(unreadable.map { [$0.json] } ?? []),
                ],
                [])
        }
        return .ok
    }
}

extension ScheduleRemoveCommand {
    /// Warns of units of the job, which go on starting it.
    private func warnOfUnits(in session: Session) throws {
        let surroundings = session.machine.surroundings
        let units = SystemdUnits.userPaths(of: job, in: surroundings)
        func warn(_ path: String, _ manager: String) {
            let isOfPath = [units.changedService, units.path].contains {
                Path.split($0).name.exact == Path.split(path).name.exact
            }
            let starter = Path.split(isOfPath ? units.path : units.timer).name
            session.warn(
                "its unit is still there: \(quoted(path)); '\(manager) disable --now \(starter)' stops the "
                    + (isOfPath ? "path unit" : "timer"))
        }
        for path in units.all where try Path.exists(path) { warn(path, "systemctl --user") }
        for path in try InstalledUnits.systemPaths(of: job, in: surroundings) { warn(path, "systemctl") }
    }
}

/// `kcbackup schedule show`.
struct ScheduleShowCommand: Verb {
    static let mainOptions: [OptionName] = [.crontab, .system]

    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the systemd units or the crontab line of a job.",
        discussion: """
            Prints a systemd service and a timer below the command that makes the job, or with '--crontab' a line for \
            crontab(5).

            EXAMPLES:
              kcbackup schedule show nightly
              kcbackup schedule show nightly --crontab
              kcbackup schedule show nightly --system
            """)

    @Argument(help: "The job.", completion: KnownNames.jobs)
    var job: String

    @Flag(name: OptionName.crontab.name, help: "Print a line for crontab(5).")
    var crontab = false

    @OptionGroup
    var unit: UnitOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if crontab, unit.system { throw UsageProblem.together(.crontab, .system) }
        if crontab, unit.encryptedCredentials { throw UsageProblem.together(.crontab, .encryptedCredentials) }
        let found = try Jobs(session.machine).job(job)
        do {
            try found.requireKeys(in: session)
        } catch {
            session.warn("a run would fail: \(session.failure(of: error).explanation.message)")
        }
        if crontab {
            let line = try found.crontabLine(in: session.machine.surroundings)
            try session.result(["jobs": [found.json], "crontab": .text(line)], [line + "\n"])
            return .ok
        }
        let files = try unit.units(of: found, in: session).files()
        try session.result(
            [
                "jobs": [found.json],
                "units": .list(files.map { ["name": .text($0.name), "text": .text($0.text)] }),
            ],
            ["# \(found.command)\n"] + files.map { "# \($0.name)\n\($0.text)\n" })
        return .ok
    }
}

/// `kcbackup schedule install`.
struct ScheduleInstallCommand: Verb {
    static let mainOptions: [OptionName] = [.system, .encryptedCredentials, .failureUnit]

    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Install the systemd units of a job.",
        discussion: """
            Writes the service and the timer that 'schedule show' prints, and says how to start the timer. Existing \
            units are replaced. Only root can write system units; 'schedule show --system' prints those for another \
            user's job.

            EXAMPLES:
              kcbackup schedule install nightly
              kcbackup schedule install nightly --system
            """)

    @Argument(help: "The job.", completion: KnownNames.jobs)
    var job: String

    @OptionGroup
    var unit: UnitOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let found = try Jobs(session.machine).job(job)
        try found.requireKeys(in: session)
        let units = try unit.units(of: found, in: session)
        let folder = units.folder
        let files = try units.files()
        try Path.makeFolder(folder)
        for file in files { try PrivateFile.replace("\(folder)/\(file.name)", file.text.utf8.span) }
        session.done = "the units of job \(quoted(job)) are installed"
        try session.result(
            ["jobs": [found.json], "installed": .list(files.map { .text("\(folder)/\($0.name)") })],
            ["installed; start it with\n", "  \(units.startCommand)\n"])
        return .ok
    }
}
