internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCReportText
internal import KCTerminal

/// `kcbackup undo`: takes back the last change of a keychain or of the desktop keyring.
struct UndoCommand: Verb {
    static let mainOptions: [OptionName] = [.list, .dryRun, .keychain]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back the last restore, import or change of items.",
        discussion: """
            Each command that changes items keeps the state before it: restore, import, item add, item \
            update, item delete, and undo itself, so that undoing twice changes nothing. Items that were added or \
            changed since are listed, and you are asked first.

            With a state that '--list' shows, everything after it is taken back. A keychain file that was damaged is \
            replaced by its newest state, after a question.

            EXAMPLES:
              kcbackup undo
              kcbackup undo --dry-run -v
              kcbackup undo --list
              kcbackup undo --keychain secret-service:
            """)

    @Argument(help: "A state that '--list' shows; by default the newest.")
    var state: String?

    @Flag(name: OptionName.list.name, help: "List the states that can be brought back.")
    var list = false

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @Flag(
        name: OptionName.yes.name,
        help: "Do not ask before items are removed or set back, or a damaged file is replaced.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the present state.")
    var noUndo = false

    @OptionGroup
    var store: StoreNameOption

    // Not `PasscodeOption`, and so not `KeychainOptions`: a keychain needs no passcode here.
    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the password of the desktop keyring comes from.", valueName: "source"))
    var passcode: SecretSource?

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if list {
            let others: [(Bool, OptionName)] = [
                (dryRun, .dryRun), (yes, .yes), (noUndo, .noUndo), (unlocking.unlock, .unlock),
                (passcode != nil, .passcode),
            ]
            for (isGiven, other) in others where isGiven { throw UsageProblem.together(.list, other) }
            if state != nil { throw UsageProblem.undoOfItems }
        }
        let request = try UndoRequest(
            store: RestorePlace(undoing: store.keychain, StoreOptions(passcode, unlocking), in: session),
            state: state, isDryRun: dryRun, keepsState: !noUndo,
            isConfirmed: yes)
        return try list ? request.list(in: session) : request.undo(in: session)
    }
}
