internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService

/// Runs the checks of `doctor`.
struct Examination {
    struct Problem {
        let job: String?
        let explanation: Explanation
    }

    private(set) var problems: [Problem] = []
    /// What may keep a job from running, and what no job backs up.
    private(set) var warnings: [(job: String?, message: String)] = []
    /// What could not be examined.
    private(set) var notes: [(job: String, message: String)] = []
    private(set) var count = 0
    private let session: Session
    private var job: String?

    // In bytes. Making an archive needs twice the size of the last one, and this much more.
    private static let spareRoom: UInt64 = 16 << 20
    // The maximum number of days without a trial restore.
    private static let drillLimit: Int64 = 90

    /// Creates an examination that never asks anything, because a job cannot ask either.
    init(_ session: Session) {
        var world = session.world
        world.terminal = NoTerminal()
        world.messages = NoOutput()
        self.session = Session(world, OutputStyle(isQuiet: true))
    }

    mutating func run() {
        checkDeviceKey()
        let jobs = Jobs(session.world)
        var names: [String] = []
        check { _ in names = try jobs.names() }
        if names.isEmpty { reportNoJob() }
        var state: BackupState?
        check { session in state = try BackupState(in: session) }
        for name in names {
            job = name
            session.job = name
            count += 1
            if let damaged = state?.unreadable.first(where: { $0.name.exact == name.exact }) {
                report(damaged.failure.explanation)
            }
            guard let state = state?.jobs.first(where: { $0.job.name.exact == name.exact }) else { continue }
            let known = problems.count
            examine(state)
            reportLastRun(state, after: known)
        }
        job = nil
        session.job = nil
        openKeychains()
        guard let state else { return }
        if !state.jobs.isEmpty { lookForDesktop(state) }
        for keychain in state.keychains {
            count += 1
            // A job that cannot be read may be that of the keychain; of the desktop keyring, there is a warning.
            guard DesktopKeyring(keychain.name) == nil, keychain.jobs.isEmpty, !names.isEmpty, state.unreadable.isEmpty
            else { continue }
            report(
                Explanation(
                    .notFound, "keychain \(quoted(keychain.name)) is in no job",
                    hint: "add it to one, or make that one back up all of them with '\(OptionName.all.spelling)'"))
        }
        count += 1
        let newest = state.catalogues.flatMap(\.complete).map(\.created).max()
        if let newest, newest > session.now {
            report(
                Explanation(
                    .refused,
                    "the clock says \(session.calendar.moment(session.now)), and there is a backup of "
                        + session.calendar.moment(newest),
                    hint: "set the clock, 'timedatectl' shows it"))
        }
    }

    /// Reports a device key that cannot be used, or that is missing where something needs it.
    private mutating func checkDeviceKey() {
        check { session in
            do throws(DeviceKeyFailure) {
                _ = try LocalDevice(session.world).provider.load()
            } catch {
                // The first backup of the desktop keyring makes the key.
                if case .notFound = error, try Jobs(session.world).names().isEmpty,
                    case .desktop = try StandardStore(in: session.world)
                {
                    return
                }
                // It may have been lost.
                _ = try LocalDevice(session.world).key()
            }
        }
    }

    private mutating func reportNoJob() {
        var hints = ["'kcbackup schedule add' makes one; see its help for examples"]
        do throws(SecretServiceFailure) {
            if try session.world.desktopKeyringHasItems() == true { hints = [Self.desktopJob] }
        } catch {
            return report(Failure(error, session.subjects).explanation)
        }
        report(Explanation(.notFound, "no job backs anything up").adding(hints))
    }

    private static let desktopJob =
        "'kcbackup schedule add desk \(OptionName.keychain.spelling) \(DesktopKeyring.all.name) "
        + "\(OptionName.to.spelling) FOLDER -r age1…' makes one for the desktop keyring"

    /// Reports the keychains that cannot be opened, unless a job did already.
    private mutating func openKeychains() {
        let reported = problems.map(\.explanation.message)
        let names: [String]
        do {
            names = try LocalKeychain.names(in: session.world.dataFolder)
        } catch {
            return report(Failure(error, session.subjects).explanation)
        }
        for name in names {
            count += 1
            do {
                _ = try LocalKeychain(name, in: session.world).open(in: session)
            } catch {
                let problem = Failure(error, session.subjects).explanation
                if !reported.contains(where: { $0.exact.hasPrefix(problem.message) }) { report(problem) }
            }
        }
    }

