internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCForeignFormats
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// Imports what was read of a file into a keychain, and reports that.
struct KeychainImport {
    /// The file as the user named it.
    let path: String
    let target: ImportTargetOptions
    /// The keychain as the user named it; nil for the default one.
    let named: String?
    let policy: ConflictPolicy
    let isDryRun: Bool
    /// False to keep no state before the import.
    let keepsState: Bool
    /// True to take the records out of their file afterwards.
    var removesFromFile = false

    /// Runs the import, or its dry run, for which the keychain need not exist.
    func run(_ reading: ForeignReading, in session: Session) throws -> ExitStatus {
        let local = try LocalKeychain(target.keychain, in: session.machine)
        let removal = try removesFromFile ? FileRemoval(path, reading, in: session) : nil
        var text = ImportText(
            path: path, reading: reading, use: isDryRun ? .dryRun : .importing, policy: policy, named: named,
            session: session)
        try text.tellContents()
        var decisions: [(Item, RestoreAction)] = []
        let items = reading.contents.items
        // Each item is visited once for the plan and once for writing.
        let progress = Progress("importing items", of: UInt64(items.count * (isDryRun ? 1 : 2)), in: session)
        defer { progress.finish() }
        let (report, store) = try report(reading, local, progress, in: session) { item, action in
            if session.style.isVerbose { decisions.append((item, action)) }
        }
        progress.finish()
        // Imported items are reported, whatever becomes of the file.
        let removed = Result { () throws -> Int? in
            guard let removal else { return nil }
            if isDryRun { return try removal.foretell(report, of: reading.contents) }
            return try store.flatMap { try removal.run(reading.contents, in: $0) }
        }
        if case .success(let count) = removed { text.removed = count }
        let told = Result { try text.tell(report, decisions, keychain: local.name) }
        if removal == nil, reading.contents.exposesSecrets, reading.remains, !isDryRun {
            session.warn("\(quoted(path)) still holds the secrets in the clear; delete it when it is no longer needed")
        }
        try told.get()
        let isKept = try removed.get() == nil && removal != nil
        let isWhole =
            !isKept && report.failing.isEmpty && report.contents.isComplete && reading.contents.refused.isEmpty
        return isWhole ? .ok : .incomplete
    }

    private func report(
        _ reading: ForeignReading, _ local: LocalKeychain, _ progress: Progress, in session: Session,
        _ observe: @escaping (Item, RestoreAction) -> Void
    ) throws -> (RestoreReport, Keychain?) {
        var options = RestoreOptions()
        options.conflictPolicy = policy
        options.isDryRun = isDryRun
        options.requiresAll = reading.format is ItemLinesFormat
        options.namesLimit = ChangeList.limit(isDryRun: isDryRun, in: session)
        let importing = try RestoreBackup(.items(reading.contents.items), options: options)
        let observer = RestoreObserver(step: progress.step, observe: observe)
        guard try Path.exists(local.path) else {
            session.warn(
                "there is no keychain \(quoted(local.name)) yet; "
                    + "'kcbackup keychain create\(unquotedOperand(local.name))' makes it")
            if try session.machine.desktopKeyring() == .running, !session.style.isQuiet {
                session.message("kcbackup: hint: \(KeyringHint.running.words)\n")
            }
            let target = EmptyTarget(form: .plain)
            return (try importing.run(into: target, observer), nil)
        }
        let store = try target.open(in: session)
        try session.context.unlock(
            store, of: local, for: .of(Protection.unconstrained), passcode: target.passcode)
        if !keepsState || isDryRun {
            let report = try importing.run(into: store, observer)
            if isDryRun, report.writesSomething {
                try local.requireChangeable()
                if keepsState { try session.context.states(of: store).requireKeepable() }
            }
            return (report, store)
        }
        let report = try session.context.states(of: store).keeping(before: .import, isKept: true) {
            keep in
            try importing.run(into: store, keep: keep, observer)
        }
        return (report, store)
    }
}
