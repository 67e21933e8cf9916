internal import KCBackupArchive
internal import KCByteStreams
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
            let states = KeyringStates(client, session.stateSetting)
            return OpenStore(
                items: ServiceItemStore(client, keyring.scope, states: states), name: keyring.name,
                isEveryCollection: keyring.isAll)
        }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        let store = try open(in: session)
        let items = KeychainItemStore(store, states: session.states(of: store)) { needed in
            if let needed {
                try unlock(store, for: needed, in: session)
            } else {
                try session.world.unlocked.resume(store)
            }
        }
        return OpenStore(items: items, name: keychain, isEveryCollection: false)
    }
}

/// A store that is restored into, or in which a change is taken back, as the user named it.
struct NamedStore {
    let place: any RestorableStore
    /// The name, as results give it.
    let name: String
    /// The name as `--keychain` takes it in hints; nil for the default keychain.
    let option: String?
    /// The name for use in a sentence.
    let words: String
}

extension KeychainOptions {
    /// Finds the store in which the user takes back a change.
    ///
    /// - Throws: `UsageProblem.needsDesktop` for an option that a keychain does not have.
    func undoable(_ unlocking: UnlockOptions, in session: Session) throws -> NamedStore {
        if let keyring = try session.desktopKeyring(keychain), try !isLostKeychain(in: session) {
            return store(keyring, unlocking, in: session)
        }
        // The rows of a keychain are brought back sealed.
        if passcode != nil { throw UsageProblem.needsDesktop(.passcode) }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        return try store(LocalKeychain(keychain, in: session.world), in: session)
    }

    /// Finds the store that the user restores into: the named one, or else that from which the archive was made.
    ///
    /// - Parameter options: those that only one kind of store has, with whether they were given.
    /// - Throws: `UsageProblem` (`needsDesktop`, `notOfDesktop`); what `source` throws.
    func restorable(
        _ unlocking: UnlockOptions, from source: () throws -> ArchiveSource, refusing options: [(Bool, OptionName)],
        in session: Session
    ) throws -> NamedStore {
        let archived = try keychain == nil ? source() : nil
        let keyring = DesktopKeyring(keychain) ?? archived.flatMap(DesktopKeyring.init(archived:))
        for (isGiven, option) in options where isGiven {
            switch (option, keyring) {
            case (.replaceUnarchived, .some): throw UsageProblem.notOfDesktop(option)
            case (.unlock, nil), (.giveUpDeviceBinding, nil): throw UsageProblem.needsDesktop(option)
            default: break
            }
        }
        if let keyring { return store(keyring, unlocking, in: session) }
        let name = try keychain ?? archived.flatMap(ArchiveSource.keychainName)
        return try store(LocalKeychain(name, in: session.world), in: session)
    }

    private func store(_ keyring: DesktopKeyring, _ unlocking: UnlockOptions, in session: Session) -> NamedStore {
        session.subjects.keychain = keyring.name
        let place = RestorableKeyring(
            keyring.scope, making: keyring.making(unlocking, passcode: passcode, in: session), session.stateSetting
        ) {
            try keyring.connect(unlocking, passcode: passcode, mayBeMissing: true, in: session)
        }
        return NamedStore(place: place, name: keyring.name, option: keyring.name, words: keyring.words)
    }

    private func store(_ local: LocalKeychain, in session: Session) throws -> NamedStore {
        session.subjects.keychain = local.name
        let place = try RestorableKeychain(
            local, minimumCost: session.world.costs.lowestPasscode, session.stateSetting,
            access(to: local, in: session))
        let isDefault = try LocalKeychain(nil, in: session.world).name.exact == local.name.exact
        return NamedStore(
            place: place, name: local.name, option: isDefault ? keychain : local.name,
            words: "keychain \(quoted(local.name))")
    }

    /// True if nothing was named or chosen, and the file of a keychain was lost that has states.
    private func isLostKeychain(in session: Session) throws -> Bool {
        let folder = session.world.dataFolder
        guard keychain == nil, try KeychainLists.load(from: folder).store == nil else { return false }
        let local = try LocalKeychain(nil, in: session.world)
        return try StateFolder.all(at: local, in: folder).contains { try !$0.list().isEmpty }
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
