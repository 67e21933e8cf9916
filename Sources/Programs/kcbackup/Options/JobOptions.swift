internal import ArgumentParser
internal import KCAsking
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The options of a job: those of `create --to`, what to keep, when it runs, and what runs after it.
struct JobOptions: ParsableArguments {
    @OptionGroup
    var create: CreateOptions

    @OptionGroup
    var rules: RetentionOptions

    @Option(
        name: OptionName.at.name,
        help: ArgumentHelp("When it runs, as systemd.time(7) has it. (default: daily)", valueName: "time"))
    var at: String?

    @Flag(
        name: OptionName.onChange.name,
        help: "Run after each change, 30 seconds after the last; beside a time only with '--at'. Needs systemd.")
    var onChange = false

    @Option(
        name: OptionName.copyTo.name,
        help: ArgumentHelp(
            "After each run, copy new archives there, or to a folder of this machine ('/media/usb/kc'); may be repeated.",
            valueName: "remote:path"))
    var copyTo: [String] = []

    @Option(
        name: OptionName.verifyCopies.name,
        help: ArgumentHelp(
            "How many of the older copies in each place a run reads back, those unread for longest. (default: 1)",
            valueName: "n"))
    var verifyCopies: String?

    @Option(
        name: OptionName.fleet.name,
        help: ArgumentHelp(
            "After each run, put new archives and a signed receipt into this folder of many machines.",
            valueName: "remote:path"))
    var fleet: String?

    @Option(
        name: OptionName.onSuccess.name,
        help: ArgumentHelp("A shell command to run after a successful run.", valueName: "command"))
    var onSuccess: String?

    @Option(
        name: OptionName.onFailure.name,
        help: ArgumentHelp("A shell command to run after a run that failed.", valueName: "command"))
    var onFailure: String?

    @Option(
        name: OptionName.hookTimeout.name,
        help: ArgumentHelp("The time limit of those commands, as in '30s'. (default: 5m)", valueName: "time"))
    var hookTimeout: String?

    /// Returns the job that the options describe, after every check that is possible before it runs: a job that cannot
    /// work should fail now rather than at three in the morning.
    ///
    /// - Parameters:
    ///   - mayChange: true if the backups in its folder may be others so far.
    ///   - isFree: refuses a name that is taken.
    /// - Throws: `UsageProblem`, `ClockProblem`, `BackupFolderProblem`, `StoreUnfit`, `StoreUndecided`, `SecretProblem`,
    ///   `CatalogueFailure.switches`, `Refusal`, and errors of reading keys.
    func checked(
        as name: String, mayChange: Bool = false, in session: Session, isFree: () throws -> Void = {}
    ) throws -> CheckedJob {
        var backup = try create.request()
        try session.context.requireClock()
        let keep = try rules.retention()
        try isFree()
        guard let to = create.folder.to, !to.isEmpty else { throw UsageProblem.needsFolder }
        if RemoteLocation(to) != nil {
            throw UsageProblem(
                "a job keeps its backups in a folder of this machine; \(quoted(to)) is on a remote",
                hint: "use '\(OptionName.to.spelling) FOLDER \(OptionName.copyTo.spelling) \(shellWord(to))'",
                "a folder here with a colon in its name is './NAME'")
        }
        let folder = session.machine.absolute(to)
        if Path.isFile(folder) { throw UsageProblem.fileForFolder(to) }
        var subject = backup.stores == .home ? "everything in the home" : "every keychain"
        var kind = StoreKind.keychain
        if !backup.isOfSeveral {
            let found = try session.context.storeToBackUp(
                backup.storeName, forFolder: folder, mayChange: create.folder.change)
            // The job backs up what is meant today, even if that is not the default anymore when it runs.
            if backup.stores == .standard { backup.stores = .named(found.name) }
            subject = found.words
            kind = found.kind
        }
        // A home is among several stores.
        try kind.check(backup.demands.filter { backup.stores != .home || $0 != .acceptMissing })
        if create.folder.change { throw UsageProblem.notUnattended(.change) }
        if create.folder.acceptShrink { throw UsageProblem.notUnattended(.acceptShrink) }
        let given = backup
        backup = try backup.unattended(in: session)
        let switches = try backup.difference(in: folder, session.context)
        if let switches, !mayChange { throw CatalogueFailure.switches(folder: folder, switches) }
        var job = Job(name: name, try create.folder.request(backup, to: folder), place: folder)
        job.keep = keep
        job.onChange = onChange
        if at != nil || onChange { job.time = at }
        if onChange { job.request.ifChanged = true }
        job.onSuccess = onSuccess
        job.onFailure = onFailure
        job.hookTimeout = try requireHooks()
        job.copiesReadable = create.folder.metadataReadable
        (job.copyTo, job.fleet) = try remotes(besides: folder, in: session)
        job.verifiedCopies = try readBack()
        try job.requireTime(in: session)
        try job.requireWatch(in: session)
        try given.requireSources(in: session)
        guard job.hasOnlyLines else { throw JobFailure.severalLines }
        return CheckedJob(job: job, subject: subject, switches: switches != nil)
    }

