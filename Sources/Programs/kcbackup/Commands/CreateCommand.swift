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
              kcbackup create laptop.kcb
              kcbackup create -r age1… -o laptop.kcb --passcode file:/root/passcode
              kcbackup create --unencrypted -o here.kcb
              kcbackup create -r age1… -o - | ssh backup@host 'cat > laptop.kcb'
              kcbackup create --keychain file:items.jsonl -o items.kcb
            """)

    @OptionGroup
    var keychain: KeychainOptions

    @Argument(help: "The new archive, as '--output' names it.", completion: .file(extensions: ["kcb"]))
    var file: String?

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp(
            "The new archive; '-' for standard output; a folder for KEYCHAIN-DATE-TIME.kcb in it. (default: in this folder)",
            valueName: "file"),
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
        if file != nil, output != nil { throw UsageProblem.outputTwice }
        let subject = try BackupSubject(keychain.keychain, in: session.world)
        let target = try ArchiveOutput(file ?? output, of: subject, in: session)
        let source = try subject.open(keychain, in: session)
        let backup = try CreateBackup(
            of: subject.archiveSource(), device: LocalDevice(session.world).key(), tool: CommandLineTool.tool,
            to: target.destination(in: session), now: session.now)
        let report =
            try unencrypted
            ? self.unencrypted(backup, source, target, session)
            : encrypted(backup, source, subject, target, session)
        try tell(report, target, session)
        return report.damaged.isEmpty ? .ok : .incomplete
    }

    /// What is missing is asked for in the order in which a mistake is noticed soonest: recipients, passcode, passphrase.
    private func encrypted(
        _ backup: CreateBackup, _ source: BackupSource, _ subject: BackupSubject, _ target: ArchiveOutput,
        _ session: Session
    ) throws -> CreateReport {
        let recipients = try keys.recipients(in: session)
        if case .keychain(let open) = source { try keychain.unlock(open, in: session) }
        let keys = try keys.keys(recipients, of: subject.name, in: session)
        session.subjects.path = target.path
        let progress = try Progress("archiving items", in: session, itemsOf: source.itemCount)
        let report = try source.encrypted(backup, with: keys, step: { progress.step() })
        progress.finish()
        return report
    }

    /// Nothing has to be opened, and whatever can be is, to find damage.
    private func unencrypted(
        _ backup: CreateBackup, _ source: BackupSource, _ target: ArchiveOutput, _ session: Session
    ) throws -> CreateReport {
        guard case .keychain(let open) = source else { throw UsageProblem.needsKeychain(.unencrypted) }
        if keychain.passcode != nil {
            try keychain.unlock(open, in: session)
        } else {
            try session.world.unlocked.resume(open)
        }
        session.subjects.path = target.path
        let progress = try Progress("archiving items", in: session, itemsOf: open.itemCount)
        let report = try backup.unencrypted(open, step: { progress.step() })
        progress.finish()
        return report
    }

    private func tell(_ report: CreateReport, _ target: ArchiveOutput, _ session: Session) throws {
        for item in report.damaged {
            session.warn("not in the archive, since it cannot be read: \(item?.words ?? "a row that makes no item")")
        }
        for item in report.omitted { session.note("in no archive: \(item.words)") }
        let total = report.contents.counts.total
        session.note("\(target.words): \(counted(total, "item")), \(byteCount(report.size))")
        session.note(travelWords(report))
        if report.notOpened > 0 {
            // No warning: a nightly run without the passcode is meant to be silent.
            session.note("\(counted(report.notOpened, "item")) not opened: the keychain is locked")
        }
        guard style.json, let path = target.path else { return }
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
