internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup rekey`.
struct RekeyCommand: Verb {
    static let mainOptions: [OptionName] = [.recipient, .newPassphrase, .identity]

    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Let other keys open archives that this device made.",
        discussion: """
            The given keys, and the recovery kits of this device that are not retired, replace all keys of an archive: \
            to keep an existing key, name it again. The content is encrypted again, so that the old keys are of no use \
            with the new archive. It is read back, compared item by item, and replaced in one step. If a run was \
            interrupted, run it again with the old and the new keys.

            Copies elsewhere and in the trash of a folder keep their keys. Anyone who could open an archive before may \
            have kept its content: if a key was stolen, change the passwords too.

            EXAMPLES:
              kcbackup rekey laptop.kcb -i old-key.txt -r age1…
              kcbackup rekey ~/backups -i old-key.txt -r age1… -r age1…
              kcbackup rekey laptop.kcb --new-passphrase tty
            """)

    @Argument(
        help: ArgumentHelp("Archives, or folders of 'create --to'.", valueName: "archive|folder"),
        completion: .file(extensions: ["kcb"]))
    var archives: [String]

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var restoring: RecipientOptions

    @Option(
        name: OptionName.inspectRecipient.name,
        help: ArgumentHelp("A public key that opens the metadata alone; may be repeated.", valueName: "recipient"))
    var inspectRecipient: [String] = []

    @Option(
        name: OptionName.newPassphrase.name,
        help: ArgumentHelp("Where the new passphrase comes from.", valueName: "source"))
    var newPassphrase: SecretSource?

    @OptionGroup
    var lock: LockWaitOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        for archive in archives {
            if archive.isEmpty { throw UsageProblem.emptyArchive }
            if try !Path.exists(session.machine.resolve(archive)) { throw FileFailure(archive, .notFound) }
        }
        try opening.check(with: archives)
        var keys = ArchiveKeyRequest(
            passphrase: newPassphrase, restoring: restoring.request, inspecting: inspectRecipient)
        keys.passphraseField = .newPassphrase
        let request = RekeyRequest(from: opening.keys, to: keys, waiting: try lock.wait())
        let rekeying = try Rekeying(request, in: session.context)
        for archive in archives where try rekeying.rekey(archive) {
            session.warnJobs(inFolder: CatalogueFile.place(of: session.machine.resolve(archive)))
        }
        let done = rekeying.done
        for path in rekeying.unlisted {
            session.warn(
                "\(quoted(path)) is not in the catalogue, and keeps the keys that it has; name it to change them")
        }
        if !done.isEmpty {
            session.note("copies elsewhere, and in a trash, keep the keys that they have")
            try session.noteKits()
        }
        if style.json {
            try session.result(
                ["rekeyed": .list(done.map { .text($0) }), "keys": .list(rekeying.names.map { .text($0) })], [])
        }
        if let (path, error) = rekeying.failure {
            return session.failure(of: InputFailure(path, error)).explanation.status
        }
        return rekeying.unlisted.isEmpty && rekeying.missing.isEmpty ? .ok : .incomplete
    }
}
