internal import ArgumentParser
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup restore`: restores an archive into a keychain.
struct RestoreCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .onConflict, .dryRun]

    static let otherOptions: [OptionName]? = [
        .home, .service, .identity, .passphrase, .archivePasscode, .passcode, .replace, .acceptOrigin, .json,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore an archive into a keychain.",
        discussion: """
            Nothing is written until the whole archive has been authenticated; then everything is written, or nothing. \
            Items that the rules leave behind are listed.

            An archive is restored into the keychain that it was made from, unless '--keychain' names another; a \
            keychain that does not exist is created. 'kcbackup undo' takes a restore back, even if the keychain file has \
            been damaged since.

            With a text or conditions, only the matching items are restored.

            EXAMPLES:
              kcbackup restore laptop.kcb --dry-run
              kcbackup restore laptop.kcb
              kcbackup restore laptop.kcb --keychain restored -i restore-key.txt
              kcbackup restore laptop.kcb --on-conflict overwrite
              kcbackup restore laptop.kcb wi-fi
              kcbackup restore laptop.kcb --server example.com --account ada
              kcbackup restore --home ~/backups --dry-run
              kcbackup restore --home nas:backups
            """)

    @Argument(help: "The archive.", completion: .file(extensions: ["kcb"]))
    var archive: String?

    @Argument(help: "Restore only items whose label, service, server, account or kind contains this text, in any case.")
    var text: String?

    @OptionGroup
    var conditions: QueryOptions

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: the one it was made from)",
            valueName: "name|path"),
        completion: KnownNames.stores)
    var keychainName: String?

    @Flag(
        name: OptionName.home.name,
        help: "Restore the newest archive of each store in a folder that 'create --home --to' has made.")
    var home = false

    @OptionGroup
    var passcodeOption: PasscodeOption

    @Flag(name: OptionName.noPasscode.name, help: "Give a keychain that the restore makes no passcode.")
    var noPasscode = false

    @OptionGroup
    var unlocking: UnlockOptions

    @Option(
        name: OptionName.onConflict.name,
        help: ArgumentHelp(
            "What wins where an item is there already: newer, keep, overwrite or fail. (default: newer; for files keep)",
            valueName: "policy"))
    var onConflict: ConflictPolicy?

    @Flag(name: OptionName.replace.name, help: "Remove local items that are not synchronizable first.")
    var replace = false

    @Flag(
        name: OptionName.replaceUnarchived.name,
        help: "With '--replace': remove WhenPasscodeSetThisDeviceOnly items too, which are in no archive.")
    var replaceUnarchived = false

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @Flag(name: OptionName.requireAll.name, help: "Restore nothing if an item would stay behind.")
    var requireAll = false

    @Flag(
        name: OptionName.giveUpDeviceBinding.name,
        help: "Write ThisDeviceOnly items into the desktop keyring, which any device can open with its password.")
    var giveUpDeviceBinding = false

    @OptionGroup
    var origin: AcceptOriginOption

    @Flag(
        name: OptionName.yes.name,
        help: "Do not ask before local items are removed.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the restore.")
    var noUndo = false

    @OptionGroup
    var style: StyleOptions

    /// The options about the store.
    private func store() -> StoreOptions {
        var options = StoreOptions(passcodeOption.passcode, unlocking)
        options.replace = replace
        options.replaceUnarchived = replaceUnarchived
        options.giveUpDeviceBinding = giveUpDeviceBinding
        options.noPasscode = noPasscode
        return options
    }

    func run(in session: Session) throws -> ExitStatus {
        guard let archive else {
            throw UsageProblem(
                "no archive is given to restore",
                hint: "name it, or take back the last change with 'kcbackup undo'")
        }
        if noPasscode, passcodeOption.passcode != nil { throw UsageProblem.together(.passcode, .noPasscode) }
        if replaceUnarchived, !replace { throw UsageProblem.needs(.replaceUnarchived, .replace) }
        if archive.isEmpty { throw UsageProblem.emptyArchive }
        try opening.check(with: [archive])
        let opener = ArchiveOpener(opening.keys, in: session.context)
        if home { return try HomeRestore(command: self, opener: opener, session: session).run(archive) }
        session.subject.file = archive
        let found = try opener.find(archive, accepting: origin.device())
        return try restore(found, opener, session) { json, lines in try session.result(json, lines) }
    }

    /// Restores one archive.
    ///
    /// - Parameters:
    ///   - asking: the keychains with a passcode that the run restores into, if it is of several archives.
    ///   - result: receives the result, as `Session.result` does.
    func restore(
        _ found: FoundArchive, asking: [String] = [], _ opener: ArchiveOpener, _ session: Session,
        result: (JSONValue, [String]) throws -> Void
    ) throws -> ExitStatus {
        // An earlier archive of the run may have changed another store.
        session.keptState = false
        let outline = try ArchiveOutline(found.file)
        try RestorePlace.require(keychainName, in: session)
        let proven = try opener.prove(found)
        var options = try options()
        try AcceptOriginOption.ask(about: proven, &options, question: "Restore it anyway?", in: session)
        let target = try RestorePlace(
            restoringInto: keychainName, from: { try source(of: proven, session) }, store(), in: session)
        // The passcode is tried on no keychain that it was not given for, which would count it as a wrong one.
        if let passcode = passcodeOption.passcode, passcode != .terminal, asking.count > 1, target.kind == .keychain,
            asking.contains(where: { $0.exact == target.name.exact })
        {
            throw UsageProblem.passcodeOfOne(of: asking, for: .restore)
        }
        options.conflictPolicy = onConflict ?? target.kind.conflictPolicy
        do {
            return try restore(proven, at: found.path, options, outline, into: target, session, result)
        } catch let failure as SecretServiceFailure where keychainName == nil && !home && failure.isOfConnection {
            throw Refusal.noKeyringForArchive(failure)
        }
    }

    private func restore(
        _ proven: ProvenArchive, at archive: String, _ options: RestoreOptions, _ outline: ArchiveOutline,
        into target: RestorePlace, _ session: Session, _ result: (JSONValue, [String]) throws -> Void
    ) throws -> ExitStatus {
        // Refuses what may not be restored, before anything is asked for.
        _ = try Bring(.archive(proven), options: options)
        let new = try target.place.newStore(for: .archive(proven))
        if let new { try confirm(new, target, session) }

        var request = RestoreRequest(.archive(proven), options, keepsState: !noUndo) { isNeeded in
            try session.context.openSecrets(
                of: proven, passcode: archivePasscode.archivePasscode, isNeeded: isNeeded, of: options.filter,
                at: archive)
        }
        if replace, !dryRun, new == nil { request.options.removable = try confirmRemoval(request, target, session) }
        // A user who selects items wants to see which ones were restored.
        let namesAll = style.verbose || options.filter != nil
        // An item beyond the limit shows that there are more.
        let watch = RestoreWatch(
            RestoreChanges(
                namesCreated: dryRun || namesAll || style.json, namesSame: namesAll,
                limit: namesAll || style.json ? .max : ChangeList.limit + 1, isForNames: !style.json,
                spoolingIn: session.machine.temporaryFolder))
        // The archive is read once for the plan and once for writing.
        let progress = Progress("restoring items", in: session, reading: proven.opened, dryRun ? 1 : 2)
        defer { progress.finish() }
        let report = try target.place.restore(request, watch.observer(of: target.place, progress.step))
        progress.finish()
        try RestoreText(
            report: report, changes: watch.lists, source: .archive(outline, path: archive, proven.origin),
            target: target,
            policy: options.conflictPolicy, isOfSome: options.filter != nil,
            isMade: new == nil || report.makesKeychain, unmapped: watch.unmapped, bound: watch.bound
        ).tell(session, result)
        if replace, dryRun, new == nil, let question = removalQuestion(report, target),
            let status = try session.tellQuestion(question)
        {
            return status
        }
        if new != nil, !dryRun, report.writesSomething {
            session.note("'kcbackup keychain delete \(shellWord(target.name))' takes that back")
        } else {
            session.noteUndo(target.option)
        }
        return report.failing.isEmpty && report.contents.isComplete ? .ok : .incomplete
    }

    /// Returns the options for the engine.
    private func options() throws -> RestoreOptions {
        var options = RestoreOptions()
        if replace { options.replacing = replaceUnarchived ? .all : .archived }
        options.requiresAll = requireAll
        options.givesUpBinding = giveUpDeviceBinding
        options.isDryRun = dryRun
        options.filter = try conditions.filter(text)
        if replace, options.filter != nil {
            throw UsageProblem(
                "'\(OptionName.replace.spelling)' restores a whole archive, and conditions select some of its items",
                hint: "leave out '\(OptionName.replace.spelling)' to restore only these items")
        }
        options.acceptedOrigin = try origin.device()
        return options
    }

    /// Returns the source that the archive was made from.
    private func source(of proven: ProvenArchive, _ session: Session) throws -> ArchiveSource {
        let progress = Progress("checking the archive", in: session, reading: proven.opened, 1)
        defer { progress.finish() }
        return try proven.opened.source(progress.step)
    }

    /// Asks before creating a keychain under a name taken from the archive; without a terminal, refuses.
    ///
    /// A dry run only warns of what would be refused.
    private func confirm(_ new: NewStore, _ target: RestorePlace, _ session: Session) throws {
        if session.world.terminal.isAttended {
            if keychainName != nil || home || dryRun { return }
            guard try session.world.terminal.confirms("Make \(target.words), and restore into it?") else {
                throw Refusal.declined
            }
            return
        }
        let isUnnamed = keychainName == nil && !home
        if isUnnamed, !dryRun { throw Refusal.noKeychainNamed(target.name, needsPasscode: new.needsPasscode) }
        guard dryRun, isUnnamed || new.needsPasscode else { return }
        let options = [
            isUnnamed ? "\(OptionName.keychain.spelling) \(shellWord(target.name))" : nil,
            new.needsPasscode ? "\(OptionName.passcode.spelling) SOURCE" : nil,
        ].compactMap { $0 }.joined(separator: " ")
        session.warn("\(target.words) does not exist; without a terminal, the restore itself needs '\(options)'")
    }

    /// Lists what would be removed and not restored, and asks for confirmation.
    ///
    /// - Returns: the items that may be removed; nil for any.
    private func confirmRemoval(
        _ request: RestoreRequest, _ target: RestorePlace, _ session: Session
    ) throws -> Set<ItemUUID>? {
        if yes { return nil }
        let report = try target.place.restore(request.rehearsal, RestoreObserver())
        guard let question = removalQuestion(report, target) else { return [] }
        session.list(report.vanishing) { _ in Remark("would be removed, and not in the archive") }
        try session.confirm(question, isGiven: false)
        return Set(report.vanishing.map(\.uuid))
    }

    /// The question before the local items of a report are removed or written over; nil if there are none, or if that
    /// is confirmed.
    private func removalQuestion(_ report: RestoreReport, _ target: RestorePlace) -> String? {
        let old = report.replaced
        if yes || old == 0 { return nil }
        let new = report.counts.create + report.counts.update
        let lost = report.vanishing.count
        return new == 0
            ? "Remove \(counted(old, "local item")) of \(target.words), which \(old == 1 ? "is" : "are") not in the archive?"
            : "Replace the \(counted(old, "local item")) of \(target.words) with the \(new) of the archive"
                + (lost == 0 ? "?" : ", and remove \(lost) that \(lost == 1 ? "is" : "are") not in it?")
    }
}
