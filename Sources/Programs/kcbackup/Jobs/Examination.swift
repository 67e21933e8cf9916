internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCFleet
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCRemotes
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// Runs the checks of `doctor`.
struct Examination {
    struct Problem {
        let job: String?
        let explanation: Explanation
    }

    private(set) var problems: [Problem] = []
    /// Risks to runs and secrets, and data that no job backs up.
    private(set) var warnings: [(job: String?, message: String)] = []
    /// Observations that need no action, and checks that could not be made.
    private(set) var notes: [(job: String?, message: String)] = []
    private(set) var count = 0
    private let session: Session
    private var job: String?

    /// Creates an examination that never asks anything, because a job cannot ask either.
    init(_ session: Session) {
        self.session = session.unattended
    }

    mutating func run() {
        checkDeviceKey()
        let jobs = Jobs(session.machine)
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
        lookAtKeychains()
        lookAtKits()
        lookAtKeyringFiles()
        lookAtHome()
        guard let state else { return }
        if !state.jobs.isEmpty { lookForDesktop(state) }
        for failure in GoneKeychain.failures(in: state, of: session) { report(failure.explanation) }
        for keychain in state.stores {
            count += 1
            // A job that cannot be read may be that of the keychain; of the desktop keyring, there is a warning.
            guard !keychain.isDesktop, keychain.jobs.isEmpty, !names.isEmpty, state.unreadable.isEmpty
            else { continue }
            report(
                Explanation(
                    .notFound, "keychain \(quoted(keychain.name)) is in no job",
                    hint: "add it to one, or make that one back up all of them with '\(OptionName.all.spelling)'"))
        }
        compareClock(with: state)
    }

    /// Reports the archive with the latest date if that is in the future: the clock is slow, or was fast then.
    private mutating func compareClock(with state: BackupState) {
        count += 1
        let archives = state.catalogues.flatMap { catalogue in catalogue.complete.map { (catalogue.folder, $0) } }
        guard let (folder, newest) = archives.max(by: { $0.1.created < $1.1.created }), newest.created > session.now
        else { return }
        let path = "\(folder)/\(newest.name)"
        report(
            Explanation(
                .refused,
                "the clock says \(session.calendar.moment(session.now)), and \(quoted(path)) is of "
                    + session.calendar.moment(newest.created),
                hint: "if the clock is wrong, set it: 'timedatectl' shows it",
                "if it was fast when that archive was made, move the archive out of its folder, and 'kcbackup list "
                    + "\(OptionName.rebuild.spelling) \(shellWord(folder))' forgets it"))
    }

    /// Reports a device key that cannot be used, or that is missing where something needs it.
    private mutating func checkDeviceKey() {
        check { session in
            do throws(DeviceKeyFailure) {
                let key = try LocalDevice(session.machine).provider.load()
                try failing(as: DeviceKeyFailure.cryptography, key.prove())
            } catch {
                // The first backup of the desktop keyring makes the key.
                if case .notFound = error, try Jobs(session.machine).names().isEmpty,
                    case .desktop = try StandardStore(in: session.machine)
                {
                    return
                }
                // The key may have been lost.
                _ = try LocalDevice(session.machine).key()
                throw error
            }
        }
    }

    private mutating func reportNoJob() {
        var hints = ["'kcbackup schedule add' makes one; see its help for examples"]
        do throws(SecretServiceFailure) {
            if try session.machine.desktopKeyringHasItems() == true { hints = [Self.desktopJob] }
        } catch {
            return report(session.failure(of: error).explanation)
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
            names = try LocalKeychain.names(in: session.machine.dataFolder)
        } catch {
            return report(session.failure(of: error).explanation)
        }
        for name in names {
            count += 1
            do {
                _ = try LocalKeychain(name, in: session.machine).open(in: session.machine)
            } catch {
                let problem = session.failure(of: error).explanation
                if !reported.contains(where: { $0.exact.hasPrefix(problem.message) }) { report(problem) }
            }
        }
    }

    /// Warns of a desktop keyring that no job backs up, or that no run of its job has found, if it is open to a look
    /// without starting or asking anything.
    private mutating func lookForDesktop(_ state: BackupState) {
        let jobs = state.jobs.map(\.job).filter(\.isOfDesktop)
        // A job of the keyring alone fails where that does not run.
        if !jobs.allSatisfy(\.isOfHome) || !state.unreadable.isEmpty { return }
        if !jobs.isEmpty, state.stores.contains(where: { $0.isDesktop && !$0.entries.isEmpty }) { return }
        count += 1
        do throws(SecretServiceFailure) {
            guard try session.machine.desktopKeyringHasItems() == true else { return }
        } catch {
            return report(session.failure(of: error).explanation)
        }
        guard let job = jobs.first else {
            warnings.append((nil, "the desktop keyring is in no job: \(Self.desktopJob)"))
            return
        }
        warnings.append(
            (
                job.name,
                "it has no backup of the desktop keyring, which did not run when the job did: "
                    + "'kcbackup run \(job.name)' while you are logged in makes one"
            ))
    }

    /// Warns of keychains that are copies of one file, and of those that would be lost with the chip of this device.
    private mutating func lookAtKeychains() {
        var found: [String] = []
        check { session in found = try session.copyWarnings() + EncryptedArchives.warnings(in: session) }
        warnings += found.map { (nil, $0) }
    }

