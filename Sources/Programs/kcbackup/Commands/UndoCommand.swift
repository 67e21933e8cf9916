internal import ArgumentParser
internal import KCLocalKeychains
internal import KCReportText

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
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if list {
            let others: [(Bool, OptionName)] = [
                (dryRun, .dryRun), (yes, .yes), (noUndo, .noUndo), (unlocking.unlock, .unlock),
                (keychain.passcode != nil, .passcode),
            ]
            for (isGiven, other) in others where isGiven { throw UsageProblem.together(.list, other) }
            if state != nil { throw UsageProblem.undoOfItems(.list) }
        }
        let keyring = try Self.keyring(keychain.keychain, in: session)
        // The rows of a keychain are brought back sealed.
        if keychain.passcode != nil, keyring == nil { throw UsageProblem.needsDesktop(.passcode) }
        return try Self.run(
            keychain, keyring, unlocking, state: state, lists: list, isDryRun: dryRun, keepsState: !noUndo,
            isConfirmed: yes,
            in: session)
    }

    /// Returns the desktop keyring, if it is its state that is brought back.
    static func keyring(_ name: String?, in session: Session) throws -> DesktopKeyring? {
        guard let keyring = try session.desktopKeyring(name) else { return nil }
        if name == nil, try KeychainLists.load(from: session.world.dataFolder).store == nil {
            // A keychain whose file was lost has states too.
            let local = try LocalKeychain(nil, in: session.world)
            for states in try StateFolder.all(at: local, in: session.world.dataFolder) where try !states.list().isEmpty
            {
                return nil
            }
        }
        return keyring
    }

    /// Takes back the last change, or lists the states.
    ///
    /// - Parameters:
    ///   - keyring: the desktop keyring, if it is not a keychain that is meant.
    ///   - state: the name of a state; nil for the newest that differs from the present one.
    ///   - isConfirmed: true to ask nothing.
    static func run(
        _ keychain: KeychainOptions, _ keyring: DesktopKeyring?, _ unlocking: UnlockOptions, state: String?,
        lists: Bool, isDryRun: Bool, keepsState: Bool, isConfirmed: Bool, in session: Session
    ) throws -> ExitStatus {
        if let keyring {
            let states = DesktopStates(session)
            if lists { return try states.list(of: keyring) }
            return try states.undo(
                state, keyring, (unlocking, keychain.passcode), isDryRun: isDryRun, keepsState: keepsState,
                isConfirmed: isConfirmed)
        }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        let request = UndoRequest(
            keychain: keychain, state: state, isDryRun: isDryRun, keepsState: keepsState, isConfirmed: isConfirmed)
        return try lists ? request.list(in: session) : request.undo(in: session)
    }
}
