internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCFleet
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCStoreTasks

// The checks of one job.

extension Examination {
    mutating func examine(_ name: String, _ state: BackupState?) {
        (job, folder) = (name, nil)
        report.count += 1
        if let damaged = state?.unreadable.first(where: { $0.name.exact == name.exact }) { add(.failed(damaged.error)) }
        guard let state = state?.jobs.first(where: { $0.job.name.exact == name.exact }) else { return }
        folder = state.job.folder
        let known = report.problems.count
        examine(state)
        lookAtLastRun(state, after: known)
    }

    private mutating func examine(_ state: BackupState.JobState) {
        if state.job.time != nil { lookForStarter(of: state.job) }
        if state.job.onChange { lookForWatch(of: state) }
        let request = state.job.backup
        check { context in try context.requireClock() }
        let hasKeys = check { context in _ = try request.keys?.recipients(in: context) }
        check { context in
            try Jobs(context.machine).requireFolder(of: state.job, hadBackups: state.good != nil)
            try context.machine.requireOutsideOfData(state.job.folder)
            try state.job.checkFolder(context.machine.catalogueIfAny(of: state.job.folder))
            if hasKeys { try request.requireSameUse(of: state.job.folder, in: context) }
        }
        check { _ in try state.job.checkIdentities() }
        let day = self.day
        check { context in
            try state.job.checkDrill(
                context.machine.catalogueIfAny(of: state.job.folder), now: context.now, day: day)
        }
        check { context in
            // A job of one keychain knows how many items its last good run had.
            guard request.isOfSeveral || state.good == nil else { return }
            try state.job.checkContents(context.machine.catalogueIfAny(of: state.job.folder))
        }
        for copies in state.copies {
            var parts: [RemoteLocation] = []
            check { context in
                parts = try state.job.look(at: copies, isRunning: state.isRunning, on: context.machine)
            }
            if !parts.isEmpty { warn(.partsLeft(parts)) }
        }
        if state.job.fleet != nil {
            check { context in
                let key = try LocalDevice(context.machine).key()
                try ReceiptSequence(besideKeyAt: context.machine.dataFolder.deviceKey, of: key).check()
            }
        }
        examineStores(of: request)
        if let source = request.keys?.passphrase { check { context in try context.checkPassphrase(source) } }
        check { context in
            try state.job.checkServices(in: context.machine.surroundings)
            try state.job.checkPrograms(in: context.machine.surroundings)
        }
        if !state.job.isOfDesktop { check { context in try state.job.checkLinger(in: context.machine.surroundings) } }
    }

    private mutating func examineStores(of request: BackupRequest) {
        var names = [request.storeName]
        if request.isOfSeveral {
            let isListed = attempt { context in names = try LocalKeychain.names(in: context.machine.dataFolder) }
            if !isListed { return }
        }
        if request.stores == .home { names.append(HomeRoot.home.storeName) }
        for name in names {
            report.count += 1
            var known = name
            do {
                let store = try StoreChoice.named(name, in: context.machine)
                known = store.name
                try request.requirePasscode(of: store.name, on: context.machine)
                try store.examine(request.access, isUnencrypted: request.isUnencrypted, in: context)
            } catch {
                add(.store(error, name: known, isOneOfSeveral: request.isOfSeveral))
            }
        }
    }

    /// Looks for what starts a job by itself.
    private mutating func lookForStarter(of job: Job) {
        report.count += 1
        switch JobStarter(of: job, in: context.machine) {
        case .found: break
        case .notEnabled(let command): warn(.timerNotEnabled(command: command))
        case .nothing: warn(.nothingStarts(job))
        case .unknown: note(.starterUnknown)
        }
    }

    /// Looks for what starts a job after changes, and for a change that started none.
    private mutating func lookForWatch(of state: BackupState.JobState) {
        report.count += 2
        switch JobWatch(of: state.job, in: context.machine) {
        case .found:
            guard let changed = state.changed, !state.isRunning, changed.seconds < context.now.seconds - 3_600 else {
                return
            }
            warn(.changeNotSeen(changed, job: state.job.name))
        case .notEnabled(let command): warn(.pathNotEnabled(command: command))
        case .stopped(let unit, let hasFailed, let command):
            warn(.pathStopped(unit: unit, hasFailed: hasFailed, command: command))
        case .nothing: warn(.nothingWatches(state.job))
        }
    }

    /// Finds how the last run ended; a failure whose cause is still there is one problem with it.
    ///
    /// - Parameter known: the number of problems that were found before those of this job.
    private mutating func lookAtLastRun(_ state: BackupState.JobState, after known: Int) {
        report.count += 1
        if let unreadable = state.unreadableRecord { return add(.failed(unreadable)) }
        guard let record = state.record, !state.isRunning || state.isOverdue(at: context.now) else { return }
        let last: Problem
        if state.isRunning {
            last = .endless(since: record.began)
        } else if record.ended == nil {
            last = .killed(job: state.job.name, since: record.began)
        } else if record.outcome == .good {
            return
        } else {
            let found = report.problems
            if let cause = found.indices[known...].first(where: { record.isCaused(by: describe(found[$0])) }) {
                report.problems[cause].hasFailedRun = true
                return
            }
            // A store that is locked now has been found by now.
            if record.outcome == .locked { return warn(.wasLocked(record, job: state.job.name)) }
            last = .lastRun(record)
        }
        report.problems.insert(Finding(job: job, folder: folder, problem: last), at: known)
    }
}

extension TaskContext {
    /// Checks that the passphrase of a job can be read from where it comes from.
    fileprivate func checkPassphrase(_ source: SecretSource) throws {
        // Credentials are available only in the unit that runs the job.
        if case .credential = source, machine.environment["CREDENTIALS_DIRECTORY"] == nil { return }
        _ = try secrets.new(WantedSecret(.passphraseOfNewArchive, .passphrase, from: source))
    }
}
