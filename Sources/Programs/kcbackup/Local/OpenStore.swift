internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService

/// A store of items that the user meant, opened.
struct OpenStore {
    let items: any ItemStore
    /// The store as `--keychain` names it; nil for the default one.
    let name: String?
    /// True for all collections of the desktop keyring, of which the user could have named one.
    let isEveryCollection: Bool
}

extension KeychainOptions {
    /// Opens the store that the user named, or the one that is used where none is named.
    ///
    /// - Throws: `UsageProblem.needsDesktop` for an option that a keychain does not have; the errors of opening the store.
    func store(_ unlocking: UnlockOptions, in session: Session) throws -> OpenStore {
        if let keyring = try session.desktopKeyring(keychain) {
            let client = try keyring.connect(unlocking, passcode: passcode, in: session)
            let states = KeyringStates(client: client, session: session)
            return OpenStore(
                items: ServiceItemStore(client, keyring.scope, states: states), name: keyring.name,
                isEveryCollection: keyring.isAll)
        }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        let store = try open(in: session)
        let items = KeychainItemStore(store, states: KeychainStates(keychain: store, session: session)) { needed in
            if let needed {
                try unlock(store, for: needed, in: session)
            } else {
                try session.world.unlocked.resume(store)
            }
        }
        return OpenStore(items: items, name: keychain, isEveryCollection: false)
    }
}

/// The states of an open keychain.
private struct KeychainStates: StateKeeping {
    let keychain: Keychain
    let session: Session

    func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        if !isKept { return try change {} }
        return try StateKeeper(keychain, before: command, in: session).keeping(change)
    }
}

/// The states of the desktop keyring.
private struct KeyringStates: StateKeeping {
    let client: SecretServiceClient
    let session: Session

    func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        try DesktopStates(session).change(client, before: command, keepsState: isKept, change)
    }
}

extension Session {
    /// Says what a store has and could not show.
    func tell(_ shortfall: Shortfall) -> ExitStatus {
        let status = tell(unread: shortfall)
        if shortfall.damaged == 0 { return status }
        warn("\(counted(shortfall.damaged, "item")) cannot be read: the keychain is damaged")
        return .incomplete
    }

    /// Says what of the desktop keyring could not be read.
    func tell(unread shortfall: Shortfall) -> ExitStatus {
        if shortfall.ofSession > 0 {
            note("left out: \(counted(shortfall.ofSession, "item")) that end with the session of the desktop")
        }
        for entry in shortfall.unreadable { warn(entry.words(.ofList)) }
        return shortfall.unreadable.isEmpty ? .ok : .incomplete
    }
}
