internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemStores
internal import KCLocalKeychains
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// A store that is restored into, or in which a change is taken back, as the user named it.
struct RestorePlace {
    let place: any RestorableStore
    let kind: StoreKind
    /// The name, as results give it.
    let name: String
    /// The name as `--keychain` takes it in hints; nil for the default keychain.
    let option: String?
    /// The name for use in a sentence.
    let words: String

    /// Finds the place of a store that the user named as `given`.
    ///
    /// - Throws: `StoreUnfit` for an option that is not for its kind.
    init(_ store: any NamedStore, given: String?, _ options: StoreOptions, in session: Session) throws {
        try store.begin(options, in: session)
        place = try store.restorable(options.access, noPasscode: options.noPasscode, in: session.context)
        (kind, name, words) = (store.kind, store.name, store.words)
        let isDefault = try LocalKeychain(nil, in: session.machine).name.exact == store.name.exact
        option = store.option(given: isDefault ? given : store.name)
    }
}

extension RestorePlace {
    /// Finds the store in which the user takes back a change.
    ///
    /// - Throws: `StoreUnfit` for an option that is not for its kind.
    init(undoing given: String?, _ options: StoreOptions, in session: Session) throws {
        var store = try session.store(given)
        if given == nil, store.kind != .keychain, try Self.isKeychainLost(in: session) {
            store = try LocalKeychain(nil, in: session.machine)
        }
        // The rows of a keychain are brought back sealed.
        if store.kind == .keychain, options.access.key.passcode != nil {
            throw UsageProblem.needsDesktop(.passcode)
        }
        try self.init(store, given: given, options, in: session)
    }

    /// Finds the store that the user restores into: the named one, or else that from which the archive was made.
    ///
    /// - Throws: `StoreUnfit` for an option that is not for its kind; what `source` throws.
    init(
        restoringInto given: String?, from source: () throws -> ArchiveSource, _ options: StoreOptions,
        in session: Session
    ) throws {
        let store =
            try given == nil
            ? StoreChoice.archived(source(), in: session.machine) ?? LocalKeychain(nil, in: session.machine)
            : StoreChoice.named(given, in: session.machine)
        if let local = store as? LocalKeychain, try !Path.exists(local.path) { try local.requireNoOther() }
        try self.init(store, given: given, options, in: session)
    }

    /// Checks that there can be what the user names to restore into, before anything is asked for: the folder of a keychain,
    /// the bus of the desktop keyring.
    ///
    /// - Throws: `FileFailure`, `LocalKeychainFailure`, `KeychainNameProblem`, `SecretServiceFailure`.
    static func require(_ given: String?, in session: Session) throws {
        guard let given else { return }
        switch try StoreChoice.named(given, in: session.machine) {
        case let local as LocalKeychain: try local.requireFolder()
        case let keyring as DesktopKeyring:
            session.subject.store = keyring.name
            _ = try session.machine.sessionBus()
        default: break
        }
    }

    /// True if nothing was chosen, and the file of a keychain was lost that has states.
    private static func isKeychainLost(in session: Session) throws -> Bool {
        let folder = session.machine.dataFolder
        guard try KeychainLists.load(from: folder).store == nil else { return false }
        let local = try LocalKeychain(nil, in: session.machine)
        return try StateFolder.all(at: local, in: folder).contains { try !$0.list().isEmpty }
    }
}

extension LocalKeychain {
    /// Checks that a keychain that is named by its path is in a folder; other keychains have one of kcbackup's own.
    func requireFolder() throws(FileFailure) {
        if isNamed { return }
        try Path.requireFolder(Path.split(path).folder, named: Path.split(name).folder)
    }
}