    /// The folders that archives are copied to, and that of the fleet, each in one spelling.
    ///
    /// - Parameter folder: that of the backups.
    /// - Throws: `UsageProblem` (`malformed`, `needs`), `Refusal.readableRemote`, and as `RemoteFolder.init`.
    private func remotes(besides folder: String, in session: Session) throws -> (copyTo: [String], fleet: String?) {
        if copyTo.isEmpty, fleet == nil {
            if create.folder.metadataReadable { throw UsageProblem.needs(.metadataReadable, .copyTo) }
            return ([], nil)
        }
        if create.unencrypted, !create.folder.metadataReadable { throw Refusal.readableRemote }
        func location(_ to: String, of option: OptionName) throws -> RemoteLocation {
            guard let location = RemoteLocation(to) else {
                throw UsageProblem.malformed(
                    option, form: option == .fleet ? RemoteLocation.form : RemoteLocation.destinationForm)
            }
            // Receipts are listed by the times of the server, which sftp does not tell.
            let mover: any RemoteMover =
                try option == .fleet ? session.machine.rclone() : session.machine.mover(of: location)
            return try RemoteFolder(location, mover).location
        }
        let folders = try copyTo.map { to in
            guard RemoteLocation(to) == nil, let here = try session.machine.folderOfCopies(to) else {
                return try location(to, of: .copyTo).text
            }
            try session.machine.requireOutsideOfData(here.path)
            if CatalogueFile.place(of: here.path).exact == CatalogueFile.place(of: folder).exact {
                throw UsageProblem("'\(OptionName.copyTo.spelling)' names the folder that the backups are in")
            }
            return here.text
        }
        if Set(folders.map(\.exact)).count < folders.count {
            throw UsageProblem("'\(OptionName.copyTo.spelling)' names a folder twice")
        }
        return (folders, try fleet.map { try location($0, of: .fleet).text })
    }

    /// How many older copies a run reads back.
    private func readBack() throws(UsageProblem) -> Int {
        guard let verifyCopies else { return Job.usualVerifiedCopies }
        if copyTo.isEmpty, fleet == nil { throw .needs(.verifyCopies, .copyTo) }
        guard verifyCopies.wholeMatch(of: /0|[1-9][0-9]{0,3}/) != nil, let number = Int(verifyCopies), number <= 1_000
        else {
            throw .malformed(.verifyCopies, form: "a number from 0 to 1000")
        }
        return number
    }

    /// Returns the time limit of the hooks.
    private func requireHooks() throws(UsageProblem) -> Duration? {
        if hookTimeout != nil, onSuccess == nil, onFailure == nil { throw .needs(.hookTimeout, .onFailure) }
        let limit = try hookTimeout.map { text throws(UsageProblem) in
            try LockWaitOption.wait(text, of: .hookTimeout)
        }
        for (option, command) in [(OptionName.onSuccess, onSuccess), (.onFailure, onFailure)] where command == "" {
            throw .empty(option)
        }
        return limit
    }
}

/// A job that passed every check.
struct CheckedJob {
    let job: Job
    /// The subject of its backups, as text.
    let subject: String
    /// True if the backups in its folder are others so far.
    let switches: Bool

    /// The job, after its folder was made where there is none.
    ///
    /// - Throws: `FileFailure`, and errors of making the device key.
    func placed(in session: Session) throws -> Job {
        try session.context.makeDeviceKey()
        try Path.makeFolder(job.folder)
        try PrivateFolder.require(job.folder)
        var job = job
        job.place = CatalogueFile.place(of: job.folder)
        return job
    }
}

extension Job {
    /// Makes the folders of this machine that the job copies to, and those with these names did not.
    ///
    /// - Throws: `CatalogueFailure.folderMissing`, `FileFailure`.
    func makeFoldersOfCopies(beyond known: [String] = []) throws {
        for to in copyTo where !known.contains(where: { $0.exact == to.exact }) {
            guard let folder = RemoteLocation(destination: to), folder.isHere, !Path.isFolder(folder.path) else {
                continue
            }
            // A disk that is not mounted must not be replaced by new folders.
            let parent = Path.split(folder.path).folder
            guard Path.isFolder(parent) else { throw CatalogueFailure.folderMissing(folder: parent) }
            try Path.makeFolder(folder.path)
        }
    }

    /// Refuses a time that systemd does not know, and warns of one that never comes; without systemd, refuses one that it
    /// cannot know.
    ///
    /// - Throws: `UsageProblem.malformed`, `StreamFailure` (`interrupted`).
    fileprivate func requireTime(in session: Session) throws {
        guard let time else { return }
        let problem = UsageProblem.malformed(.at, form: "a time such as 'daily', 'hourly' or 'Mon..Fri 12:00'")
        guard (1...100).contains(time.utf8.count), time.exact.isASCIILettersAndDigits(or: "*:,.~/ -_+") else {
            throw problem
        }
        let script = ShellScript(
            """
            command -v systemd-analyze > /dev/null || exit 0
            exec env LC_ALL=C systemd-analyze calendar -- "$1" 2>&1
            """, [time])
        do throws(ShellCommand.Failure) {
            let told = try ShellCommand.output(of: script, environment: session.machine.environment, limit: 65_536)
            let text = told.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
            if text.exact.contains("Next elapse: never") {
                session.warn("the time \(quoted(time)) never comes, so no timer will start job \(quoted(name))")
            }
        } catch {
            // The signal may have ended systemd-analyze first.
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            throw problem
        }
    }
}
