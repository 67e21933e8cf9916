internal import KCByteStreams
internal import KCConsole
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks

/// What a command works on where no keychain is named: the default keychain, or the desktop keyring.
///
/// Decision 0010 says how it is chosen and remembered.
enum StandardStore {
    case keychain(LocalKeychain)
    case desktop

    /// Looks what is used; asks nothing.
    ///
    /// Where nothing was chosen and there is no keychain, this is the desktop keyring, if one is running.
    ///
    /// - Throws: `LocalKeychainFailure`, `FileFailure`, `SecretServiceFailure.interrupted`.
    init(in machine: Machine) throws {
        let lists = try KeychainLists.load(from: machine.dataFolder)
        let local = try LocalKeychain(nil, in: machine)
        switch lists.store {
        case .keychain: self = .keychain(local)
        case .desktop: self = .desktop
        case nil:
            let hasKeychains = try Path.exists(local.path) || !LocalKeychain.names(in: machine.dataFolder).isEmpty
            self = try !hasKeychains && machine.desktopKeyring() == .running ? .desktop : .keychain(local)
        }
    }

    /// The store that the user names; nil if it is none that can be used where no keychain is named.
    ///
    /// - Throws: `LocalKeychainFailure`.
    init?(choosing given: String, in session: Session) throws {
        if DesktopKeyring(given) == .all {
            self = .desktop
            return
        }
        if DesktopKeyring(given) != nil || FileOfItems.path(given) != nil || HomeRoot(storeName: given) != nil {
            return nil
        }
        let named = given.exact.contains("/") ? session.machine.absolute(given) : given
        self = .keychain(try LocalKeychain(named, in: session.machine))
    }

    /// The store, as if it were named.
    var store: any NamedStore {
        switch self {
        case .keychain(let local): local
        case .desktop: DesktopKeyring.all
        }
    }

    /// Remembers a choice.
    static func remember(_ store: StandardStore, in machine: Machine) throws(LocalKeychainFailure) {
        try KeychainLists.change(in: machine.dataFolder) { lists throws(LocalKeychainFailure) in
            switch store {
            case .keychain(let local):
                lists.store = .keychain
                if try lists.standard(in: machine.dataFolder) != local { lists.defaultKeychain = local.name }
            case .desktop: lists.store = .desktop
            }
        }
    }
}

extension StandardStore {
    /// Determines what is backed up where no keychain is named.
    ///
    /// If the default keychain and the desktop keyring both have items and nothing was chosen, or if what was chosen is
    /// empty and the other is not, a user at a terminal is asked, and the answer is remembered.
    ///
    /// - Throws: `UsageProblem.twoStores` without a terminal; as `init`, and the errors of opening the keychain.
    static func toBackUp(in session: Session) throws -> StandardStore {
        let machine = session.machine
        let store = try StandardStore(in: machine)
        let local = try LocalKeychain(nil, in: machine)
        guard let doubt = try doubt(about: store, local, in: session) else {
            if case .desktop = store, try KeychainLists.load(from: machine.dataFolder).store == nil {
                session.note(
                    "there is no kcbackup keychain here: this backs up the desktop keyring "
                        + "(\(OptionName.keychain.spelling) \(DesktopKeyring.all.name))")
            }
            return store
        }
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

    /// Why it is not clear which store is meant.
    enum Doubt: Hashable, Sendable, CaseIterable {
        /// Both have items, and nothing was chosen.
        case bothHaveItems
        case keychainIsEmpty
        case desktopIsEmpty

        func words(keychain: String) -> String {
            switch self {
            case .bothHaveItems: "keychain \(quoted(keychain)) and the desktop keyring both have items"
            case .keychainIsEmpty: "keychain \(quoted(keychain)) is empty, and the desktop keyring has items"
            case .desktopIsEmpty: "the desktop keyring is empty, and keychain \(quoted(keychain)) has items"
            }
        }
    }

    private static func doubt(
        about store: StandardStore, _ local: LocalKeychain, in session: Session
    ) throws -> Doubt? {
        guard try Path.exists(local.path) else { return nil }
        func hasItems() throws -> Bool {
            try local.naming { try local.open(in: session.machine).itemCount() > 0 }
        }
        let desktopHasItems = session.machine.desktopKeyringHasItems
        switch store {
        case .keychain:
            let hasItems = try hasItems()
            let isChosen = try KeychainLists.load(from: session.machine.dataFolder).store != nil
            if hasItems, isChosen { return nil }
            return try desktopHasItems() == true ? (hasItems ? .bothHaveItems : .keychainIsEmpty) : nil
        case .desktop:
            // One that is out of reach is not empty; opening it says why.
            return try desktopHasItems() == false && hasItems() ? .desktopIsEmpty : nil
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
