package import KCAsking
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
package import KCLocalKeychains
internal import KCSecretService

/// The store that a command works on where no keychain is named: the default keychain, or the desktop keyring.
///
/// Decision 0010 says how it is chosen and remembered.
package enum StandardStore: Hashable, Sendable {
    case keychain(LocalKeychain)
    case desktop

    /// Looks what is used; asks nothing.
    ///
    /// Where nothing was chosen and there is no keychain, this is the desktop keyring, if one is running.
    ///
    /// - Throws: `LocalKeychainFailure`, `FileFailure`, `SecretServiceFailure.interrupted`.
    package init(in machine: Machine) throws {
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
    package init?(choosing given: String, in machine: Machine) throws {
        switch try StoreChoice.prefixed(given) {
        case let keyring as DesktopKeyring where keyring == .all: self = .desktop
        case .some: return nil
        case nil:
            let name = given.exact.contains("/") ? machine.absolute(given) : given
            self = .keychain(try LocalKeychain(name, in: machine))
        }
    }

    /// Remembers a choice.
    package static func remember(_ store: StandardStore, in machine: Machine) throws(LocalKeychainFailure) {
        try KeychainLists.change(in: machine.dataFolder) { lists throws(LocalKeychainFailure) in
            switch store {
            case .keychain(let local):
                lists.store = .keychain
                if try lists.standard(in: machine.dataFolder) != local { lists.defaultKeychain = local.name }
            case .desktop: lists.store = .desktop
            }
        }
    }

    /// True if the user has chosen a store.
    package static func isChosen(in machine: Machine) throws(LocalKeychainFailure) -> Bool {
        try KeychainLists.load(from: machine.dataFolder).store != nil
    }

    /// Why it is not clear that this store is what is to be backed up, and not the other one; nil if it is.
    ///
    /// - Throws: as `init`, and the errors of opening the default keychain.
    package func doubt(in machine: Machine) throws -> StoreDoubt? {
        let local = try LocalKeychain(nil, in: machine)
        guard try Path.exists(local.path) else { return nil }
        func hasItems() throws -> Bool { try local.naming { try local.open(in: machine).itemCount() > 0 } }
        switch self {
        case .keychain:
            let hasItems = try hasItems()
            if hasItems, try Self.isChosen(in: machine) { return nil }
            return try machine.desktopKeyringHasItems() == true ? (hasItems ? .bothHaveItems : .keychainIsEmpty) : nil
        case .desktop:
            // A keyring that is out of reach is not empty; opening it says why.
            return try machine.desktopKeyringHasItems() == false && hasItems() ? .desktopIsEmpty : nil
        }
    }
}
