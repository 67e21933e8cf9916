internal import ArgumentParser
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain default`.
struct KeychainDefaultCommand: Verb {
    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Show or choose what is used where no keychain is named.",
        discussion: """
            That is a keychain, or 'secret-service:', the desktop keyring. It is what 'create' backs up, and what 'item \
            add', 'item list', 'item find', 'item update' and 'undo' work on, without '--keychain'. Until one is chosen, it \
            is the keychain 'login', or the desktop keyring where there is no keychain.

            Commands that work on keychains alone, and 'import', use the default keychain, which \
            'security default-keychain' sets too.

            EXAMPLES:
              kcbackup keychain default
              kcbackup keychain default secret-service:
              kcbackup keychain default login
            """)

    @Argument(
        help: ArgumentHelp("What to use: a name, a path with a '/', or 'secret-service:'.", valueName: "name|path"),
        completion: KnownNames.keychainsAndKeyring)
    var store: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if let store {
            try choose(store, in: session)
            session.done = "\(quoted(store)) is the default now"
        }
        let isChosen = try KeychainLists.load(from: session.machine.dataFolder).store != nil
        let standard = try StandardStore(in: session.machine).store
        try session.result(
            ["default": .text(standard.name), "chosen": .flag(isChosen)], [displayed(standard.name) + "\n"])
        if !isChosen { session.note("not chosen: 'kcbackup keychain default NAME' chooses one") }
        return .ok
    }

    private func choose(_ given: String, in session: Session) throws {
        guard let store = try StandardStore(choosing: given, in: session.machine) else {
            throw UsageProblem.notAStandardStore
        }
        // A misspelled name would be remembered; the keychain that is the default anyway may be made later.
        if case .keychain(let local) = store,
            try Path.exists(local.path) || local != LocalKeychain(nil, in: session.machine)
        {
            _ = try session.open(local)
        }
        try StandardStore.remember(store, in: session.machine)
    }
}
