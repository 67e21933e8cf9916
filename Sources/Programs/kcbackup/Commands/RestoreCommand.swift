internal import LocalKeychains
internal import Console
internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import DeviceIdentity
internal import KeychainModel
internal import KeychainStore

/// `kcbackup restore`: an archive goes back into a keychain.
struct RestoreCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore an archive into a keychain.",
        discussion: """
            Nothing is written before the whole archive has proved genuine; then everything is, or nothing. Items \
            that the rules leave behind are named. A keychain that does not exist is made.

            EXAMPLES:
              kcbackup restore laptop.kcb --dry-run
              kcbackup restore laptop.kcb
              kcbackup restore laptop.kcb --keychain restored -i restore-key.txt
              kcbackup restore laptop.kcb --on-conflict overwrite
            """)

    @OptionGroup
    var archive: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    var keychain: KeychainOptions

    @Option(
        name: OptionName.onConflict.name,
        help: ArgumentHelp(
            "What wins where an item is there already: newer, keep, overwrite or fail.", valueName: "policy"))
    var onConflict: ConflictPolicy = .newer

    @Flag(name: OptionName.replace.name, help: "Remove local items that are not synchronizable first.")
    var replace = false

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @Flag(name: OptionName.requireAll.name, help: "Restore nothing if an item would stay behind.")
    var requireAll = false

    @Option(
        name: OptionName.acceptOrigin.name,
        help: ArgumentHelp("Accept an archive of this device although nobody vouches for it.", valueName: "id"))
    var acceptOrigin: String?

    @Flag(name: OptionName.yes.name, help: "Do not ask before items are removed.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        try requireSources()
        var options = RestoreOptions()
        options.conflictPolicy = onConflict
        options.replacesLocalItems = replace
        options.requiresAll = requireAll
        options.isDryRun = dryRun
        options.acceptedOrigin = try acceptOrigin.map { text throws(UsageProblem) in
            guard let id = DeviceID(text) else { throw .deviceID }
            return id
        }
        let file = try archive.open(in: session)
        let outline = try ArchiveOutline(file)
        let proven = try archive.prove(file, in: session)
        let restore = try prepare(proven, &options, session)
        let local = try LocalKeychain(keychain.keychain, in: session.world)
        let target = try RestoreTarget(
            local, for: proven, (archive.archive, archivePasscode), options: keychain, replaces: replace,
            isDryRun: dryRun, in: session)
        if replace, !dryRun, target.isThere { try confirmRemoval(local, session) }

        let progress = Progress("restoring items", in: session)
        var decisions: [(Item, RestoreAction)] = []
        let keepsDecisions = style.verbose
        let report = try target.use { keychain in
            try restore.run(into: keychain) { item, action in
                progress.step()
                if keepsDecisions { decisions.append((item, action)) }
            }
        }
        progress.finish()
        try RestoreText(
            report: report, decisions: decisions, outline: outline, path: archive.archive, origin: proven.origin,
            keychain: local.name
        ).tell(session)
        return report.failing.isEmpty ? .ok : .incomplete
    }

    /// Refuses, before anything is opened, a word that is no source: it may be the secret itself.
    private func requireSources() throws(SecretProblem) {
        let sources: [(SecretSource?, OptionName)] = [
            (archive.passphrase, .passphrase), (archivePasscode.archivePasscode, .archivePasscode),
            (keychain.passcode, .passcode),
        ]
        for (source, option) in sources where source == .unknown { throw .notASource(option) }
    }

    /// Accepts an unknown origin after asking, if there is a terminal.
    private func prepare(
        _ proven: ProvenArchive, _ options: inout RestoreOptions, _ session: Session
    ) throws -> RestoreBackup {
        do throws(RestoreRefusal) {
            return try RestoreBackup(proven, options: options)
        } catch {
            guard case .unknownOrigin(let device) = error, session.world.terminal.isAttended else { throw error }
            session.warn("nobody vouches for device \(device), which signed this archive")
            guard try session.world.terminal.confirms("Restore it all the same?") else { throw error }
            options.acceptedOrigin = device
            return try RestoreBackup(proven, options: options)
        }
    }

    private func confirmRemoval(_ local: LocalKeychain, _ session: Session) throws {
        try session.confirm(
            "Remove every local item of keychain \(quoted(local.name)) that is not synchronizable?", isGiven: yes)
    }
}
