internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup create`: makes an archive from a keychain.
struct CreateCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .to]

    static let otherOptions: [OptionName]? = [
        .all, .home, .skipLocked, .recipient, .passphrase, .unencrypted, .passcode, .ifChanged, .change, .json,
    ]

    static let keyringUse = KeyringUse.backedUp

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

            Without '--keychain', what 'keychain default' shows is backed up: the desktop keyring if there is no \
            keychain. If both have items and you chose neither, you are asked, and the answer is remembered.

            '--to REMOTE:PATH' keeps the archive only in a folder of a remote; 'kcbackup copy --help' says more.

            EXAMPLES:
              kcbackup create laptop.kcb
              kcbackup create --keychain secret-service: desk.kcb
              kcbackup create -r age1… laptop.kcb --passcode file:/root/passcode
              kcbackup create --unencrypted here.kcb
              kcbackup create -r age1… - | ssh backup@host 'cat > laptop.kcb'
              kcbackup create --keychain file:items.jsonl items.kcb
              kcbackup create --all -r age1… --to ~/backups --if-changed
              kcbackup create --home -r age1… --to ~/backups
              kcbackup create -r age1… --to nas:backups
            """)

    @Argument(
        help:
            "The new archive; '-' for standard output; a folder for KEYCHAIN-DATE-TIME.kcb in it. (default: in this folder)",
        completion: .file(extensions: ["kcb"]))
    var file: String?

    @OptionGroup
    var options: CreateOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        var request = try options.request()
        request.access.asksDesktop = unlocking.unlock
        try session.context.requireClock()
        if let file, let to = options.folder.to, !to.isEmpty { throw UsageProblem.fileAndFolder(file, to) }
        let folder = try options.folder.folder()
        // Where something is written, a folder here never takes the place of a remote.
        let remote = folder.flatMap { RemoteLocation($0) }
        if let folder, remote == nil {
            session.subject.file = folder
            let request = try options.folder.request(request, to: folder)
            var backup = FolderBackup(request, in: session.context)
            backup.accepted = options.folder.accepted
            // The objects of JSON say more of the contents than the catalogue knows.
            backup.needsContents = style.json
            backup.namesBound = style.verbose
            let text = try FolderBackupText(backup.run(), of: request, in: session)
            try text.tell()
            return text.status
        }
        if remote != nil { try options.checkForRemote() }
        let given = try request.recipients(in: session.context)
        let subject = try session.context.storeToBackUp(request.storeName)
        let target =
            try remote.map { try ArchiveOutput($0, of: subject, in: session) }
            ?? ArchiveOutput(file, of: subject, in: session)
        let open = try subject.open(StoreOptions(request), in: session)
        let keys = try given.flatMap { try self.keys($0, request, open.items, subject, session) }
        // A run that fails before leaves no key behind; a keychain has one.
        if subject.kind != .keychain { try session.context.makeDeviceKey() }
        let backup = try CreateBackup(
            of: subject.archiveSource(), device: LocalDevice(session.machine).key(), tool: session.machine.tool,
            to: target.destination(in: session), now: session.now)
        let report = try target.making(in: session) {
            try request.make(
                backup, of: open.items, with: keys, namesBound: style.verbose, in: session.context)
        }
        try tell(report, request, open, subject, target, given, session)
        if let folder = target.folder, try session.machine.catalogueIfAny(of: folder) != nil {
            session.warn(
                "\(quoted(folder)) is a folder of backups, whose catalogue does not know this archive: 'kcbackup create … "
                    + "\(OptionName.to.spelling) \(shellWord(folder))' makes one that it knows")
        }
        return report.damaged.isEmpty ? .ok : .incomplete
    }

    /// Asks for missing secrets in the order in which mistakes are noticed earliest: recipients, passcode, passphrase.
    private func keys(
        _ recipients: GivenRecipients, _ request: BackupRequest, _ source: any ReadableStore,
        _ subject: any NamedStore, _ session: Session
    ) throws -> ArchiveKeys? {
        try source.open(.all)
        return try request.keys?.keys(recipients, of: subject.name, in: session.context)
    }

    private func tell(
        _ report: CreateReport, _ request: BackupRequest, _ open: OpenStore, _ subject: any NamedStore,
        _ target: ArchiveOutput,
        _ keys: GivenRecipients?, _ session: Session
    ) throws {
        let told = try open.items.unread.count
        request.warn(of: report, told: told, session)
        if request.isUnencrypted, subject.kind == .keychain {
            session.context.tellIfLosable(subject, open.items.identity)
        }
        let total = report.contents.counts.total
        if total == 0, report.damaged.isEmpty, !style.json {
            session.warn("\(target.words) holds no items of \(subject.words)")
        }
        let contents =
            HomeRoot(storeName: subject.name)?.words(count: total) ?? "\(counted(total, "item")) of \(subject.words)"
        session.noteDone("\(target.words): \(contents), \(byteCount(report.size))")
        if let words = request.travelWords(report, keys) { session.note(words) }
        if !request.isUnencrypted { try session.noteKits() }
        if report.notOpened > 0 {
            // Not a warning: a nightly run without the passcode should stay silent.
            session.note("\(counted(report.notOpened, "item")) not opened, and not checked: that takes the passcode")
        }
        guard style.json, let path = target.path else { return }
        // With what a file holds, they are listed with their names as refused.
        let holdings = open.holdings(in: session)
        let damaged = holdings.isEmpty ? report.damaged[...] : report.damaged.dropFirst(told)
        try session.result(
            .members([
                ("archive", outline(of: target, path, session)),
                ("contents", report.contents.json),
                ("boundToThisDevice", .number(report.boundToThisDevice + report.ofThisMachine)),
                ("notOpened", .number(report.notOpened)),
                ("omitted", .list(report.omitted.map { .item($0) })),
                ("damaged", .list(damaged.map { $0.map { .item($0) } ?? [:] })),
            ]).adding(holdings), [])
    }

    /// Describes the new archive, which exists even if it cannot be read again.
    private func outline(of target: ArchiveOutput, _ path: String, _ session: Session) -> JSONValue {
        do {
            if let outline = try target.outline(in: session) { return outline.json(path) }
        } catch {
            session.warn("written, but cannot be read back: " + session.failure(of: error).explanation.message)
        }
        return ["path": .text(path)]
    }
}
