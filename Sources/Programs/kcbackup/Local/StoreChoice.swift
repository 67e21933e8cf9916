internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCStoreTasks

extension StoreChoice {
    /// Returns the store that an archive was made from; nil if it was made from a file.
    ///
    /// - Throws: `Refusal` for a keychain that was named by its path.
    static func archived(_ source: ArchiveSource, in machine: Machine) throws -> (any NamedStore)? {
        if let keyring = DesktopKeyring(archived: source) { return keyring }
        if let root = HomeRoot(archived: source) { return NamedHome(root: root) }
        return try ArchiveSource.keychainName(source).map { try LocalKeychain($0, in: machine) }
    }

    /// Determines what to back up if the user may not have named anything.
    ///
    /// - Throws: as `named`, and as `StandardStore.toBackUp`.
    static func chosen(_ given: String?, in session: Session) throws -> any NamedStore {
        let subject =
            try given == nil
            ? StandardStore.toBackUp(in: session).store : named(given, in: session.machine)
        if subject.kind != .keychain { try subject.requirePlace(in: session.machine) }
        return subject
    }

    /// Determines what to back up to a folder: where nothing is named, what the folder is used for.
    ///
    /// - Throws: as `chosen(_:in:)`, and `CatalogueFailure`.
    static func chosen(_ given: String?, forFolder path: String, mayChange: Bool, in session: Session) throws
        -> any NamedStore
    {
        if given == nil, !mayChange, let pin = try session.machine.catalogueIfAny(of: path)?.pin, !pin.isOfAll,
            pin.subjects.count == 1, let (series, identity) = pin.subjects.first,
            let subject = try subject(identity, of: series, in: session)
        {
            return subject
        }
        return try chosen(given, in: session)
    }

    /// Finds the keychain or keyring that a folder is used for; nil if it is not one of the user's.
    private static func subject(
        _ identity: String, of series: ExactText, in session: Session
    ) throws -> (any NamedStore)? {
        if let keyring = DesktopKeyring(identity) { return keyring }
        guard let known = KeychainSubject(identity) else { return nil }
        let standard = try LocalKeychain(nil, in: session.machine)
        let names = try LocalKeychain.names(in: session.machine.dataFolder)
        var keychains = try [standard] + names.map { try LocalKeychain($0, in: session.machine) }
        // A copy of the file has the same ID: the one at its place comes first.
        if let place = known.place {
            keychains.insert(try LocalKeychain(place, in: session.machine), at: 0)
        } else if let index = keychains.firstIndex(where: { ArchiveName.series(of: $0.stem).exact == series }) {
            keychains.insert(keychains[index], at: 0)
        }
        for local in keychains {
            do {
                if try local.id(in: session.machine).exact == known.id.exact { return local }
            } catch is KeychainFailure {
                // A keychain that is missing or damaged; if it is meant, opening it again says why.
            }
        }
        return nil
    }
}
