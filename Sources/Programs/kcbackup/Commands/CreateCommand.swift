internal import LocalKeychains
internal import AgeEncryption
internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import ByteStreams
internal import KeychainModel
internal import KeychainStore

/// `kcbackup create`: a keychain becomes an archive.
struct CreateCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Back up a keychain to a new archive.",
        discussion: """
            An encrypted archive (the default) restores on any device, except its ThisDeviceOnly items. It opens with \
            a passphrase, with the identities of public keys (-r, -R), or with both; inspect recipients can list it \
            and never read a secret.

            An unencrypted archive restores only on this device. Its secrets stay encrypted under keys that only this \
            device has; everything else in it is readable by anybody. It needs no passcode; with one, or while the \
            keychain is unlocked, every secret is opened to find damage.

            EXAMPLES:
              kcbackup create -o laptop.kcb
              kcbackup create -r age1… -o laptop.kcb --passcode file:/root/passcode
              kcbackup create --unencrypted -o here.kcb
            """)

    @OptionGroup
    var keychain: KeychainOptions

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The new archive. (default: KEYCHAIN-DATE-TIME.kcb in this folder)", valueName: "file"),
        completion: .file(extensions: ["kcb"]))
    var output: String?

    @Flag(name: OptionName.unencrypted.name, help: "Set no passphrase: the archive restores on this device alone.")
    var unencrypted = false

    @OptionGroup
    var keys: ArchiveKeyOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if unencrypted, let option = keys.firstGiven { throw UsageProblem.unencryptedWith(option) }
        // A member of a tar is dated with 11 octal digits of seconds since 1970.
        guard (0..<(1 << 33)).contains(session.now.seconds) else { throw Refusal.clock(day: session.now.day) }
        let local = try LocalKeychain(keychain.keychain, in: session.world)
        let path = try outputPath(local, session)
        let open = try keychain.open(in: session)
        let device = try LocalDevice(session.world).key()
        let (folder, name) = Path.split(session.world.resolve(path))
        let backup = CreateBackup(
            device: device, tool: CommandLineTool.tool, folder: folder, name: name, now: session.now)
        let report =
            try unencrypted
            ? unencrypted(backup, open, path, session) : encrypted(backup, open, local, path, session)
        try tell(report, path, session)
        return report.damaged.isEmpty ? .ok : .incomplete
    }

    /// What is missing is asked for in the order in which a mistake is noticed soonest: recipients, passcode, passphrase.
    private func encrypted(
        _ backup: CreateBackup, _ open: Keychain, _ local: LocalKeychain, _ path: String, _ session: Session
    ) throws -> CreateReport {
        let recipients = try keys.recipients(in: session)
        try keychain.unlock(open, in: session)
        let keys = try keys.keys(recipients, of: local.name, in: session)
        session.subjects.path = path
        let progress = Progress("archiving items", in: session)
        let report = try backup.encrypted(open, with: keys, step: { progress.step() })
        progress.finish()
        return report
    }

    /// Nothing has to be opened, and whatever can be is, to find damage.
    private func unencrypted(
        _ backup: CreateBackup, _ open: Keychain, _ path: String, _ session: Session
    ) throws -> CreateReport {
        if keychain.passcode != nil {
            try keychain.unlock(open, in: session)
        } else {
            try session.world.unlocked.resume(open)
        }
        session.subjects.path = path
        let progress = Progress("archiving items", in: session)
        let report = try backup.unencrypted(open, step: { progress.step() })
        progress.finish()
        return report
    }

    /// The archive's path as it will be told; looked at before anything is asked or read.
    private func outputPath(_ local: LocalKeychain, _ session: Session) throws -> String {
        if output == "" { throw UsageProblem.empty(.output) }
        // Elsewhere a hyphen means standard output, which cannot be checked, synchronised or left without a name.
        if output == "-" { throw UsageProblem.malformed(.output, form: "the name of a file") }
        let name = Path.split(local.name).name
        let stem = name.hasSuffix(".keychain") ? String(name.dropLast(9)) : name
        let digits = session.now.description.prefix(19).filter { $0.isNumber }
        let path = output ?? "\(stem)-\(digits.prefix(8))-\(digits.dropFirst(8)).kcb"
        let resolved = session.world.resolve(path)
        if try Path.split(resolved).name.isEmpty || Path.exists(resolved) { throw FileFailure(path, .exists) }
        guard try Path.exists(Path.split(resolved).folder) else {
            throw FileFailure(Path.split(path).folder, .notFound)
        }
        return path
    }

    private func tell(_ report: CreateReport, _ path: String, _ session: Session) throws {
        for item in report.damaged {
            session.warn("not in the archive, since it cannot be read: \(item?.words ?? "a row that makes no item")")
        }
        for item in report.omitted { session.note("in no archive: \(item.words)") }
        let total = report.contents.counts.total
        session.note("\(displayed(path)): \(counted(total, "item")), \(byteCount(report.size))")
        session.note(travelWords(report))
        if report.notOpened > 0 {
            // No warning: a nightly run without the passcode is meant to be silent.
            session.note("\(counted(report.notOpened, "item")) not opened: the keychain is locked")
        }
        guard style.json else { return }
        try session.result(
            .members([
                ("archive", outline(path, session)),
                ("contents", report.contents.json), ("boundToThisDevice", .number(report.boundToThisDevice)),
                ("notOpened", .number(report.notOpened)),
                ("omitted", .list(report.omitted.map { .item($0) })),
                ("damaged", .list(report.damaged.map { $0.map { .item($0) } ?? [:] })),
            ]), [])
    }

    /// The outside of the new archive; it exists even if it cannot be read any more.
    private func outline(_ path: String, _ session: Session) -> JSONValue {
        do {
            return try ArchiveOutline(ArchiveFile(path: session.world.resolve(path))).json(path)
        } catch {
            session.warn("made, and cannot be read again: " + Failure(error, session.subjects).explanation.message)
            return ["path": .text(path)]
        }
    }

    /// The one line that says where the archive can be restored and what will not travel.
    private func travelWords(_ report: CreateReport) -> String {
        let omitted =
            report.omitted.isEmpty
            ? "" : "; \(counted(report.omitted.count, "item")) in no archive (WhenPasscodeSetThisDeviceOnly)"
        if unencrypted {
            return "restores on this device only; anybody can read its metadata, nobody elsewhere its secrets" + omitted
        }
        let bound = report.boundToThisDevice
        let travel = bound == 0 ? "all of it" : "\(counted(bound, "ThisDeviceOnly item")) only here"
        return "restores on any device, \(travel)" + omitted
    }
}