    /// Warns of a desktop keyring that no job backs up, if it is open to a look without starting or asking anything.
    private mutating func lookForDesktop(_ state: BackupState) {
        if state.jobs.contains(where: \.job.isOfDesktop) || !state.unreadable.isEmpty { return }
        count += 1
        do throws(SecretServiceFailure) {
            guard try session.world.desktopKeyringHasItems() == true else { return }
        } catch {
            return report(Failure(error, session.subjects).explanation)
        }
        warnings.append((nil, "the desktop keyring is in no job: \(Self.desktopJob)"))
    }

    /// Reports how the last run ended; a failure whose cause is still there is reported together with it.
    ///
    /// - Parameter known: the number of problems that were found before those of this job.
    private mutating func reportLastRun(_ state: BackupState.JobState, after known: Int) {
        count += 1
        if let unreadable = state.unreadableRecord { return report(unreadable.explanation) }
        guard let record = state.record, !state.isRunning else { return }
        let last: Explanation
        if record.ended == nil {
            last = Explanation(
                .io, "its last run, of \(session.calendar.moment(record.began)), was killed",
                hint: "'kcbackup run \(state.job.name) -v' finishes what it left")
        } else if record.status != .ok {
            let cause = problems.indices[known...].first { index in
                let found = problems[index].explanation
                let hasSameRemedy = !found.hints.isEmpty && found.hints == record.hints
                return found.status == record.status && (found.message == record.message || hasSameRemedy)
            }
            if let cause {
                let found = problems[cause].explanation
                problems[cause] = Problem(
                    job: job, explanation: found.suffixed("; its last run failed because of that"))
                return
            }
            if record.status == .locked {
                // What is locked now has been found by now.
                let past = "its last run failed, for a reason that is gone: \(record.message)"
                warnings.append((state.job.name, "\(past); 'kcbackup run \(state.job.name) -v' runs it now"))
                return
            }
            last = Explanation(record.status, "its last run failed: \(record.message)").adding(record.hints)
        } else {
            return
        }
        problems.insert(Problem(job: job, explanation: last.unattended), at: known)
    }

    /// Looks for what starts a job by itself.
    private mutating func lookForStarter(of job: Job) {
        count += 1
        switch JobStarter(of: job, in: session) {
        case .found: break
        case .notEnabled(let command):
            warnings.append((job.name, "its timer is installed, and not enabled: '\(command)' starts it"))
        case .nothing:
            warnings.append((job.name, "nothing that kcbackup can see starts it: see \(job.startingWords)"))
        case .unknown:
            notes.append((job.name, "no timer of systemd starts it, and what cron starts cannot be seen here"))
        }
    }

    private mutating func examine(_ state: BackupState.JobState) {
        lookForStarter(of: state.job)
        var options: CreateOptions?
        check { session in
            options = try state.job.options()
            try options?.check(in: session)
        }
        guard let options else { return }
        check { session in
            if !options.unencrypted { _ = try options.keys.recipients(in: session) }
        }
        check { session in
            try state.job.requireFolder(hadBackups: state.good != nil, in: session)
            try Self.checkFolder(state.job.folder, session)
        }
        check { session in try Self.checkIdentities(beside: state.job.folder) }
        check { session in try Self.checkDrill(state.job.folder, session) }
        let names: [String?]
        let named = [options.keychain.keychain]
        do {
            names = try options.folder.all ? LocalKeychain.names(in: session.world.dataFolder) : named
        } catch {
            return report(Failure(error, session.subjects).explanation)
        }
        for name in names { check { session in try Self.checkKeychain(name, options, of: state.job, session) } }
        if let source = options.keys.passphrase {
            check { session in try Self.checkSource(source, .passphrase, session) }
        }
        // The desktop keyring is open only while its user is logged in.
        if state.job.isOfDesktop { return }
        let user = session.world.environment["USER"] ?? ""
        check { session in
            let timer = SystemdUnits.userPaths(of: state.job.name, in: session).timer
            guard try Path.exists(timer), user != "root", !user.isEmpty,
                try !Path.exists("/var/lib/systemd/linger/\(user)")
            else { return }
            throw Refusal.noLinger
        }
    }

