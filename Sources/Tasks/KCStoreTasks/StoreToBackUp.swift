package import KCAsking
internal import KCConsole
internal import KCItemStores
internal import KCLocalKeychains

/// An event about the store that is used where none is named.
package enum StandardStoreEvent: TaskEvent, Hashable, Sendable {
    /// There is no keychain, so the desktop keyring is backed up.
    case desktopForLack
    /// The user chose the store for all commands that name none.
    case chosen(StandardStore)
}

/// A choice between two stores that nobody made, and nobody can be asked for.
package struct StoreUndecided: Error, Hashable, Sendable {
    package let keychain: String
    package let doubt: StoreDoubt
}

extension TaskContext {
    /// Determines what is backed up where no keychain is named.
    ///
    /// If the default keychain and the desktop keyring both have items and nothing was chosen, or if what was chosen is
    /// empty and the other is not, a person is asked, and the answer is remembered.
    ///
    /// - Throws: `StoreUndecided`, as `StandardStore.doubt`, and what the answer throws.
    package func storeToBackUp() throws -> StandardStore {
        let store = try StandardStore(in: machine)
        guard let doubt = try store.doubt(in: machine) else {
            if case .desktop = store, try !StandardStore.isChosen(in: machine) {
                tell(StandardStoreEvent.desktopForLack)
            }
            return store
        }
        let local = try LocalKeychain(nil, in: machine)
        guard asking.isAttended else { throw StoreUndecided(keychain: local.name, doubt: doubt) }
        let chosen: StandardStore =
            switch try asking.storeToBackUp(keychain: local.name, doubt) {
            case .keychain: .keychain(local)
            case .desktop: .desktop
            }
        try StandardStore.remember(chosen, in: machine)
        tell(StandardStoreEvent.chosen(chosen))
        return chosen
    }

    /// Determines what to back up if the user may not have named anything.
    ///
    /// - Throws: as `StoreChoice.named`, and as `storeToBackUp`.
    package func storeToBackUp(_ given: String?) throws -> any NamedStore {
        let store = try given == nil ? storeToBackUp().store : StoreChoice.named(given, in: machine)
        if store.kind != .keychain { try store.requirePlace(in: machine) }
        return store
    }
}
