internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// Imports what was read of a file into a store, and reports that.
struct FileImport {
    /// The file as the user named it.
    let path: String
    let reading: ForeignReading
    let target: RestorePlace
    /// The rule for items that are there already; nil if the user chose none.
    let given: ConflictPolicy?
    let isDryRun: Bool
    /// True to compare the file with the store, and to write nothing.
    let isCheck: Bool
    /// False to keep no state before the import.
    let keepsState: Bool
    /// The file, if the records are to be taken out of it afterwards.
    let removable: RemovableFile?
    let session: Session

    /// Runs the import, or its dry run, for which a keychain need not exist.
    func run() throws -> ExitStatus {
        if isCheck { return try check() }
        return try target.kind == .keyring ? addToKeyring() : addToKeychain()
    }

    /// Compares the file with the store; what is missing there, or differs, is named.
    private func check() throws -> ExitStatus {
        ImportText(path: path, reading: reading, use: .taking, session: session).noteContents()
        var options = RestoreOptions()
        options.conflictPolicy = .overwrite
        let proof = ImportProof(reading.contents, isCheck: true)
        let changes = RestoreChanges(
            namesCreated: true, namesSame: false, limit: .max, isForNames: !session.style.isJSON,
            spoolingIn: session.machine.temporaryFolder)
        let report = try restore(items(), options) { step in
            RestoreObserver(step: step) { item, action in
                proof.add(item, action)
                try changes.add(item, action)
            }
        }
        let lists = try changes.finish()
        try session.result(
            [
                "file": .text(path), "format": .text(reading.kind.name), "keychain": .text(target.name),
                "holds": reading.contents.json, "proof": proof.json, "missing": .items(lists.created),
                "different": .items(lists.replaced),
            ], proof.lines(width: session.tableWidth))
        var list = ChangeList(isDryRun: false, in: session)
        try list.add(lists.created) { _ in Remark("missing") }
        try list.add(lists.replaced) { _ in Remark("different") }
        list.add(failing: report, named: wordsApart(report.failing.map(\.item)), .imported)
        let isThere = lists.created.isEmpty && lists.replaced.isEmpty && report.failing.isEmpty
        let isRead = reading.contents.refused.allSatisfy { $0.problem.isKept } && reading.contents.staying.isEmpty
        return isThere && isRead ? .ok : .incomplete
    }

    /// The items in the form in which the store is compared with them.
    private func items() -> any ItemSource {
        guard target.kind == .keyring else { return reading.contents.items }
        let items = FileItems(reading.contents, identity: path)
        return if let date = reading.fileDate { items.undated(date) } else { items }
    }

    private func addToKeychain() throws -> ExitStatus {
        var options = RestoreOptions()
        options.conflictPolicy = given ?? .newer
        options.requiresAll = reading.kind == .items
        options.namesLimit = ChangeList.limit(isDryRun: isDryRun, in: session)
        let removal = try removable.map { try FileRemoval(path, reading, $0, in: session) }
        var text = ImportText(
            path: path, reading: reading, use: isDryRun ? .dryRun : .importing, policy: options.conflictPolicy,
            named: target.option, session: session)
        try text.tellContents()
        var decisions: [(Item, RestoreAction)] = []
        let proof = ImportProof(reading.contents, isCheck: false)
        text.proof = proof
        let report = try restore(reading.contents.items, options) { step in
            RestoreObserver(step: step) { item, action in
                proof.add(item, action)
                if session.style.isVerbose { decisions.append((item, action)) }
            }
        }
        // Imported items are reported, whatever becomes of the file.
        let removed = Result { () throws -> Int? in
            guard let removal else { return nil }
            if isDryRun { return try removal.rehearse(report, of: reading.contents) }
            return try removal.run(reading.contents, in: target.place)
        }
        if case .success(let count) = removed { text.removed = count }
        let told = Result { try text.tell(report, decisions, keychain: target.name) }
        if removal == nil { warnOfFile() }
        try told.get()
        let isKept = try removed.get() == nil && removal != nil
        let isWhole = report.failing.isEmpty && report.contents.isComplete && reading.contents.refused.isEmpty
        return isWhole && !isKept ? .ok : .incomplete
    }

    /// Adds what the file has and the desktop keyring lacks.
    private func addToKeyring() throws -> ExitStatus {
        var text = ImportText(path: path, reading: reading, use: .taking, session: session)
        try text.tellContents()
        let proof = ImportProof(reading.contents, isCheck: false)
        text.proof = proof
        // Nothing is written by a dry run, not even the first key of this device.
        if !isDryRun { try session.context.makeDeviceKey() }
        let source = items()
        var options = RestoreOptions()
        options.conflictPolicy = given ?? .keep
        let watch = RestoreWatch(
            RestoreChanges(
                namesCreated: true, namesSame: session.style.isVerbose, limit: .max, isForNames: !session.style.isJSON,
                spoolingIn: session.machine.temporaryFolder))
        let report = try restore(source, options) { watch.observer(of: target.place, $0).observing(proof.add) }
        try RestoreText(
            report: report, changes: watch.lists, source: .file(path: path, format: reading.kind.name),
            target: target, policy: options.conflictPolicy, isOfSome: false, isMade: true, unmapped: watch.unmapped,
            done: .imported
        ).tell(session)
        text.tellProof()
        session.noteUndo(target.option)
        let isUndecided = given == nil && report.counts.keep > 0
        if isUndecided, !session.style.isQuiet {
            session.message(
                "kcbackup: hint: '\(OptionName.onConflict.spelling) newer' takes the newer version of "
                    + "\(report.counts.keep == 1 ? "it" : "each"), and 'overwrite' the file's\n")
        }
        warnOfFile()
        let isWhole = report.failing.isEmpty && report.stayingBehind.isEmpty && report.contents.isComplete
        let isRead = reading.contents.refused.isEmpty && reading.contents.staying.isEmpty
        return isWhole && isRead && !isUndecided ? .ok : .incomplete
    }

    private func restore(
        _ source: any ItemSource, _ options: RestoreOptions,
        _ observer: (_ step: @escaping () -> Void) -> RestoreObserver
    ) throws -> RestoreReport {
        var options = options
        options.isDryRun = isDryRun || isCheck
        // Each item is visited once for the plan and once for writing.
        let count = reading.contents.items.count * (options.isDryRun ? 1 : 2)
        let progress = Progress("importing items", of: UInt64(count), in: session)
        defer { progress.finish() }
        let source = RestoreSource.items(source)
        if try target.place.newStore(for: source) == nil {
            var request = RestoreRequest(source, options, keepsState: keepsState)
            request.change = .import
            return try target.place.restore(request, observer(progress.step))
        }
        // Another run may have removed the keychain meanwhile.
        guard options.isDryRun, !isCheck else { throw KeychainStoreError.notFound(target.name) }
        session.warn(
            "there is no keychain \(quoted(target.name)) yet; "
                + "'kcbackup keychain create\(unquotedOperand(target.name))' makes it")
        if try session.machine.desktopKeyring() == .running, !session.style.isQuiet {
            session.message("kcbackup: hint: \(KeyringHint.running.words)\n")
        }
        return try Bring(source, options: options).run(
            into: EmptyTarget(form: .plain), observer(progress.step))
    }

    private func warnOfFile() {
        guard reading.contents.exposesSecrets, reading.remains, !isDryRun else { return }
        session.warn("\(quoted(path)) still holds the secrets in the clear; delete it when it is no longer needed")
    }
}