    private static func checkFolder(_ path: String, _ session: Session) throws {
        try session.requireOutsideOfData(path)
        let known = try session.catalogue(of: path)
        guard Path.isFolder(path) else {
            let archives = known?.complete.count ?? 0
            if archives == 0 { throw CatalogueFailure.folderMissing(folder: path) }
            throw CatalogueFailure.folderGone(folder: path, archives: archives)
        }
        try PrivateFolder.require(path)
        if let known, try known.hasLostAll(in: path) {
            throw CatalogueFailure.folderGone(folder: path, archives: known.complete.count)
        }
        // Creating an unnamed file shows whether the folder is writable.
        _ = try UnnamedFile(inFolder: path)
        let wanted = (known?.complete.last?.file.size ?? 0) * 2 + spareRoom
        if let free = Path.freeSpace(in: path), free < wanted {
            throw Refusal.littleRoom(folder: path, free: free, wanted: wanted)
        }
    }

    /// Valid checksums do not prove that a restore works, so trial restores must be recent.
    private static func checkDrill(_ folder: String, _ session: Session) throws {
        guard let known = try session.catalogueIfAny(of: folder), let newest = known.complete.last,
            let since = known.undrilledSince,
            since < session.now.advanced(byMicroseconds: -drillLimit * 86_400_000_000)
        else { return }
        throw Refusal.notDrilled(
            folder: folder, since: session.calendar.day(since), archive: "\(folder)/\(newest.name)",
            needsKey: newest.mode == .encrypted)
    }

    /// A thief who takes the folder must not get the key along with it.
    private static func checkIdentities(beside folder: String) throws {
        guard Path.isFolder(folder) else { return }
        for name in try Path.names(in: folder).sorted(by: { $0.exact < $1.exact })
        where !name.exact.hasSuffix(ArchiveName.ending) {
            let text: SecretBytes
            do throws(FileFailure) {
                text = try PrivateFile.readPublic("\(folder)/\(name)")
            } catch {
                // Not a file, or larger than any identity file.
                continue
            }
            var isIdentity = false
            text.withBytes { bytes in
                // A private key must not leave wiped memory, so it is not converted to a String.
                bytes.forEachLine { line, _ in if line.starts(with: "AGE-SECRET-KEY-1") { isIdentity = true } }
            }
            if isIdentity { throw Refusal.identityBesideArchives(path: "\(folder)/\(name)") }
        }
    }

    private static func checkKeychain(
        _ name: String?, _ options: CreateOptions, of job: Job, _ session: Session
    ) throws {
        if let name, FileOfItems.path(name) != nil { return }
        if let keyring = DesktopKeyring(name) {
            let client = try keyring.connect(in: session)
            let locked = try client.locked(in: keyring.scope)
            if try !client.hasCollections { throw SecretServiceFailure.noCollections }
            if !locked.isEmpty, !options.skipLocked, options.keychain.passcode == nil {
                throw SecretServiceFailure.lockedTarget(locked)
            }
            return
        }
        var named = options.keychain
        named.keychain = name
        let keychain = try named.open(in: session)
        if !keychain.hasPasscode { return }
        if let source = options.escrow?.source {
            if case .credential = source, session.world.environment["CREDENTIALS_DIRECTORY"] == nil { return }
            _ = try options.subject(.none()).unlocked(keychain, in: session)
            return
        }
        if options.unencrypted { return }
        if options.needsPasscode(keychain) {
            throw Refusal.jobWithoutPasscode(
                job: job.name, keychain: session.subjects.keychain ?? LocalKeychain.defaultName,
                isLocked: false)
        }
        if case .credential? = named.passcode, session.world.environment["CREDENTIALS_DIRECTORY"] == nil { return }
        try named.unlock(keychain, in: session)
    }

    private static func checkSource(_ source: SecretSource, _ option: OptionName, _ session: Session) throws {
        // Credentials are available only in the unit that runs the job.
        if case .credential = source, session.world.environment["CREDENTIALS_DIRECTORY"] == nil { return }
        _ = try session.secrets.existing(
            WantedSecret(what: "passphrase of the archive", flag: option, source: source))
    }

    private mutating func check(_ body: (Session) throws -> Void) {
        count += 1
        do {
            try body(session)
        } catch {
            report(Failure(error, session.subjects).explanation)
        }
    }

    /// Adds a problem, unless it is that of this job, or of all jobs, already.
    private mutating func report(_ explanation: Explanation) {
        let isKnown = problems.contains { problem in
            problem.explanation.message == explanation.message && (problem.job == nil || problem.job == job)
        }
        if isKnown { return }
        problems.append(Problem(job: job, explanation: explanation.unattended))
    }
}