    /// Warns of keyrings that have two versions, and of those of apps that nothing opens.
    private mutating func lookAtKeyringFiles() {
        count += 1
        var found = KeyringExamination()
        check { session in found = try KeyringExamination(in: session) }
        warnings += found.warnings.map { (nil, $0) }
        notes += found.notes.map { (nil, $0) }
        var ofApps: [String] = []
        check { session in ofApps = try AppKeyrings(in: session.machine).warnings }
        warnings += ofApps.map { (nil, $0) }
    }

    /// Warns of files of the home that hold secrets in the clear, and of folders in which a killed run may have left some.
    private mutating func lookAtHome() {
        var found: [String] = []
        check { session in found = try session.machine.unsweptFolders() }
        check { session in found += try HomeExamination(of: session.machine.home).warnings }
        warnings += found.map { (nil, $0) }
    }

    /// Warns of recovery kits that nobody has tried lately.
    private mutating func lookAtKits() {
        var kits: [RecoveryKit] = []
        check { session in kits = try session.machine.recoveryKits() }
        for kit in kits where kit.retired == nil {
            count += 1
            if let doubt = kit.doubt(at: session.now) {
                warnings.append((nil, doubt))
            } else if let checked = kit.checked {
                notes.append((nil, "recovery kit \(kit.fingerprint) was tried \(age(checked, at: session.now)) ago"))
            }
        }
    }

    /// Reports how the last run ended; a failure whose cause is still there is reported together with it.
    ///
    /// - Parameter known: the number of problems that were found before those of this job.
    private mutating func reportLastRun(_ state: BackupState.JobState, after known: Int) {
        count += 1
        if let unreadable = state.recordFailure { return report(unreadable.explanation) }
        guard let record = state.record, !state.isRunning || state.isOverdue(at: session.now) else { return }
        let last: Explanation
        if state.isRunning {
            last = Explanation(
                .busy, "its run of \(session.calendar.moment(record.began)) has not ended, and no other can begin",
                hint: BackupState.JobState.overdueHint)
        } else if record.ended == nil {
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
                // A store that is locked now has been found by now.
                let past = "its last run failed, for a reason that is gone: \(record.message)"
                warnings.append((state.job.name, "\(past); 'kcbackup run \(state.job.name) -v' runs it now"))
                return
            }
            last = Explanation(record.status, "\(record.failureWords): \(record.message)").adding(record.hints)
        } else {
            return
        }
        problems.insert(Problem(job: job, explanation: last.unattended), at: known)
    }

    /// Looks for what starts a job by itself.
    private mutating func lookForStarter(of job: Job) {
        count += 1
        switch JobStarter(of: job, in: session.machine) {
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
        let request = state.job.backup
        check { session in try session.context.requireClock() }
        check { session in _ = try request.keys?.recipients(in: session.context) }
        check { session in
            try Jobs(session.machine).requireFolder(of: state.job, hadBackups: state.good != nil)
            try session.machine.requireOutsideOfData(state.job.folder)
            try state.job.checkFolder(session.catalogue(of: state.job.folder))
            try request.requireSameUse(of: state.job.folder, in: session)
        }
        check { _ in try state.job.checkIdentities() }
        check { session in
            try state.job.checkDrill(
                session.machine.catalogueIfAny(of: state.job.folder), now: session.now, day: session.calendar.day)
        }
        check { session in
            // A job of one keychain knows how many items its last good run had.
            guard request.isOfSeveral || state.good == nil else { return }
            try state.job.checkContents(session.machine.catalogueIfAny(of: state.job.folder))
        }
        for copies in state.copies {
            var parts: [RemoteLocation] = []
            check { session in
                parts = try state.job.look(at: copies, isRunning: state.isRunning, on: session.machine)
            }
            warnings += [warning(ofParts: parts)].compactMap { $0.map { (state.job.name, $0) } }
        }
        if state.job.fleet != nil {
            check { session in
                let key = try LocalDevice(session.machine).key()
                try ReceiptSequence(besideKeyAt: session.machine.dataFolder.deviceKey, of: key).check()
            }
        }
        var names: [String?]
        do {
            let named = [request.storeName]
            names = try request.isOfSeveral ? LocalKeychain.names(in: session.machine.dataFolder) : named
            if request.stores == .home { names.append(HomeRoot.home.storeName) }
        } catch {
            return report(session.failure(of: error).explanation)
        }
        for name in names {
            check { session in
                try request.examine(StoreChoice.named(name, in: session.machine), in: session)
            }
        }
        if let source = request.keys?.passphrase {
            check { session in try session.checkSource(source) }
        }
        check { session in
            try state.job.checkServices(in: session.machine.surroundings)
            try state.job.checkPrograms(in: session.machine.surroundings) { JobStarter.crontab(in: session.machine) }
        }
        if !state.job.isOfDesktop { check { session in try state.job.checkLinger(in: session.machine.surroundings) } }
    }

    private mutating func check(_ body: (Session) throws -> Void) {
        count += 1
        do {
            try body(session)
        } catch {
            report(session.failure(of: error).explanation)
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
