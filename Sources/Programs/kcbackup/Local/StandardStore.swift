internal import KCConsole
internal import KCItemStores
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension StandardStore {
    /// Determines what is backed up where no keychain is named.
    ///
    /// If the default keychain and the desktop keyring both have items and nothing was chosen, or if what was chosen is
    /// empty and the other is not, a user at a terminal is asked, and the answer is remembered.
    ///
    /// - Throws: `UsageProblem.twoStores` without a terminal; as `doubt`.
    static func toBackUp(in session: Session) throws -> StandardStore {
        let machine = session.machine
        let store = try StandardStore(in: machine)
        guard let doubt = try store.doubt(in: machine) else {
            if case .desktop = store, try !isChosen(in: machine) {
                session.note(
                    "there is no kcbackup keychain here: this backs up the desktop keyring "
                        + "(\(OptionName.keychain.spelling) \(DesktopKeyring.all.name))")
            }
            return store
        }
        let local = try LocalKeychain(nil, in: machine)
        guard session.world.terminal.isAttended else { throw UsageProblem.twoStores(keychain: local.name, doubt) }
        session.message(doubt.words(keychain: local.name) + "\n")
        let chosen = try choice(of: local, in: session)
        try remember(chosen, in: machine)
        let words = storeWords(chosen.store.name)
        session.note(
            "from now on, commands without '\(OptionName.keychain.spelling)' use \(words): 'kcbackup keychain default' shows "
                + "and changes it")
        return chosen
    }

    /// Asks until the answer is one of the two, or empty.
    ///
    /// - Throws: `Refusal.declined`, `TerminalFailure`.
    private static func choice(of local: LocalKeychain, in session: Session) throws -> StandardStore {
        while true {
            let answer = try session.world.terminal.readAnswer(
                "Back up the desktop keyring (d) or keychain \(quoted(local.name)) (k)? ")
            switch answer.lowercased() {
            case "d", "desktop": return .desktop
            case "k", "keychain": return .keychain(local)
            case "": throw Refusal.declined
            default: session.message("type d or k, or nothing to stop\n")
            }
        }
    }
}

extension StandardStore.Doubt {
    func words(keychain: String) -> String {
        switch self {
        case .bothHaveItems: "keychain \(quoted(keychain)) and the desktop keyring both have items"
        case .keychainIsEmpty: "keychain \(quoted(keychain)) is empty, and the desktop keyring has items"
        case .desktopIsEmpty: "the desktop keyring is empty, and keychain \(quoted(keychain)) has items"
        }
    }
}

extension Session {
    /// The store that is named, or the one that is used where none is.
    ///
    /// - Throws: as `StandardStore.init` and `StoreChoice.named`.
    func store(_ given: String?) throws -> any NamedStore {
        guard let given else { return try StandardStore(in: machine).store }
        return try StoreChoice.named(given, in: machine)
    }
}
