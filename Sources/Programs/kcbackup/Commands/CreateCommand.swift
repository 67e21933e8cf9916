internal import KCLocalKeychains
internal import KCAgeEncryption
internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCItemSources
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText

/// `kcbackup create`: makes an archive from a keychain.
struct CreateCommand: Verb {
    static let mainOptions: [OptionName] = [.output, .keychain, .to]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Back up the desktop keyring or a keychain to a new archive.",
        discussion: """
            An encrypted archive (the default) restores on any device, except its ThisDeviceOnly items. It opens with \
            a passphrase, with the identities of public keys (-r, -R), or with both; inspect recipients can list it \
            and never read a secret.

            An unencrypted archive restores only on this device. Its secrets stay encrypted under keys that only this \
            device has; anyone can read the rest. It needs no passcode; with one, or while the keychain is unlocked, \
            every secret is opened to detect damage.

            Without '--keychain', what 'keychain default' shows is backed up: the desktop keyring where there is no \
            keychain. Where both have items and none was chosen, you are asked, and the answer is remembered.

            EXAMPLES:
              kcbackup create laptop.kcb
              kcbackup create --keychain secret-service: desk.kcb
              kcbackup create -r age1… -o laptop.kcb --passcode file:/root/passcode
              kcbackup create --unencrypted -o here.kcb
              kcbackup create -r age1… -o - | ssh backup@host 'cat > laptop.kcb'
              kcbackup create --keychain file:items.jsonl -o items.kcb
              kcbackup create --all -r age1… --to ~/backups --if-changed
            """)

    @Argument(help: "The new archive, as '--output' names it.", completion: .file(extensions: ["kcb"]))
    var file: String?

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp(
            "The new archive; '-' for standard output; a folder for KEYCHAIN-DATE-TIME.kcb in it. (default: in this folder)",
            valueName: "file"),
        completion: .file(extensions: ["kcb"]))
    var output: String?

    @OptionGroup
    var options: CreateOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        try options.check(in: session)
        if file != nil, output != nil { throw UsageProblem.outputTwice }
        if let path = try options.folder.folder(output: file ?? output) {
            return try FolderBackup(options: options, unlocking: unlocking, path: path, session: session).run()
        }
        let subject = try BackupSubject.chosen(options.keychain.keychain, in: session)
        let target = try ArchiveOutput(file ?? output, of: subject, in: session)
        let source = try options.open(subject, unlocking, in: session)
        let backup = try CreateBackup(
            of: subject.archiveSource(), device: LocalDevice(session.world).key(), tool: CommandLineTool.tool,
            to: target.destination(in: session), now: session.now)
        let report =
            try options.unencrypted
            ? self.unencrypted(backup, source, target, session)
            : encrypted(backup, source, subject, target, session)
        try tell(report, source, subject, target, session)
        if let folder = target.folder, try session.catalogueIfAny(of: folder) != nil {
            session.note("'\(OptionName.to.spelling) \(shellWord(folder))' would add it to the backups kept there")
        }
        return report.damaged.isEmpty ? .ok : .incomplete
    }

    /// Asks for missing secrets in the order in which mistakes are noticed earliest: recipients, passcode, passphrase.
    private func encrypted(
        _ backup: CreateBackup, _ source: BackupSource, _ subject: BackupSubject, _ target: ArchiveOutput,
        _ session: Session
    ) throws -> CreateReport {
        let recipients = try options.keys.recipients(in: session)
        let source = try options.opened(source, in: session)
        let keys = try options.keys.keys(recipients, of: subject.name, in: session)
        let progress = try Progress("archiving items", in: session, itemsOf: source.itemCount)
        var bound: [Item] = []
        let report = try target.making(in: session) {
            try source.encrypted(
                backup, with: keys, bound: { if session.style.isVerbose { bound.append($0) } },
                step: { progress.step() })
        }
        progress.finish()
        for words in wordsApart(bound) { session.note("only on this device: \(words)") }
        return report
    }

    /// Needs no key; secrets that can be opened are opened anyway, to detect damage.
    private func unencrypted(
        _ backup: CreateBackup, _ source: BackupSource, _ target: ArchiveOutput, _ session: Session
    ) throws -> CreateReport {
        let progress = try Progress("archiving items", in: session, itemsOf: source.itemCount)
        let report = try target.making(in: session) {
            try options.unencrypted(backup, source, session) { progress.step() }
        }
        progress.finish()
        return report
    }

    private func tell(
        _ report: CreateReport, _ source: BackupSource, _ subject: BackupSubject, _ target: ArchiveOutput,
        _ session: Session
    ) throws {
        options.warn(of: report, told: source.toldCount, session)
        let total = report.contents.counts.total
        if total == 0, report.damaged.isEmpty, !style.json {
            session.warn("\(target.words) holds no items of \(subject.words)")
        }
        session.did("\(target.words): \(counted(total, "item")) of \(subject.words), \(byteCount(report.size))")
        session.note(options.travelWords(report))
        if report.notOpened > 0 {
            // Not a warning: a nightly run without the passcode should stay silent.
            session.note("\(counted(report.notOpened, "item")) not opened: the keychain is locked")
        }
        guard style.json, let path = target.path else { return }
        var holds: [(String, JSONValue)] = []
        var damaged = report.damaged[...]
        if case .foreign(let reading) = source {
            holds = [("holds", ImportText.contents(reading.contents))]
            // They are listed with their names as refused.
            damaged = damaged.dropFirst(source.toldCount)
        }
        try session.result(
            .members([
                ("archive", outline(path, session)),
                ("contents", report.contents.json), ("boundToThisDevice", .number(report.boundToThisDevice)),
                ("notOpened", .number(report.notOpened)),
                ("omitted", .list(report.omitted.map { .item($0) })),
                ("damaged", .list(damaged.map { $0.map { .item($0) } ?? [:] })),
            ]).adding(holds), [])
    }

    /// Describes the new archive, which exists even if it cannot be read again.
    private func outline(_ path: String, _ session: Session) -> JSONValue {
        do {
            return try ArchiveOutline(ArchiveFile(path: session.world.resolve(path))).json(path)
        } catch {
            session.warn("written, but cannot be read back: " + Failure(error, session.subjects).explanation.message)
            return ["path": .text(path)]
        }
    }
}
