internal import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCForeignFormats
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Adds to the desktop keyring what a file has and the keyring lacks, and reports that.
struct KeyringImport {
    /// The file as the user named it.
    let path: String
    let opening: FileAccess
    /// The format of a table whose columns the user named.
    let table: CSVFormat?
    /// The keyring, or one of its collections.
    let keyring: DesktopKeyring
    let options: StoreOptions
    /// The rule for items that both have and that differ; nil if the user chose none.
    let given: ConflictPolicy?
    let isDryRun: Bool
    /// False to keep no state before the import.
    let keepsState: Bool

    private var policy: ConflictPolicy { given ?? .keep }

    /// Runs the import, or its dry run.
    func run(in session: Session) throws -> ExitStatus {
        if Path.isFolder(session.machine.resolve(path)) {
            throw UsageProblem(
                "an import into the desktop keyring takes one file, and \(quoted(path)) is a folder",
                hint: "import the files in it one by one")
        }
        let target = try RestorePlace(keyring, given: keyring.name, options, in: session)
        session.subject.file = path
        let reading = try ForeignReader(path, opening, in: session.context).read(as: table)
        let contents = ImportText(path: path, reading: reading, use: .taking, session: session)
        try contents.tellContents()
        let items = FileItems(reading.contents, identity: path)
        // Nothing is written by a dry run, not even the first key of this device.
        if !isDryRun { try session.context.makeDeviceKey() }
        let source: any ItemSource = if let date = reading.fileDate { items.undated(date) } else { items }
        let status = try run(source, reading, into: target, in: session)
        if reading.contents.exposesSecrets, reading.remains, !isDryRun {
            session.warn("\(quoted(path)) still holds the secrets in the clear; delete it when it is no longer needed")
        }
        return status
    }

    private func run(
        _ source: any ItemSource, _ reading: ForeignReading, into target: RestorePlace, in session: Session
    ) throws -> ExitStatus {
        var options = RestoreOptions()
        options.conflictPolicy = policy
        options.isDryRun = isDryRun
        var request = RestoreRequest(.items(source), options, keepsState: keepsState)
        request.change = .import
        let watch = RestoreWatch(
            RestoreChanges(
                namesCreated: true, namesSame: session.style.isVerbose, limit: .max, isForNames: !session.style.isJSON,
                spoolingIn: session.machine.temporaryFolder))
        // Each item is visited once for the plan and once for writing.
        let count = reading.contents.items.count * (isDryRun ? 1 : 2)
        let progress = Progress("importing items", of: UInt64(count), in: session)
        defer { progress.finish() }
        let report = try target.place.restore(request, watch.observer(of: target.place, progress.step))
        progress.finish()
        try RestoreText(
            report: report, changes: watch.lists, source: .file(path: path, format: reading.format.name),
            target: target,
            policy: policy, isOfSome: false, isMade: true, unmapped: watch.unmapped, done: .imported
        ).tell(session)
        session.noteUndo(target.option)
        let isUndecided = given == nil && report.counts.keep > 0
        if isUndecided, !session.style.isQuiet {
            session.message(
                "kcbackup: hint: '\(OptionName.onConflict.spelling) newer' takes the newer version of "
                    + "\(report.counts.keep == 1 ? "it" : "each"), and 'overwrite' the file's\n")
        }
        let isWhole = report.failing.isEmpty && report.stayingBehind.isEmpty && report.contents.isComplete
        let isRead = reading.contents.refused.isEmpty && reading.contents.staying.isEmpty
        return isWhole && isRead && !isUndecided ? .ok : .incomplete
    }
}
