internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// `kcbackup diff`: shows what changed between two archives, or since an archive was made; never shows secrets.
struct DiffCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .passphrase, .identity]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what changed between two archives, or between an archive and a keychain.",
        discussion: """
            Lists the items that were added, removed and changed: which attributes, and whether the secret differs, \
            but never a secret. Items are matched by UUID, and without one by unique key, so a renamed item is a \
            change. Items that no archive contains by rule are left out.

            A key that opens only the metadata is enough; then only the sizes of secrets are compared, the output says \
            so, and the exit code is 3. Otherwise it is 0, even if the two differ.

            A single archive is compared with the keychain that it was made from, unless '--keychain' names another.

            Keys are tried for both archives. If a passphrase is needed and none is given, it is asked for.

            EXAMPLES:
              kcbackup diff laptop.kcb
              kcbackup diff monday.kcb tuesday.kcb
              kcbackup diff monday.kcb tuesday.kcb -i inspect-key.txt
              kcbackup diff laptop.kcb --keychain login --passphrase tty
            """)

    @Argument(
        help: ArgumentHelp("The earlier archive; '-' is standard input.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archive: String

    @Argument(
        help: ArgumentHelp("The later archive.", valueName: "other"), completion: .file(extensions: ["kcb"]))
    var other: String?

    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "Compare with this keychain, or 'secret-service:', as it is now. (default: the one it was made from)",
            valueName: "name|path"),
        completion: KnownNames.keychains)
    var keychain: String?

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    var passcodeOption: PasscodeOption

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if other != nil, keychain != nil { throw UsageProblem.comparesOne }
        if passcodeOption.passcode != nil, other != nil { throw UsageProblem.needs(.passcode, .keychain) }
        if unlocking.unlock, other != nil { throw UsageProblem.needsDesktop(.unlock) }
        for (source, option) in [
            (opening.passphrase, OptionName.passphrase), (passcodeOption.passcode, .passcode),
            (archivePasscode.archivePasscode, .archivePasscode),
        ] where source == .unknown { throw SecretProblem.notASource(option) }
        try opening.check(with: [archive] + (other.map { [$0] } ?? []))
        let keys = Keys(opener: ArchiveOpener(opening, in: session), passcode: KeptSecret())
        let (outline, first) = try open(archive, keys, in: session)
        if let other {
            let (otherOutline, second) = try open(other, keys, in: session)
            opening.warnIfUseless([first, second], in: session)
            let shallow = try first.closed ?? second.closed
            if !first.takesPasscode, !second.takesPasscode { warnOfPasscode(session) }
            let progress = Progress("comparing items", in: session, reading: first.opened, 2)
            let report = try CompareBackups(first, comparesSecrets: shallow == nil)
                .run(with: .archive(second), progress.step)
            progress.finish()
            return try tell(report, outline, ("with", otherOutline.json(other)), shallow, in: session)
        }
        opening.warnIfUseless([first], in: session)
        if !first.takesPasscode { warnOfPasscode(session) }
        let shallow = try first.closed
        let store = try store(of: first, in: session)
        let items = try store.open(StoreOptions(passcodeOption, unlocking), in: session).items
        if shallow == nil { try items.open(.all) }
        let progress = Progress("comparing items", in: session, reading: first.opened, 2)
        let report = try CompareBackups(first, comparesSecrets: shallow == nil)
            .run(with: .keychain(items, form: items.form()), progress.step)
        progress.finish()
        return try tell(report, outline, ("keychain", .text(store.name)), shallow, in: session)
    }

    /// What the archive is compared with: what the user named, or what it was made from.
    private func store(of archive: ProvenArchive, in session: Session) throws -> any NamedStore {
        if let keychain { return try session.store(keychain) }
        guard let store = try StoreChoice.archived(archive.opened.source {}, in: session.world) else {
            throw UsageProblem.comparesOne
        }
        return store
    }

    /// Keys that were read or asked for, shared by both archives.
    private struct Keys {
        let opener: ArchiveOpener
        let passcode: KeptSecret
    }

    private func open(
        _ path: String, _ keys: Keys, in session: Session
    ) throws -> (ArchiveOutline, ProvenArchive) {
        let file = try opening.open(path, isOneOfTwo: true, in: session).file
        let proven: ProvenArchive
        do {
            proven = try keys.opener.prove(file, at: path)
        } catch ArchiveFailure.noMatchingIdentity
            where file.hasPassphrase && opening.passphrase == nil && session.world.terminal.isAttended
        {
            // The identities are for the other archive.
            proven = try ArchiveOpener(ArchiveOptions.parse([]), in: session).prove(file, at: path)
        }
        if proven.takesPasscode {
            try archivePasscode.open(proven, isNeeded: false, path: path, keptIn: keys.passcode, in: session)
        }
        return (try ArchiveOutline(file), proven)
    }

    private func warnOfPasscode(_ session: Session) {
        guard archivePasscode.archivePasscode != nil else { return }
        session.warn("no passcode opens these archives here; '\(OptionName.archivePasscode.spelling)' is not used")
    }

    /// - Parameter shallow: why secrets were not compared; nil if they were.
    private func tell(
        _ report: CompareReport, _ outline: ArchiveOutline, _ other: (String, JSONValue), _ shallow: String?,
        in session: Session
    ) throws -> ExitStatus {
        let lists: [(String, JSONValue?)] = [
            ("archive", outline.json(archive)), other, ("added", .list(report.added.map { .item($0) })),
            ("removed", .list(report.removed.map { .item($0) })), ("changed", .list(report.changed.map(\.json))),
            ("same", .number(report.same)), ("notCompared", .number(report.notCompared)),
            ("inNoArchive", .number(report.omitted)), ("unreadable", .number(report.damaged)),
        ]
        try session.result(.members(lists), report.lines)
        if report.damaged > 0 {
            session.warn("\(counted(report.damaged, "item")) of the keychain cannot be read")
        }
        for (path, missing) in [(archive, report.missing.first), (self.other ?? "", report.missing.second)]
        where missing > 0 {
            session.warn(
                "archive \(quoted(path)) is incomplete: \(counted(missing, "item")) could not be read when it was made, "
                    + "and may be shown as \(path == archive ? "added" : "removed")")
        }
        let isIncomplete = report.damaged + report.missing.first + report.missing.second > 0
        guard report.notCompared > 0 else { return isIncomplete ? .incomplete : .ok }
        session.warn(
            "\(counted(report.notCompared, "secret")) not compared: \(shallow ?? "no key opens them here")")
        return .incomplete
    }
}

extension ProvenArchive {
    fileprivate var takesPasscode: Bool { isFromThisDevice && stored?.hasPasscode == true }

    /// Why its secrets cannot all be compared; nil if they can.
    fileprivate var closed: String? {
        get throws {
            if try opensAllSecrets { return nil }
            guard stored != nil else { return "the given key opens only the metadata" }
            return isFromThisDevice
                ? "the passcode of an unencrypted archive was not given; give "
                    + "'\(OptionName.archivePasscode.spelling) tty'"
                : "an unencrypted archive opens only on the device that made it"
        }
    }
}
