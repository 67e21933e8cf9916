internal import ArgumentParser
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCConsole
internal import KCItemStores
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup diff`: shows what changed between two archives or files, or since one was made; never shows secrets.
struct DiffCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .passphrase, .identity]

    static let otherOptions: [OptionName]? = [
        .from, .archivePasscode, .passcode, .password, .keyFile, .unlock, .json, .verbose,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what changed between two archives or files, or between one and a keychain.",
        discussion: """
            Lists the items that were added, removed and changed: which attributes, and whether the secret differs, \
            but never a secret. Items are matched by UUID, and without one by unique key, so a renamed item is a \
            change. Items that no archive contains by rule are left out.

            A key that opens only the metadata is enough; then only the sizes of secrets are compared, the output says \
            so, and the exit code is 3. Otherwise it is 0, even if the two differ.

            A single archive is compared with the keychain that it was made from, unless '--keychain' names another.

            Files of other programs that 'kcbackup import' reads can be compared too, such as a desktop keyring before \
            and after an upgrade. Two keyrings are compared as versions of the same one, ignoring their dates.

            Keys are tried for both archives. If a passphrase is needed and none is given, it is asked for.

            EXAMPLES:
              kcbackup diff laptop.kcb
              kcbackup diff monday.kcb tuesday.kcb
              kcbackup diff monday.kcb tuesday.kcb -i inspect-key.txt
              kcbackup diff laptop.kcb --keychain login --passphrase tty
              kcbackup diff login.keyring v1/login.keyring
              kcbackup diff login.keyring --keychain secret-service:
            """)

    @Argument(
        help: ArgumentHelp(
            "The earlier archive, or file; '-' is an archive from standard input.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archive: String

    @Argument(
        help: ArgumentHelp("The later archive, or file.", valueName: "other"), completion: .file(extensions: ["kcb"]))
    var other: String?

    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "Compare with this keychain, or 'secret-service:', as it is now. (default: the one it was made from)",
            valueName: "name|path"),
        completion: KnownNames.stores)
    var keychain: String?

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    var passcodeOption: PasscodeOption

    @OptionGroup
    var foreign: ForeignOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        try check()
        let sides = ComparedSides(opening, archivePasscode, foreign.access, in: session)
        let first = try sides.open(firstPath)
        let second = try secondPath.map { try sides.open($0) }
        let archives = [first, second].compactMap { $0?.archive }
        try requireNeeded(first, second)
        if !archives.isEmpty { opening.warnIfUseless(archives, in: session) }
        if !archives.contains(where: \.takesPasscode), archivePasscode.archivePasscode != nil {
            session.warn("no passcode opens these archives here; '\(OptionName.archivePasscode.spelling)' is not used")
        }
        let bound = first.bound + (second?.bound ?? 0)
        if bound > 0 {
            session.warn(
                "not compared: \(counted(bound, "item")) that the file binds to a device: a file cannot prove which one"
            )
        }
        let status = try compare(first, second, in: session)
        return bound > 0 && status == .ok ? .incomplete : status
    }

    // As in '--keychain', what has the prefix is a file, and not on a remote.
    private var firstPath: String { FileOfItems.path(archive) ?? archive }
    private var secondPath: String? { other.map { FileOfItems.path($0) ?? $0 } }

    /// True if the store is a file.
    private var isStoreFile: Bool { keychain.flatMap(FileOfItems.path) != nil }

    /// Refuses options for files that nothing needs of what is compared.
    private func requireNeeded(_ first: ComparedSide, _ second: ComparedSide?) throws(UsageProblem) {
        if first.archive != nil, second.map({ $0.archive != nil }) ?? true, let option = foreign.firstGiven {
            guard isStoreFile else { throw .needsFile(option) }
            if passcodeOption.passcode != nil, ![.keyFile, .withoutSandbox].contains(option) {
                throw .together(.passcode, option)
            }
        }
        let path = first.archive == nil ? firstPath : secondPath ?? firstPath
        let given: [(Bool, FileAccess.Part)] = [
            (foreign.password != nil, .password(.password)), (foreign.keyFile != nil, .keyFile),
        ]
        for (isGiven, part) in given where isGiven && first.leaves(part) {
            if let second {
                if second.leaves(part) { throw .opensNothing(part.option, path: path) }
            } else if first.archive == nil, !isStoreFile || part != .keyFile {
                throw .opensNothing(part.option, path: path)
            }
        }
    }

    private func compare(
        _ first: ComparedSide, _ second: ComparedSide?, in session: Session
    ) throws -> ExitStatus {
        let shallow = try first.archive?.closed ?? second?.archive?.closed
        guard let second else { return try compareWithStore(first, shallow, in: session) }
        return try compare(
            first, with: second.second(comparedWith: first), second.secondMembers(secondPath ?? ""), shallow,
            in: session)
    }

    /// Refuses contradictory options, before anything is read.
    private func check() throws {
        if other != nil, keychain != nil { throw UsageProblem.comparesOne }
        if passcodeOption.passcode != nil, other != nil { throw UsageProblem.needs(.passcode, .keychain) }
        if unlocking.unlock, other != nil { throw UsageProblem.needsDesktop(.unlock) }
        try opening.check(with: [firstPath] + (secondPath.map { [$0] } ?? []))
    }

    private func compareWithStore(
        _ first: ComparedSide, _ shallow: String?, in session: Session
    ) throws -> ExitStatus {
        let store = try store(comparedWith: first, in: session)
        let items = try store.open(storeOptions(for: store.kind, comparedWith: first), in: session).items
        if shallow == nil { try items.open(.all) }
        return try compare(
            first, with: .keychain(items, form: items.form() ?? first.form), [("keychain", .text(store.name))], shallow,
            in: session)
    }

    /// The options for the store; those of files that an archive does not need are for a file.
    private func storeOptions(for kind: StoreKind, comparedWith first: ComparedSide) -> StoreOptions {
        let isOfFile = kind == .file
        var options = StoreOptions(
            passcodeOption.passcode, unlocking, keyFile: isOfFile ? foreign.keyFile : nil,
            withoutSandbox: isOfFile && foreign.withoutSandbox)
        if isOfFile, first.archive != nil, foreign.password != nil || foreign.from != nil {
            options.access.file = foreign.access
        } else if isOfFile, !first.leaves(.keyFile) {
            options.use = .comparing
        }
        return options
    }

    /// The store that the user named, or from which the archive was made.
    private func store(comparedWith first: ComparedSide, in session: Session) throws -> any NamedStore {
        if let keychain { return try session.store(keychain) }
        guard let archive = first.archive,
            let store = try StoreChoice.archived(archive.opened.source {}, in: session.machine)
        else { throw UsageProblem.comparesOne }
        return store
    }

    private func compare(
        _ first: ComparedSide, with second: CompareBackups.Other, _ members: [(String, JSONValue?)], _ shallow: String?,
        in session: Session
    ) throws -> ExitStatus {
        let progress =
            if let archive = first.archive {
                Progress("comparing items", in: session, reading: archive.opened, 2)
            } else {
                Progress("comparing items", of: nil, in: session)
            }
        let report = try CompareBackups(first.first, comparesSecrets: shallow == nil).run(with: second, progress.step)
        progress.finish()
        return try tell(report, first, members, shallow, in: session)
    }

    /// - Parameter shallow: why secrets were not compared; nil if they were.
    private func tell(
        _ report: CompareReport, _ first: ComparedSide, _ other: [(String, JSONValue?)], _ shallow: String?,
        in session: Session
    ) throws -> ExitStatus {
        let lists: [(String, JSONValue?)] = [
            ("added", .list(report.added.map { .item($0) })),
            ("removed", .list(report.removed.map { .item($0) })), ("changed", .list(report.changed.map(\.json))),
            ("same", .number(report.same)), ("notCompared", .number(report.notCompared)),
            ("inNoArchive", .number(report.omitted)), ("unreadable", .number(report.damaged)),
        ]
        try session.result(.members(first.firstMembers(firstPath) + other + lists), session.prose(report.lines))
        if report.damaged > 0 {
            session.warn("\(counted(report.damaged, "item")) of the \(otherWord) cannot be read")
        }
        for (path, missing) in [(firstPath, report.missing.first), (secondPath ?? "", report.missing.second)]
        where missing > 0 {
            let lacking = "\(counted(missing, "item")) \(missing == 1 ? "was" : "were") left out, or not readable, when"
            session.warn(
                path == firstPath && first.archive == nil
                    ? "\(counted(missing, "item")) of \(quoted(path)) cannot be read, and may be shown as added"
                    : "archive \(quoted(path)) is incomplete: \(lacking) it was made, and may be shown as "
                        + (path == firstPath ? "added" : "removed"))
        }
        let isIncomplete = report.damaged + report.missing.first + report.missing.second > 0
        guard report.notCompared > 0 else { return isIncomplete ? .incomplete : .ok }
        session.warn(
            "\(counted(report.notCompared, "secret")) not compared: \(shallow ?? "no key opens them here")")
        return .incomplete
    }

    /// The word for the second side in messages.
    private var otherWord: String { other == nil ? "keychain" : "other file" }
}
