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
        let device = try LocalDevice(session.machine).key()
        for archive in archives where try !archive.isEmpty && !Path.exists(session.machine.resolve(archive)) {
            throw FileFailure(archive, .notFound)
        }
        if let source = opening.passphrase {
            try session.context.secrets.require(
                WantedSecret(.passphraseOfNewArchive, .passphrase, from: source))
        }
        let (maker, names) = try newKeys(in: session)
        let rekeying = Rekeying(ArchiveOpener(opening, in: session), maker, names, device, in: session)
        var unknown: [String] = []
        for archive in archives {
            let subjects = try subjects(of: archive, &unknown, in: session)
            // Later runs use the new keys once every archive has them.
            if try rekeying.rekey(subjects), Path.isFolder(session.machine.resolve(archive)),
                let folder = subjects.first?.folder
            {
                try folder.pin(keys: names)
                session.warnJobs(inFolder: CatalogueFile.place(of: session.machine.resolve(archive)))
            }
        }
        let done = rekeying.done
        var status = rekeying.status
        for path in unknown {
            session.warn(
                "\(quoted(path)) is not in the catalogue, and keeps the keys that it has; name it to change them")
            if status == .ok { status = .incomplete }
        }
        if !done.isEmpty {
            session.note("copies elsewhere, and in a trash, keep the keys that they have")
            try session.noteKits()
        }
        if style.json {
            try session.result(["rekeyed": .list(done.map { .text($0) }), "keys": .list(names.map { .text($0) })], [])
        }
        return status
    }

    /// Returns a maker for the new keys, and their names as recorded in a catalogue.
    private func newKeys(in session: Session) throws -> (ArchiveKeyMaker, [String]) {
        var keys = ArchiveKeyRequest(
            passphrase: newPassphrase, restoring: restoring.request, inspecting: inspectRecipient)
        keys.passphraseField = .newPassphrase
        let given = try keys.recipients(in: session.context)
        if given.restoring.isEmpty, newPassphrase == nil {
            throw UsageProblem(
                "no keys are given for the archives",
                hint: "use '\(OptionName.recipient.spelling) age1…' or '\(OptionName.newPassphrase.spelling) SOURCE'")
        }
        return (try keys.maker(given, of: "", in: session.context), keys.names(given))
    }

    /// Returns the archive itself, or the encrypted archives in a folder.
    private func subjects(
        of archive: String, _ unknown: inout [String], in session: Session
    ) throws -> [Rekeying.Subject] {
        if archive.isEmpty { throw UsageProblem.emptyArchive }
        let resolved = session.machine.resolve(archive)
        if Path.isFolder(resolved) {
            _ = try session.knownCatalogue(of: archive)
            let folder = try session.backupFolder(archive, waitingAtMost: lock.wait())
            let unlisted = try folder.unlisted()
            if !unlisted.isEmpty { unknown += unlisted.map { "\(archive)/\($0)" } }
            return try folder.catalogue.complete.filter { try $0.mode == .encrypted && folder.isPresent($0) }.map {
                Rekeying.Subject(path: folder.path(of: $0), folder: folder, entry: $0)
            }
        }
        // A symbolic link is kept; the file that it points to is replaced.
        guard let path = Path.real(resolved) else { throw FileFailure(archive, .notFound) }
        let (place, name) = Path.split(path)
        let (parent, last) = Path.split(place)
        if last == BackupFolder.trashName,
            try session.catalogue(of: parent)?.entries.contains(where: { $0.name.exact == name.exact }) == true
        {
            throw CatalogueFailure.inTrash(path: path)
        }
        if try session.catalogue(of: place)?.entries.contains(where: { $0.name.exact == name.exact }) == true {
            let folder = try session.backupFolder(place, waitingAtMost: lock.wait())
            // A catalogued archive in the trash stays as it is; a copy of it here is an archive of its own.
            if let known = folder.catalogue.complete.first(where: { $0.name.exact == name.exact }) {
                return [Rekeying.Subject(path: path, folder: folder, entry: known)]
            }
        }
        return [Rekeying.Subject(path: path, folder: nil, entry: nil)]
    }
}
