internal import KCItemStores
internal import ArgumentParser
internal import KCBackupEngine
internal import KCByteStreams
internal import KCForeignFormats
internal import KCItemSources
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// `kcbackup import`: adds the items of a file, of another program or of lines, to a keychain.
struct ImportCommand: Verb {
    static let mainOptions: [OptionName] = [.into, .dryRun, .from]

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import items from the file of another program, or from JSON lines.",
        discussion: """
            The format is recognized by the content of the file, not by its name. The file is read to its end and must \
            pass every check that its format allows before anything is written; then everything is written, or \
            nothing. A second import of the same file changes nothing. Items go to a keychain, never to the desktop \
            keyring.

            Notes, one-time passwords and other fields become items of their own, since they are secrets. What cannot \
            be kept in a keychain is counted. 'import.md' in the \
            documentation describes, for each program, how to get the file and what is lost; kcbackup-import(1) says \
            where it is.

            A file of items has one JSON object per line ('json.md'): all of them are imported, or none.

            Formats: \(KnownFormats.all.map(\.name).joined(separator: ", ")).

            EXAMPLES:
              kcbackup import logins.csv --dry-run
              kcbackup import logins.csv
              kcbackup import ~/.netrc --into scripts
              kcbackup import items.jsonl
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

    @Option(
        name: OptionName.into.name,
        help: ArgumentHelp("The keychain, as '--keychain' names it.", valueName: "name|path"),
        completion: KnownNames.keychains)
    var into: String?

    @OptionGroup
    var keychain: LocalKeychainOptions

    @Option(
        name: OptionName.onConflict.name,
        help: ArgumentHelp(
            "What wins where an item is there already: newer, keep, overwrite or fail.", valueName: "policy"))
    var onConflict: ConflictPolicy = .newer

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the import.")
    var noUndo = false

    @OptionGroup
    var style: StyleOptions

    /// The columns are those of the file.
    static func title(of option: OptionName) -> OptionTitle {
        option == .columns ? .keychain : option.title
    }

    func run(in session: Session) throws -> ExitStatus {
        if into != nil, keychain.keychain != nil { throw UsageProblem.together(.into, .keychain) }
        var target = keychain
        target.keychain = into ?? keychain.keychain
        if DesktopKeyring(target.keychain) != nil {
            throw UsageProblem(
                "'import' writes into keychains, and 'secret-service:' names the desktop keyring",
                hint: "'kcbackup create \(OptionName.keychain.spelling) file:FILE "
                    + "\(OptionName.output.spelling) FILE.kcb' and 'kcbackup restore FILE.kcb "
                    + "\(OptionName.keychain.spelling) secret-service:' take it there")
        }
        try opening.check(with: file, passcode: target.passcode)
        let table = try table()
        if target.passcode == .unknown { throw SecretProblem.notASource(.passcode) }
        let local = try LocalKeychain(target.keychain, in: session.world)
        // Check before asking the user in vain.
        let isThere = try Path.exists(local.path)
        if !isThere, !dryRun { _ = try target.open(in: session) }

        let reader = ForeignReader(file, opening, in: session)
        let reading = try reader.read(as: table)
        let text = ImportText(
            path: file, reading: reading, use: dryRun ? .dryRun : .importing, policy: onConflict,
            named: target.keychain, session: session)
        try text.tellContents()

        var decisions: [(Item, RestoreAction)] = []
        let items = reading.contents.items
        let importing = ImportItems(
            policy: onConflict, isDryRun: dryRun, requiresAll: reading.format is ItemLinesFormat)
        // Each item is visited once for the plan and once for writing.
        let progress = Progress("importing items", of: UInt64(items.count * (dryRun ? 1 : 2)), in: session)
        defer { progress.finish() }
        let observe = { (item: Item, action: RestoreAction) in
            if style.verbose { decisions.append((item, action)) }
        }
        let report: ImportReport
        if isThere {
            let store = try target.open(in: session)
            try target.passcodeOption.unlock(store, for: .of(Protection.unconstrained), in: session)
            if noUndo || dryRun {
                report = try importing.run(items, into: store, step: progress.step, observe: observe)
            } else {
                report = try session.states(of: store).keeping(before: .import, isKept: true) { keep in
                    try importing.run(items, into: store, keep: keep, step: progress.step, observe: observe)
                }
            }
        } else {
            session.warn("there is no keychain \(quoted(local.name)) yet; 'kcbackup keychain create' makes it")
            report = try importing.run(items, into: EmptyTarget(form: .plain), step: progress.step, observe: observe)
        }
        progress.finish()
        let told = Result { try text.tell(report, decisions, keychain: local.name) }
        if reading.contents.exposesSecrets, reading.remains, !dryRun {
            session.warn("\(quoted(file)) still holds the secrets in the clear; delete it when it is no longer needed")
        }
        try told.get()
        return report.failing.isEmpty && report.skipped.isEmpty && reading.contents.refused.isEmpty ? .ok : .incomplete
    }

    /// Returns the format for a table with the named columns.
    private func table() throws(UsageProblem) -> CSVFormat? {
        guard let columns else { return nil }
        if let from = opening.from, from != CSVFormat().name { throw .together(.from, .columns) }
        var named: [CSVRole: String] = [:]
        for pair in columns.exact.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.exact.split(separator: "=", maxSplits: 1)
            let role = CSVRole.chosen.first { $0.rawValue == parts.first }
            guard parts.count == 2, let role, named.updateValue(parts[1], forKey: role) == nil else {
                let roles = CSVRole.chosen.map(\.rawValue).joined(separator: ", ")
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
        return CSVFormat(columns: named)
    }
}
