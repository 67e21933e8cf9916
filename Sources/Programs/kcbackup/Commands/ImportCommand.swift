internal import ArgumentParser
internal import KCAsking
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup import`: adds the items of a file, of another program or of lines, to a keychain or to the desktop keyring.
struct ImportCommand: Verb {
    static let mainOptions: [OptionName] = [.into, .dryRun, .check]

    static let otherOptions: [OptionName]? = [
        .from, .onConflict, .password, .keyFile, .passcode, .columns, .removeFromFile, .noUndo, .json,
    ]
    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import items from the file of another program, or from JSON lines.",
        discussion: """
            The format is recognized by the content of the file, not by its name. The file is read to its end and must \
            pass every check that its format allows before anything is written; then everything is written, or \
            nothing. A second import of the same file changes nothing. Items go to a keychain, the default one if none \
            is named, or with '--into secret-service:' to the desktop keyring. Nothing is ever removed there: what differs is \
            named and stays, and the exit code is 3, unless '--on-conflict' says what wins.

            Notes, one-time passwords and other fields become items of their own, since they are secrets. What cannot \
            be kept in a keychain is counted. 'import.md' in the \
            documentation describes, for each program, how to get the file and what is lost; kcbackup-import(1) says \
            where it is.

            A table at the end says how much of each kind is in the file, and what became of it. '--check' makes that \
            table of what is there already, names what is missing or differs, and writes nothing.

            With '--remove-from-file', the records of a .netrc file or a git credentials file of your home are taken out \
            of it, once the keychain is known to have their secrets; 'undo --keychain home:' puts them back.

            A file of items has one JSON object per line ('json.md'): all of them are imported, or none.

            Formats: \(ForeignKind.allCases.map(\.name).joined(separator: ", ")).

            EXAMPLES:
              kcbackup import logins.csv --dry-run
              kcbackup import logins.csv
              kcbackup import logins.csv --check
              kcbackup import ~/.netrc --into scripts
              kcbackup import ~/.git-credentials --remove-from-file
              kcbackup import items.jsonl
              kcbackup import login.keyring --into secret-service:Login
            """)

    @Argument(help: "The file, or folder; '-' is standard input.", completion: .file())
    var file: String

    @OptionGroup
    var opening: ForeignOptions

    @Option(
        name: OptionName.columns.name,
        help: ArgumentHelp(
            "The names of a CSV file's columns, as in 'title=Site,password=Code'.", valueName: "role=name,…"))
    var columns: String?

    @OptionGroup
    var target: ImportTargetOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @Option(
        name: OptionName.onConflict.name,
        help: ArgumentHelp(
            "What wins where an item is there already: newer, keep, overwrite or fail. (default: newer; keep in the desktop keyring)",
            valueName: "policy"))
    var onConflict: ConflictPolicy?

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @Flag(name: OptionName.check.name, help: "Compare the file with what is there, and write nothing.")
    var check = false

    @Flag(
        name: OptionName.removeFromFile.name,
        help: "Take what was imported out of the file: of .netrc files and git credentials files of your home.")
    var removeFromFile = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the import.")
    var noUndo = false

    @OptionGroup
    var style: StyleOptions

    /// The columns are those of the file.
    static func title(of option: OptionName) -> OptionTitle {
        option == .columns ? .keychain : option.title
    }

    func run(in session: Session) throws -> ExitStatus {
        try opening.access.check(with: file, passcode: target.passcode)
        let columns = try chosenColumns()
        try requireOne()
        let options = StoreOptions(target.passcode, unlocking)
        let keyring = DesktopKeyring(target.keychain)
        let kind: StoreKind = keyring == nil ? .keychain : .keyring
        try kind.check(options.demands + (removeFromFile ? [.removesFromFile] : []))
        if keyring != nil, Path.isFolder(session.machine.resolve(file)) {
            throw UsageProblem(
                "an import into the desktop keyring takes one file, and \(quoted(file)) is a folder",
                hint: "import the files in it one by one")
        }
        let store: any NamedStore = try keyring ?? LocalKeychain(target.keychain, in: session.machine)
        let isMissing = try (store as? LocalKeychain).map { try !Path.exists($0.path) } ?? false
        // Check before asking the user in vain.
        if isMissing, !dryRun || check { _ = try target.open(in: session) }
        let keyringPlace = try keyring.map { try RestorePlace($0, given: $0.name, options, in: session) }
        session.subject.file = file
        let removable = try removeFromFile ? RemovableFile(file, in: session) : nil
        let reading = try read(columns, in: session)
        // Where the desktop keyring is what commands use, a keychain has to be named to undo its changes.
        let lists = try KeychainLists.load(from: session.machine.dataFolder)
        let isElsewhere = target.keychain == nil && lists.store == .desktop
        let place =
            try keyringPlace
            ?? RestorePlace(store, given: isElsewhere ? store.name : target.keychain, options, in: session)
        if isElsewhere, !isMissing { warnOfPlace(store.name, in: session) }
        return try FileImport(
            path: file, reading: reading, target: place, given: onConflict, isDryRun: dryRun, isCheck: check,
            keepsState: !noUndo,
            removable: removable, session: session
        ).run()
    }

    /// Refuses options that say what is written, if nothing is.
    private func requireOne() throws(UsageProblem) {
        if !check { return }
        if dryRun { throw .together(.check, .dryRun) }
        if onConflict != nil { throw .together(.check, .onConflict) }
        if removeFromFile { throw .together(.check, .removeFromFile) }
        if noUndo { throw .together(.check, .noUndo) }
    }

    private func read(_ columns: [ChosenColumn: String], in session: Session) throws -> ForeignReading {
        do {
            var reader = ForeignReader(file, opening.access, in: session.context)
            reader.columns = columns
            reader.wantsRecords = removeFromFile
            return try reader.read()
        } catch ForeignFailure.unknownFormat where Path.isFolder(session.machine.resolve(file)) {
            throw UsageProblem(
                "\(quoted(file)) is a folder in which 'import' finds nothing that it can read",
                hint: "name one file, as in 'kcbackup import \(shellWord(file))/FILE'",
                "'kcbackup import --help' lists the formats")
        } catch ForeignFailure.notOfFormat(let title, nil) where Path.isFolder(session.machine.resolve(file)) {
            throw UsageProblem(
                "\(quoted(file)) is a folder, and not \(withArticle(title))",
                hint: "to import one file in it, name the file: 'kcbackup import \(shellWord(file))/FILE'")
        } catch {
            guard removeFromFile else { throw error }
            throw try FileRemoval.explain(error, of: file, in: session)
        }
    }

    /// Says where the items go, if the user chose the desktop keyring for commands that name no keychain.
    private func warnOfPlace(_ keychain: String, in session: Session) {
        session.warn(
            "the items \(dryRun ? "would go" : "go") to keychain \(quoted(keychain)), since an import goes into a "
                + "keychain where no store is named, and not into the desktop keyring, which is the default")
        if session.style.isQuiet { return }
        session.message(
            "kcbackup: hint: '\(OptionName.into.spelling) \(DesktopKeyring.all.name)' takes them there; "
                + "'\(OptionName.into.spelling) \(shellWord(keychain))' says that the keychain is meant\n")
    }

    /// The names of the columns of a table; none if the user names none.
    private func chosenColumns() throws(UsageProblem) -> [ChosenColumn: String] {
        guard let columns else { return [:] }
        if let from = opening.from, from != ForeignKind.csv.name { throw .together(.from, .columns) }
        var named: [ChosenColumn: String] = [:]
        for pair in columns.exact.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.exact.split(separator: "=", maxSplits: 1)
            let role = ChosenColumn.allCases.first { $0.rawValue == parts.first }
            guard parts.count == 2, let role, named.updateValue(parts[1], forKey: role) == nil else {
                let roles = ChosenColumn.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed(.columns, form: "ROLE=NAME with commas between, where ROLE is one of \(roles)")
            }
        }
        guard named[.password] != nil else {
            throw UsageProblem(
                "'\(OptionName.columns.spelling)' names no password", hint: "add 'password=NAME' to the list")
        }
        guard Set(named.values.map { $0.lowercased() }).count == named.count else {
            throw .malformed(.columns, form: "a list of different columns")
        }
        return named
    }
}
