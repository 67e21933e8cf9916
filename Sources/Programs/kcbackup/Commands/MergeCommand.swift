internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText

/// `kcbackup merge`: brings what a keyring file has into the keyring that is in use.
struct MergeCommand: Verb {
    static let mainOptions: [OptionName] = [.into, .onConflict, .dryRun]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Bring two versions of a keyring together.",
        discussion: """
            Adds the items of a file that the desktop keyring or a keychain lacks. Items are compared as 'kcbackup \
            diff' compares them. Where both have an item and its secret or an attribute differs, nothing is written: \
            the item is named, and the exit code is 3, unless '--on-conflict' says which one wins. Nothing is ever \
            removed, and 'kcbackup undo' takes a merge back.

            This is for a keyring that has two files since an upgrade: 'login.keyring' of GNOME Keyring, and \
            'v1/login.keyring' of oo7. Merge the file that is not in use; 'kcbackup doctor' says which one that is. Any file \
            of another program that 'kcbackup import' reads can be merged too.

            EXAMPLES:
              kcbackup merge ~/.local/share/keyrings/login.keyring --dry-run
              kcbackup merge login.keyring --into secret-service:Login
              kcbackup merge login.keyring --on-conflict newer
              kcbackup merge kdewallet.kwl --into login
            """)

    @Argument(help: "The file.", completion: .file())
    var file: String

    @OptionGroup
    var opening: ForeignOptions

    @Option(
        name: OptionName.into.name,
        help: ArgumentHelp(
            "A collection, 'secret-service:LABEL', or a keychain: a name, or a path with a '/'. (default: the desktop keyring)",
            valueName: "name|path"),
        completion: KnownNames.keychainsAndKeyring)
    var into: String?

    @OptionGroup
    var passcodeOption: PasscodeOption

    @OptionGroup
    var unlocking: UnlockOptions

    @Option(
        name: OptionName.onConflict.name,
        help: ArgumentHelp(
            "What wins where both have an item and differ: newer, keep, overwrite or fail. (default: keep)",
            valueName: "policy"))
    var onConflict: ConflictPolicy?

    private var policy: ConflictPolicy { onConflict ?? .keep }

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the merge.")
    var noUndo = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if passcodeOption.passcode == .unknown { throw SecretProblem.notASource(.passcode) }
        try opening.check(with: file, passcode: passcodeOption.passcode)
        let named = try session.store(into ?? DesktopKeyring.all.name)
        let options = StoreOptions(passcodeOption, unlocking)
        if named.kind == .keychain {
            try named.kind.check(options.given)
            return try mergeIntoKeychain(in: session)
        }
        let target = try RestorePlace(named, given: into, options, in: session)
        let reading = try read(in: session)
        let contents = ImportText(path: file, reading: reading, use: .taking, session: session)
        try contents.tellContents()
        let items = FileItems(reading.contents, identity: file)
        let (archive, identity) =
            if let date = reading.fileDate {
                try archive(of: items.undated(date), in: session)
            } else {
                try archive(of: items, in: session)
            }
        let status = try merge(archive, identity, reading, into: target, in: session)
        if reading.contents.exposesSecrets, reading.remains, !dryRun {
            session.warn("\(quoted(file)) still holds the secrets in the clear; delete it when it is no longer needed")
        }
        return status
    }

    /// An import knows which dates a file has of its own, so it brings two together in a keychain.
    private func mergeIntoKeychain(in session: Session) throws -> ExitStatus {
        var target = try LocalKeychainOptions.parse([])
        target.keychain = into
        target.passcodeOption = passcodeOption
        // Both must be there, before the user is asked for anything.
        _ = try target.open(in: session)
        let reading = try read(in: session)
        return try KeychainImport(
            path: file, target: target, named: into, policy: policy, isDryRun: dryRun, keepsState: !noUndo,
            isAgreement: true, isDecided: onConflict != nil
        ).run(reading, in: session)
    }

    /// Reads the file: a folder has several keyrings, and perhaps several versions of one.
    private func read(in session: Session) throws -> ForeignReader.Reading {
        if Path.isFolder(session.world.resolve(file)) {
            throw UsageProblem(
                "'merge' takes one file, and \(quoted(file)) is a folder",
                hint: "merge the files in it one by one; 'kcbackup import' reads a folder of keyrings")
        }
        return try ForeignReader(file, opening, in: session).read()
    }

    /// An archive of the items, so that a restore merges them, and what identifies this restore.
    private func archive(
        of items: some ItemSource, in session: Session
    ) throws -> (archive: ProvenArchive, fingerprint: [UInt8]) {
        let device: DeviceKey
        if dryRun {
            // Nothing is written, not even the first key of this device.
            device = try LocalDevice(session.world).keyIfAny() ?? DeviceKey.generate()
        } else {
            try StoreChoice.makeDeviceKey(in: session)
            device = try LocalDevice(session.world).key()
        }
        return try TransientArchive.make(
            of: items, ArchiveSource(kind: ArchiveSource.items, name: Path.split(file).name), device,
            tool: CommandLineTool.tool,
            folder: dryRun ? session.world.temporaryFolder : session.world.dataFolder.path, now: session.now)
    }

    private func merge(
        _ archive: ProvenArchive, _ identity: [UInt8], _ reading: ForeignReader.Reading, into target: RestorePlace,
        in session: Session
    ) throws -> ExitStatus {
        var options = RestoreOptions()
        options.conflictPolicy = policy
        options.isDryRun = dryRun
        var request = RestoreRequest(archive, options, keepsState: !noUndo) { _ in }
        request.change = .merge
        request.identity = identity
        let watch = RestoreWatch(
            RestoreChanges(
                namesCreated: true, namesSame: style.verbose, limit: .max, isForNames: !style.json,
                spoolingIn: session.world.temporaryFolder))
        let progress = Progress("merging items", in: session, reading: archive.opened, dryRun ? 1 : 2)
        defer { progress.finish() }
        let report = try target.place.restore(request, watch.observer(of: target.place, progress.step))
        progress.finish()
        try RestoreText(
            report: report, changes: watch.lists, source: .file(path: file, format: reading.format.name),
            target: target,
            policy: policy, isOfSome: false, isMade: true, unmapped: watch.unmapped, done: .merged
        ).tell(session)
        session.noteUndo(target.option)
        let isUndecided = onConflict == nil && report.counts.keep > 0
        if isUndecided, !session.style.isQuiet {
            session.message(
                "kcbackup: hint: '\(OptionName.onConflict.spelling) newer' takes the newer version of "
                    + "\(report.counts.keep == 1 ? "it" : "each"), and 'overwrite' the file's\n")
        }
        let isWhole = report.failing.isEmpty && report.stayingBehind.isEmpty && report.contents.isComplete
        let isRead = reading.contents.refused.isEmpty && reading.contents.staying.isEmpty
        return isWhole && isRead && !isUndecided ? .ok : .incomplete
    }
}
