internal import LocalKeychains
internal import Console
internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import DeviceIdentity
internal import KeychainKeys
internal import KeychainModel
internal import KeychainStore
internal import SecretService

/// `kcbackup restore`: an archive goes back into a keychain.
struct RestoreCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore an archive into a keychain.",
        discussion: """
            Nothing is written before the whole archive has proved genuine; then everything is, or nothing. Items \
            that the rules leave behind are named.

            An archive is restored into the keychain that it was made of, unless '--keychain' names another; a keychain \
            that does not exist is made. Before something is changed or removed, the state of the keychain is kept: \
            '--undo' brings it back, also where the file of the keychain was damaged since.

            A text, or conditions, restore the items that match and leave all others as they are.

            EXAMPLES:
              kcbackup restore laptop.kcb --dry-run
              kcbackup restore laptop.kcb
              kcbackup restore laptop.kcb --keychain restored -i restore-key.txt
              kcbackup restore laptop.kcb --on-conflict overwrite
              kcbackup restore laptop.kcb wi-fi
              kcbackup restore laptop.kcb --server example.com --account ada
              kcbackup restore --undo
            """)

    @Argument(
        help: ArgumentHelp("The archive; with '--undo' a state that '--list-undo' shows, by default the newest."),
        completion: .file(extensions: ["kcb"]))
    var archive: String?

    @Argument(help: "Restore only items whose label, service, server, account or kind contains this text, in any case.")
    var text: String?

    @OptionGroup
    var conditions: QueryOptions

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @Option(
        name: OptionName.onConflict.name,
        help: ArgumentHelp(
            "What wins where an item is there already: newer, keep, overwrite or fail.", valueName: "policy"))
    var onConflict: ConflictPolicy = .newer

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

    @Option(
        name: OptionName.acceptOrigin.name,
        help: ArgumentHelp("Accept an archive of this device although nobody vouches for it.", valueName: "id"),
        completion: KnownNames.devices)
    var acceptOrigin: String?

    @Flag(name: OptionName.yes.name, help: "Do not ask before items are removed, or a damaged file is replaced.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the restore.")
    var noUndo = false

    @Flag(name: OptionName.undo.name, help: "Bring back the state before the last restore that changed something.")
    var undo = false

    @Flag(name: OptionName.listUndo.name, help: "List the states that can be brought back.")
    var listUndo = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if undo || listUndo {
            try requireNothingElse()
            if let keyring = DesktopKeyring(keychain.keychain) {
                let states = DesktopStates(session)
                return try listUndo
                    ? states.list() : states.undo(archive, keyring, isDryRun: dryRun, keepsState: !noUndo)
            }
            let states = UndoRequest(
                keychain: keychain, state: archive, isDryRun: dryRun, keepsState: !noUndo, isConfirmed: yes)
            return try listUndo ? states.list(in: session) : states.undo(in: session)
        }
        guard let archive else { throw UsageProblem.noArchive }
        try requireSources()
        if replaceUnarchived, !replace { throw UsageProblem.needs(.replaceUnarchived, .replace) }
        let file = try opening.open(archive, in: session)
        let outline = try ArchiveOutline(file)
        let proven = try ArchiveOpener(opening, in: session).prove(file, at: archive)
        var options = try options()
        try Self.acceptOrigin(of: proven, &options, session)
        let source = try keychain.keychain == nil ? source(of: proven, session) : nil
        if let keyring = DesktopKeyring(keychain.keychain) ?? source.flatMap(DesktopKeyring.init(archived:)) {
            return try self.restore(proven, options, outline, into: keyring, session)
        }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        let restore = try RestoreBackup(proven, options: options)
        let local = try LocalKeychain(keychain.keychain ?? source.flatMap(keychainName), in: session.world)
        let target = try RestoreTarget(
            local, for: proven, (archive, archivePasscode), options: keychain, replaces: replace, isDryRun: dryRun,
            keepsState: !noUndo, in: session)
        if keychain.keychain == nil, !target.isThere, !dryRun { try confirmNew(local, session) }

        var decisions: [(Item, RestoreAction)] = []
        // Who asks for some items wants to see which they are.
        let keepsDecisions = style.verbose || options.filter != nil
        let report = try target.use { keychain, keep in
            if replace, !dryRun, target.isThere {
                try confirmRemoval(proven, options, keychain, "keychain \(quoted(local.name))", session)
            }
            // It is read for the plan, and once more to write.
            let progress = Progress("restoring items", in: session, reading: proven.opened, dryRun ? 1 : 2)
            defer { progress.finish() }
            return try restore.run(into: keychain, keep: keep, step: progress.step) { item, action in
                if keepsDecisions { decisions.append((item, action)) }
            }
        }
        try RestoreText(
            report: report, decisions: decisions, outline: outline, path: archive, origin: proven.origin,
            target: (local.name, "keychain \(quoted(local.name))"), isMade: target.isThere || report.makesKeychain
        ).tell(session)
        return report.failing.isEmpty ? .ok : .incomplete
    }

    /// Restores into the keyring of the desktop.
    private func restore(
        _ proven: ProvenArchive, _ options: RestoreOptions, _ outline: ArchiveOutline, into keyring: DesktopKeyring,
        _ session: Session
    ) throws -> ExitStatus {
        if replaceUnarchived { throw UsageProblem.desktopKeyring }
        let restore = try RestoreBackup(proven, options: options)
        try archivePasscode.open(proven, isNeeded: true, path: archive ?? "", in: session)
        let client = try keyring.connect(unlocking, passcode: keychain.passcode, mayBeMissing: true, in: session)
        let target = ServiceTarget(
            client, scope: keyring.scope, making: keyring.making(unlocking, passcode: keychain.passcode, in: session))
        if replace, !dryRun { try confirmRemoval(proven, options, target, keyring.words, session) }
        var decisions: [(Item, RestoreAction)] = []
        var written: [Item] = []
        let keepsDecisions = style.verbose || options.filter != nil
        let progress = Progress("restoring items", in: session, reading: proven.opened, dryRun ? 1 : 2)
        let report = try DesktopStates(session).keeping(unless: noUndo || dryRun, client) { keep in
            try restore.run(into: target, keep: keep, step: progress.step) { item, action in
                if keepsDecisions { decisions.append((item, action)) }
                if action == .create || action == .update { written.append(item) }
            }
        }
        progress.finish()
        try RestoreText(
            report: report, decisions: decisions, outline: outline, path: archive ?? "", origin: proven.origin,
            target: (keyring.name, keyring.words), isMade: true, homeless: Homeless(written)
        ).tell(session)
        return report.failing.isEmpty ? .ok : .incomplete
    }

    /// The options of the engine.
    private func options() throws -> RestoreOptions {
        var options = RestoreOptions()
        options.conflictPolicy = onConflict
        if replace { options.replacing = replaceUnarchived ? .all : .archived }
        options.requiresAll = requireAll
        options.isDryRun = dryRun
        options.filter = try conditions.filter(text)
        if replace, options.filter != nil { throw UsageProblem.replaceWithQuery }
        options.acceptedOrigin = try acceptOrigin.map { text throws(UsageProblem) in
            guard let id = DeviceID(text) else { throw .deviceID }
            return id
        }
        return options
    }

    /// What the archive was made of.
    private func source(of proven: ProvenArchive, _ session: Session) throws -> ArchiveSource {
        let progress = Progress("checking the archive", in: session, reading: proven.opened, 1)
        defer { progress.finish() }
        return try proven.opened.source(progress.step)
    }

    /// The keychain that the archive was made of; nil where it was another source.
    private func keychainName(_ source: ArchiveSource) throws -> String? {
        switch source.kind {
        case ArchiveSource.keychain where LocalKeychain.isName(source.name): return source.name
        // A path of the time of the backup leads to another file here, or to none.
        case ArchiveSource.keychain, ArchiveSource.keychainFile: throw Refusal.keychainByPath(source.name)
        default: return nil
        }
    }

    /// Refuses options that mean an archive where a state is brought back.
    private func requireNothingElse() throws {
        let given: OptionName = undo ? .undo : .listUndo
        let others: [(Bool, OptionName)] = [
            (undo && listUndo, .listUndo), (replace, .replace), (requireAll, .requireAll),
            (listUndo && noUndo, .noUndo),
            (replaceUnarchived, .replaceUnarchived), (onConflict != .newer, .onConflict),
            (acceptOrigin != nil, .acceptOrigin), (opening.passphrase != nil, .passphrase),
            (!opening.identity.isEmpty, .identity),
            (opening.identityPassphrase != nil, .identityPassphrase),
            (archivePasscode.archivePasscode != nil, .archivePasscode),
            (keychain.passcode != nil, .passcode), (listUndo && dryRun, .dryRun),
        ]
        for (isGiven, other) in others where isGiven { throw UsageProblem.together(given, other) }
        if try text != nil || conditions.filter() != nil || (listUndo && archive != nil) {
            throw UsageProblem.undoOfItems(given)
        }
    }

    /// Refuses, before anything is opened, a word that is no source: it may be the secret itself.
    private func requireSources() throws(SecretProblem) {
        let sources: [(SecretSource?, OptionName)] = [
            (opening.passphrase, .passphrase), (opening.identityPassphrase, .identityPassphrase),
            (archivePasscode.archivePasscode, .archivePasscode),
            (keychain.passcode, .passcode),
        ]
        for (source, option) in sources where source == .unknown { throw .notASource(option) }
    }

    /// Accepts an unknown origin after asking, if there is a terminal.
    static func acceptOrigin(
        of proven: ProvenArchive, _ options: inout RestoreOptions, _ session: Session,
        question: String = "Restore it all the same?"
    ) throws {
        do throws(RestoreRefusal) {
            _ = try RestoreBackup(proven, options: options)
        } catch {
            guard case .unknownOrigin(let device) = error, session.world.terminal.isAttended else { throw error }
            session.warn("nobody vouches for device \(device), which signed this archive")
            guard try session.world.terminal.confirms(question) else { throw error }
            options.acceptedOrigin = device
        }
    }

    /// Asks before a keychain is made under a name that comes from the archive; without a terminal it is refused.
    private func confirmNew(_ local: LocalKeychain, _ session: Session) throws {
        guard session.world.terminal.isAttended else { throw Refusal.noKeychainNamed(local.name) }
        guard try session.world.terminal.confirms("Make keychain \(quoted(local.name)), and restore into it?") else {
            throw Refusal.declined
        }
    }

    /// Names what would be removed and would not come back, and asks.
    private func confirmRemoval(
        _ proven: ProvenArchive, _ options: RestoreOptions, _ keychain: any StoredItemTarget, _ target: String,
        _ session: Session
    ) throws {
        let question = "Remove every local item of \(target) that is not synchronizable?"
        if yes || !session.world.terminal.isAttended { return try session.confirm(question, isGiven: yes) }
        var rehearsal = options
        rehearsal.isDryRun = true
        let report = try RestoreBackup(proven, options: rehearsal).run(into: keychain)
        session.list(report.vanishing) { _, words in "would be removed for good: \(words)" }
        try session.confirm(
            report.vanishing.isEmpty
                ? question : "\(question.dropLast()), \(report.vanishing.count) of them for good?", isGiven: false)
    }
}
