internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

// The effects of commands that change a keychain or the kits of this device on the jobs that use them.

extension Session {
    /// Refuses a new kit beside which the keys of a job cannot stand: from then on, each run would fail.
    ///
    /// A job whose keys cannot be read fails with and without the kit, so that it only gets a warning.
    ///
    /// - Throws: `otherStrengthOfJobs` if there is such a job.
    func requireJobsFit(kitThatIsPostQuantum isPostQuantum: Bool) throws(KitProblem) {
        var misfits: [String] = []
        var hasOthers = false
        let jobs = Jobs(machine)
        for name in jobNames(jobs) {
            do {
                let strengths = try jobs.job(name).backup.strengths(in: unattended)
                if strengths.contains(!isPostQuantum) {
                    misfits.append(name)
                } else if strengths.contains(isPostQuantum) {
                    hasOthers = true
                }
            } catch {
                warn(
                    "whether job \(quoted(name)) can make archives for the kit is not known: "
                        + failure(of: error).explanation.message)
            }
        }
        guard misfits.isEmpty else {
            throw KitProblem.otherStrengthOfJobs(misfits, isPostQuantum: isPostQuantum, othersFit: hasOthers)
        }
    }

    /// Warns of jobs that cannot open a keychain as it is from now on.
    ///
    /// - Parameters:
    ///   - hadPasscode: true if it had a passcode before, so that jobs without one fail as they did.
    ///   - source: where its new passcode came from; a job that reads it there needs no warning.
    func warnJobs(of local: LocalKeychain, _ keychain: Keychain, hadPasscode: Bool, passcode source: SecretSource?) {
        guard keychain.hasPasscode else { return }
        for (job, request) in jobs(backingUp: local) where !request.isUnencrypted {
            if request.access.key.escrow != nil {
                if keychain.keybag.escrow == nil { warnOfEscrow(job, local) }
            } else if let known = request.access.key.passcode {
                do {
                    try request.requirePasscode(of: local.name, on: machine)
                } catch {
                    warn(failure(of: error).explanation.about(job: job).message)
                    continue
                }
                if let source, known == absolute(source) { continue }
                warn(
                    "job \(quoted(job)) takes the passcode of keychain \(quoted(local.name)) from \(known.words), "
                        + "which must have the new one before the next run")
            } else if !hadPasscode {
                let refusal = Refusal.jobWithoutPasscode(
                    job: job, PasscodeNeeded(keychain: local.name, .lockable))
                warn(request.explanation(of: refusal, in: self).about(job: job))
            }
        }
    }

    /// Warns of jobs that back up every keychain, and cannot open a new one.
    func warnJobs(ofNew local: LocalKeychain, passcode source: SecretSource?) {
        do {
            warnJobs(of: local, try local.open(in: machine), hadPasscode: false, passcode: source)
        } catch {
            warn("what this means for jobs is not known: \(failure(of: error).explanation.message)")
        }
    }

    /// Warns of jobs whose escrow key opens a keychain no more.
    func warnJobsOfEscrow(of local: LocalKeychain) {
        for (job, request) in jobs(backingUp: local) where request.access.key.escrow != nil { warnOfEscrow(job, local) }
    }

    private func warnOfEscrow(_ job: String, _ local: LocalKeychain) {
        warn(
            "job \(quoted(job)) fails without an escrow key of keychain \(quoted(local.name)): "
                + "'kcbackup keychain escrow enable \(shellWord(local.name)) \(OptionName.output.spelling) FILE' makes one, "
                + "and 'kcbackup schedule edit \(job) \(OptionName.escrow.spelling) FILE' takes it")
    }

    /// Warns of jobs that back up a keychain, before it is deleted.
    func warnJobsOfDeletion(of local: LocalKeychain) {
        for (job, request) in jobs(backingUp: local) {
            warn(
                request.isOfSeveral
                    ? "job \(quoted(job)) backs it up with the others, and reports it as missing if it did so before: "
                        + "'kcbackup run \(job) \(OptionName.change.spelling)' accepts that once"
                    : "job \(quoted(job)) backs it up, and will fail: 'kcbackup schedule remove \(job)' removes the job"
            )
        }
    }

    /// Warns of jobs that encrypt to other keys than those that the backups in their folder have from now on.
    ///
    /// - Parameter place: the path of the folder, with links resolved.
    func warnJobs(inFolder place: String) {
        let jobs = Jobs(machine)
        for name in jobNames(jobs) {
            do {
                let job = try jobs.job(name)
                guard CatalogueFile.place(of: job.folder).exact == place.exact,
                    case .keys? = try job.backup.difference(in: job.folder, unattended.context)
                else { continue }
                warn(
                    "job \(quoted(name)) encrypts to other keys, and fails from now on: "
                        + "'kcbackup schedule edit \(name) \(OptionName.recipient.spelling) NEW' gives it the new ones")
            } catch {
                // A job that cannot be read, or whose keys cannot, does not run in any case.
            }
        }
    }

    /// The jobs that back up a keychain, without those that cannot be read, which do not run in any case.
    private func jobs(backingUp local: LocalKeychain) -> [(name: String, request: BackupRequest)] {
        let jobs = Jobs(machine)
        return jobNames(jobs).compactMap { name in
            do {
                let request = try jobs.job(name).backup
                return try request.backsUp(local, in: self) ? (name, request) : nil
            } catch {
                return nil
            }
        }
    }

    private func jobNames(_ jobs: Jobs) -> [String] {
        do throws(FileFailure) {
            return try jobs.names()
        } catch {
            warn("what this means for jobs is not known: \(explainFile(error).message)")
            return []
        }
    }

    /// A session that asks and says nothing, as that of a job.
    var unattended: Session {
        var world = world
        world.terminal = NoTerminal()
        world.messages = NoOutput()
        return Session(world, OutputStyle(isQuiet: true))
    }

    private func absolute(_ source: SecretSource) -> SecretSource {
        if case .file(let path) = source { return .file(machine.absolute(path)) }
        return source
    }
}

extension BackupRequest {
    /// Whether its recipients are post-quantum: both, none or one of true and false.
    ///
    /// - Throws: errors of reading recipients.
    fileprivate func strengths(in session: Session) throws -> Set<Bool> {
        guard let keys else { return [] }
        let restoring = try keys.restoring.recipients(keys.passphrase, in: session.context)
        let inspecting = try keys.inspecting.map { try GivenRecipient.parse($0, plugins: session.context.plugins) }
        return Set((restoring + inspecting).compactMap(\.isPostQuantum))
    }

    fileprivate func backsUp(_ local: LocalKeychain, in session: Session) throws -> Bool {
        if isOfSeveral { return local.isNamed }
        guard try storeName.flatMap(StoreChoice.prefixed) == nil else { return false }
        let named = try LocalKeychain(storeName, in: session.machine)
        return session.machine.absolute(named.path).exact == session.machine.absolute(local.path).exact
    }
}

extension SecretSource {
    /// The source as text.
    fileprivate var words: String {
        switch self {
        case .file(let path): quoted(path)
        case .command: "a command"
        case .credential(let name): "credential \(quoted(name))"
        case .terminal, .descriptor: "where nothing is"
        }
    }
}
