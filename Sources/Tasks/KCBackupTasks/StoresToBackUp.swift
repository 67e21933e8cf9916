internal import KCAsking
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
internal import KCLocalKeychains
package import KCStoreTasks

/// A passcode that was given, where several keychains have one each: others would count it as a wrong one.
package struct PasscodeOfOne: Error, Hashable, Sendable {
    /// The keychains that have a passcode.
    package let keychains: [String]
}

extension BackupRequest {
    /// The demands that the request makes of a store.
    package var demands: [StoreDemand] { access.demands + (isUnencrypted ? [.unencrypted] : []) }

    /// The request for one of several stores; what opens keychains is for these alone.
    ///
    /// - Throws: as `requirePasscode`.
    package func of(_ name: String, on machine: Machine) throws -> BackupRequest {
        try requirePasscode(of: name, on: machine)
        var request = self
        request.stores = .named(name)
        if try StoreChoice.prefixed(name) != nil { request.access.key = .passcode(nil) }
        if HomeRoot(storeName: name) == nil { request.access.acceptMissing = [] }
        if DesktopKeyring(name) == nil { request.access.skipsLocked = access.skipsLocked && stores != .home }
        return request
    }

    /// Checks that a passcode that was given is not that of another keychain.
    ///
    /// - Throws: `PasscodeOfOne` if this is one of several keychains with a passcode.
    package func requirePasscode(of name: String, on machine: Machine) throws {
        guard isOfSeveral, let passcode = access.key.passcode, passcode != .terminal else { return }
        let asking = try machine.keychainsWithPasscode()
        if asking.count > 1, asking.contains(where: { $0.exact == name.exact }) {
            throw PasscodeOfOne(keychains: asking)
        }
    }
}

extension TaskContext {
    /// Determines what to back up to a folder: where nothing is named, what the folder is used for.
    ///
    /// - Throws: as `storeToBackUp(_:)`, and `CatalogueFailure`.
    package func storeToBackUp(
        _ given: String?, forFolder path: String, mayChange: Bool
    ) throws -> any NamedStore {
        if given == nil, !mayChange, let pin = try machine.catalogueIfAny(of: path)?.pin, !pin.isOfAll,
            pin.subjects.count == 1, let (series, identity) = pin.subjects.first,
            let store = try machine.store(identity, of: series)
        {
            return store
        }
        return try storeToBackUp(given)
    }
}

extension Machine {
    /// Finds the keychain or keyring that a folder is used for; nil if it is not one of the user's.
    fileprivate func store(_ identity: String, of series: ExactText) throws -> (any NamedStore)? {
        if let keyring = DesktopKeyring(identity) { return keyring }
        guard let known = KeychainSubject(identity) else { return nil }
        let standard = try LocalKeychain(nil, in: self)
        let names = try LocalKeychain.names(in: dataFolder)
        var keychains = try [standard] + names.map { try LocalKeychain($0, in: self) }
        // A copy of the file has the same ID: the one at its place comes first.
        if let place = known.place {
            keychains.insert(try LocalKeychain(place, in: self), at: 0)
        } else if let index = keychains.firstIndex(where: { ArchiveName.series(of: $0.stem).exact == series }) {
            keychains.insert(keychains[index], at: 0)
        }
        for local in keychains {
            do {
                if try local.id(in: self).exact == known.id.exact { return local }
            } catch is KeychainFailure {
                // A keychain that is missing or damaged; if it is meant, opening it again says why.
            }
        }
        return nil
    }
}
