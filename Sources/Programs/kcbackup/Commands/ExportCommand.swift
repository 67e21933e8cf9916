internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup export`: writes items to a file for another program.
struct ExportCommand: Verb {
    static let mainOptions: [OptionName] = [.to, .output, .archive]

    static let otherOptions: [OptionName]? = [
        .keychain, .service, .password, .passcode, .unlock, .identity, .passphrase, .plaintext, .json,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write items to a file for another program.",
        discussion: """
            FORMAT is 'bitwarden' (password-protected JSON), 'kdbx' (a KeePass database), 'cxf' (Credential Exchange \
            Format, JSON), 'csv' (the columns of Apple's Passwords), 'kubernetes-json' or 'kubernetes-yaml' (Secrets \
            for 'kubectl apply -f'). All but the first two are plain text and need '--plaintext'; with '-r', all of \
            these but CSV are written into an age file instead.

            ThisDeviceOnly items and keys that are not extractable are never exported; no option changes that. They \
            are listed, and so is what the format cannot hold. To move everything to another machine, make an archive: \
            'kcbackup create'.

            EXAMPLES:
              kcbackup export --to kdbx -o passwords.kdbx
              kcbackup export wi-fi --to bitwarden -o wifi.json
              kcbackup export --keychain secret-service: --to kdbx -o desk.kdbx
              kcbackup export --archive laptop.kcb --to kdbx -o passwords.kdbx
              kcbackup export --to cxf -r age1… -o passwords.json.age
              kcbackup export --to csv --plaintext -o passwords.csv
              kcbackup export kubernetes/ --to kubernetes-yaml --plaintext -o secrets.yaml
            """)

    @Argument(help: "Only items whose label, service, server, account or kind contains this text, in any case.")
    var text: String?

    @OptionGroup
    var conditions: QueryOptions

    @Option(
        name: OptionName.to.name,
        help: ArgumentHelp(
            "The form of the file: bitwarden, csv, cxf, kdbx, kubernetes-json or kubernetes-yaml.",
            valueName: "format"))
    var format: ExportFormat

    @Option(
        name: OptionName.output.name, help: ArgumentHelp("The new file.", valueName: "file"), completion: .file())
    var output: String

    @Option(
        name: OptionName.password.name,
        help: ArgumentHelp("Where the password of the new file comes from.", valueName: "source"))
    var password: SecretSource?

    @OptionGroup
    var recipients: RecipientOptions

    @Flag(name: OptionName.plaintext.name, help: "Write a file with every secret in the clear.")
    var plaintext = false

    @Flag(name: OptionName.requireAll.name, help: "Write nothing unless every item can be exported.")
    var requireAll = false

    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var fileKey: FileKeyOption

    @Option(
        name: OptionName.archive.name,
        help: ArgumentHelp("Export from an archive instead of a keychain or the desktop keyring.", valueName: "file"),
        completion: .file(extensions: ["kcb"]))
    var archive: String?

    @OptionGroup
    var reading: ArchiveReadingOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        try check()
        if password != nil { try session.context.secrets.require(wanted) }
        let file = try ExportFile(output, in: session)
        let filter = try conditions.filter(text)
        let source = try ExportSource(
            archive, reading, keychain, unlocking, fileKey, in: session)
        // Before anything is asked, so that mistakes show early.
        let age = try recipients.request.recipients(
            password, reading.opening.passphrase, reading.opening.identityPassphrase, keychain.passcode,
            in: session.context)
        try source.unlock(filter, in: session)
        let started = try format.start(
            date: session.now, kdbxMemoryInKiB: session.machine.costs.kdbxMemoryInKiB,
            spoolingIn: session.machine.temporaryFolder)
        let export = try source.run(to: started.writer, filter: filter, in: session)
        if export.selected == 0 { throw KeychainStoreError.itemNotFound }
        let isUnreadable = export.isUnreadable
        let missing = export.selected - export.exported.total + export.unreadCount
        let lists = try export.lists()
        try ExportText.list(export, lists, told: source.told(), session)
        if isUnreadable {
            throw Refusal(
                .notFound, "no item that can be read matches, and \(counted(missing, "item")) cannot be read",
                hint: "no file was made; what cannot be read may be what you want")
        }
        if export.exported.total == 0 {
            var carried = false
            for list in [lists.staying, lists.unheld] {
                try list.forEach { item, _ in if Travel(item.accessibility) == .anyDevice { carried = true } }
            }
            throw Refusal.nothingLeaves(missing, archiveCarries: archive == nil && carried)
        }
        if requireAll, missing > 0 {
            throw Refusal(
                .refused, "\(counted(missing, "item")) would not be in the file; nothing was written",
                hint: "leave out '\(OptionName.requireAll.spelling)' to export the others")
        }
        let size =
            switch started {
            case .plain(let writer):
                try file.make(to: age) { output in try writer.finish(to: output) }
            case .protected(let writer):
                try session.context.quietly(password) {
                    let password = try newPassword(in: session)
                    return try file.make(to: age) { output in try writer.finish(password: password, to: output) }
                }
            }
        let text = ExportText(
            export: export, lists: lists, format: format, path: output,
            isEncrypted: format.takesPassword || !age.isEmpty, size: size,
            formulas: started.writer.formulas, remarks: started.writer.remarks)
        try text.tell(session)
        return export.damaged.isEmpty && export.unreadCount == 0 ? .ok : .incomplete
    }

    /// Refuses contradictory options, before anything is read.
    private func check() throws {
        if password != nil, !format.takesPassword { throw UsageProblem.notOfFormat(.password, format.rawValue) }
        if let given = recipients.firstGiven {
            if !format.takesRecipients { throw UsageProblem.notOfFormat(given, format.rawValue) }
            if plaintext { throw UsageProblem.together(.plaintext, given) }
        } else if !format.takesPassword, !plaintext {
            throw UsageProblem(
                "'\(OptionName.to.spelling) \(format.rawValue)' would write every secret in the clear",
                hint: "add '\(OptionName.plaintext.spelling)' if that is what you want",
                "'\(OptionName.to.spelling) kdbx' and '\(OptionName.to.spelling) bitwarden' make files that a password "
                    + "opens")
        }
        if plaintext, format.takesPassword { throw UsageProblem.notOfFormat(.plaintext, format.rawValue) }
        if archive == nil {
            if let given = reading.firstGiven { throw UsageProblem.needs(given, .archive) }
        } else {
            if keychain.keychain != nil { throw UsageProblem.together(.archive, .keychain) }
            if keychain.passcode != nil { throw UsageProblem.together(.archive, .passcode) }
            if unlocking.unlock { throw UsageProblem.together(.archive, .unlock) }
            if let option = fileKey.firstGiven { throw UsageProblem.together(.archive, option) }
        }
    }

    private var wanted: WantedSecret {
        WantedSecret(.passwordOfNewFile(output), .password, from: password)
    }

    /// Returns the password of the new file; on a terminal, one can be generated.
    private func newPassword(in session: Session) throws -> SecretBytes {
        let chosen = try session.context.secrets.new(
            wanted, judge: { try session.context.judge($0, wanted, of: output) })
        return try chosen ?? session.context.generatedPassphrase(.password)
    }
}

extension ExportFormat: ExpressibleByArgument {}
