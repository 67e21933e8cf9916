internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCHomeFiles
package import KCKeychainModel
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCSandbox
package import KCStoreTasks

/// Finds what would make the next run of a job fail, or its backups worth less; changes nothing.
///
/// ```swift
/// let report = Examination(in: context, day: day, describe: describe).run()
/// print(report.count, report.problems.isEmpty)
/// ```
package struct Examination {
    let context: TaskContext
    let day: (Timestamp) -> String
    let describe: (Finding) -> CopyRecord.Failed
    var report = Report()
    // The job that is examined, and its folder.
    var job: String?
    var folder: String?

    // As many as fit a screen; a home with more has them in a few folders.
    private static let mostInClear = 20

    /// - Parameters:
    ///   - context: asks and tells nothing, because a job cannot ask either.
    ///   - day: returns the day of a time, as text.
    ///   - describe: returns a problem as records keep it.
    package init(
        in context: TaskContext, day: @escaping (Timestamp) -> String,
        describe: @escaping (Finding) -> CopyRecord.Failed
    ) {
        self.context = context
        self.day = day
        self.describe = describe
    }

    /// - Parameter name: the only job that is examined, with what it needs; nil for all, and what is in no job.
    package func run(of name: String? = nil) -> Report {
        var examination = self
        if let name { examination.examine(only: name) } else { examination.examineAll() }
        return examination.report
    }

    private mutating func examine(only name: String) {
        checkDeviceKey()
        examine(name, collectState())
    }

    /// The state of all backups; nil if a problem keeps it from being known.
    private mutating func collectState() -> BackupState? {
        var state: BackupState?
        check { context in
            // Why a keychain does not open is found later.
            state = try BackupState(in: context.machine, at: context.now, unopened: { _ in })
        }
        return state
    }

    private mutating func examineAll() {
        checkDeviceKey()
        var names: [String] = []
        check { context in names = try Jobs(context.machine).names() }
        if names.isEmpty { lookForFirstJob() }
        let state = collectState()
        for name in names { examine(name, state) }
        (job, folder) = (nil, nil)
        openKeychains()
        lookAtKeychains()
        lookAtKits()
        lookAtSandbox()
        lookAtKeyringFiles()
        lookAtHome()
        guard let state else { return }
        if !state.jobs.isEmpty { lookForDesktop(state) }
        lookForLostKeychains(state)
        for store in state.stores {
            report.count += 1
            // A job that cannot be read may be that of the keychain; of the desktop keyring, there is a warning.
            guard !store.isDesktop, store.jobs.isEmpty, !names.isEmpty, state.unreadable.isEmpty else { continue }
            add(.inNoJob(keychain: store.name))
        }
        compareClock(with: state)
    }

    /// Finds the archive with the latest date if that is in the future: the clock is slow, or was fast then.
    private mutating func compareClock(with state: BackupState) {
        report.count += 1
        let archives = state.catalogues.flatMap { catalogue in catalogue.complete.map { (catalogue.folder, $0) } }
        guard let (folder, newest) = archives.max(by: { $0.1.created < $1.1.created }), newest.created > context.now
        else { return }
        add(.clockBehind(folder: folder, archive: newest.name, created: newest.created))
    }

    /// Finds a device key that cannot be used, or that is missing where something needs it.
    private mutating func checkDeviceKey() {
        check { context in
            do throws(DeviceKeyFailure) {
                let key = try LocalDevice(context.machine).provider.load()
                try failing(as: DeviceKeyFailure.cryptography, key.prove())
            } catch {
                // The first backup of the desktop keyring makes the key.
                if case .notFound = error, try Jobs(context.machine).names().isEmpty,
                    case .desktop = try StandardStore(in: context.machine)
                {
                    return
                }
                // The key may have been lost.
                _ = try LocalDevice(context.machine).key()
                throw error
            }
        }
    }

    private mutating func lookForFirstJob() {
        var hasItems = false
        let isSeen = attempt { context in hasItems = try context.machine.desktopKeyringHasItems() == true }
        if isSeen { add(.noJob(desktopHasItems: hasItems)) }
    }

    /// Finds the keychains that cannot be opened, unless the checks of a job did already.
    private mutating func openKeychains() {
        var names: [String] = []
        attempt { context in names = try LocalKeychain.names(in: context.machine.dataFolder) }
        for name in names {
            report.count += 1
            do {
                _ = try LocalKeychain(name, in: context.machine).open(in: context.machine)
            } catch {
                add(.failed(error), isOfAnyJob: true)
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
        var hasItems = false
        check { context in hasItems = try context.machine.desktopKeyringHasItems() == true }
        guard hasItems else { return }
        if let job = jobs.first?.name {
            report.warnings.append((job, .desktopNotFound(job: job)))
        } else {
            warn(.desktopInNoJob)
        }
    }

    /// Finds the keychains whose files were lost.
    private mutating func lookForLostKeychains(_ state: BackupState) {
        var lost: [GoneKeychain] = []
        attempt { context in
            lost = try GoneKeychain.all(in: state.catalogues, of: context.machine).filter(\.isLost)
        }
        for gone in lost { add(.gone(gone)) }
    }

    /// Warns of keychains that are copies of one file, and of those that would be lost with the chip of this device.
    private mutating func lookAtKeychains() {
        var found: [Warning] = []
        check { context in
            let machine = context.machine
            let copies = try machine.copiedKeychains()
            let lacking = try machine.isHeldByChip ? EncryptedArchives.lacking(on: machine, at: context.now) : []
            found = copies.map(Warning.copies) + lacking.map(Warning.lostWithChip)
        }
        for warning in found { warn(warning) }
    }

    /// Says in which sandbox other programs' files are read.
    private mutating func lookAtSandbox() {
        report.count += 1
        let support = SandboxSupport()
        if support.isComplete { note(.sandbox) } else { warn(.noSandbox(support)) }
    }

    /// Warns of keyrings that have two versions, and of those of apps that nothing opens.
    private mutating func lookAtKeyringFiles() {
        report.count += 1
        var found = KeyringExamination()
        check { context in found = try KeyringExamination(in: context.machine) }
        for warning in found.warnings { warn(warning) }
        for note in found.notes { self.note(note) }
        var ofApps: AppKeyrings?
        check { context in ofApps = try AppKeyrings(in: context.machine) }
        for (keyring, state) in ofApps?.keyrings ?? [] {
            switch state {
            case .opens, .isUnknown: break
            case .isLost, .isDamaged, .isUnread: warn(.appKeyring(keyring, state))
            }
        }
    }

    /// Warns of files of the home that hold secrets in the clear, and of folders in which a killed run may have left some.
    private mutating func lookAtHome() {
        var unswept: [(folder: String, list: String)] = []
        check { context in unswept = try context.machine.dataFolder.unsweptFolders() }
        for (folder, list) in unswept { warn(.unswept(folder: folder, list: list)) }
        var clear: [HomeContents.Clear] = []
        // A file that cannot be read is no secret in the clear.
        check { context in clear = try HomeReader.read(context.machine.home).clear }
        for file in clear.prefix(Self.mostInClear) { warn(.inClear(file)) }
        if clear.count > Self.mostInClear { warn(.moreInClear(clear.count - Self.mostInClear)) }
    }

    /// Warns of recovery kits that nobody has tried lately.
    private mutating func lookAtKits() {
        var kits: [RecoveryKit] = []
        check { context in kits = try context.machine.recoveryKits() }
        for kit in kits where kit.retired == nil {
            report.count += 1
            if !kit.isPrinted || kit.rehearsal(at: context.now) != .recent {
                warn(.untriedKit(kit))
            } else if let checked = kit.checked {
                note(.triedKit(kit, at: checked))
            }
        }
    }
}

// The report.
extension Examination {
    /// Makes one of the checks that are counted.
    ///
    /// - Returns: true if nothing was found.
    @discardableResult
    mutating func check(_ body: (TaskContext) throws -> Void) -> Bool {
        report.count += 1
        return attempt(body)
    }

    @discardableResult
    mutating func attempt(_ body: (TaskContext) throws -> Void) -> Bool {
        do {
            try body(context)
            return true
        } catch {
            add(.failed(error))
            return false
        }
    }

    /// Adds a problem, unless it is that of this job, or of all jobs, already.
    ///
    /// - Parameter isOfAnyJob: true if that of another job says it as well.
    mutating func add(_ problem: Problem, isOfAnyJob: Bool = false) {
        let finding = Finding(job: job, folder: folder, problem: problem)
        let isKnown = report.problems.contains { known in
            (isOfAnyJob || known.job == nil || known.job == job) && known.problem.isSame(as: problem)
        }
        // Every check that a signal ends fails in a way of its own.
        if describe(finding).outcome.isOfSignal, report.problems.contains(where: { describe($0).outcome.isOfSignal }) {
            return
        }
        if !isKnown { report.problems.append(finding) }
    }

    mutating func warn(_ warning: Warning) { report.warnings.append((job, warning)) }

    mutating func note(_ note: Note) { report.notes.append((job, note)) }
}
