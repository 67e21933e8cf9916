internal import ArgumentParser
internal import KCItemStores
internal import KCStoreTasks
internal import KCTerminal

/// The options of the commands of `item` for where the items are.
struct LocationOptions: ParsableArguments {
    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    /// Opens the store for reading, as `NamedStore.open` does.
    ///
    /// - Parameter keyFile: a key file of another program's file.
    func open(_ keyFile: FileKeyOption? = nil, in session: Session) throws -> OpenStore {
        let options = StoreOptions(keychain.passcode, unlocking, keyFile)
        return try session.store(keychain.keychain).open(options, in: session)
    }

    /// Opens the store for changes, as `NamedStore.openForChange` does.
    ///
    /// - Returns: the store, and how it is named in messages.
    func openForChange(in session: Session) throws -> (store: any ItemStore, place: ChangedPlace) {
        let named = try session.store(keychain.keychain)
        let options = StoreOptions(keychain.passcode, unlocking)
        return (try named.openForChange(options, in: session), ChangedPlace(named, given: keychain.keychain))
    }
}

/// How messages name a store whose items are changed.
struct ChangedPlace {
    /// The name as `--keychain` takes it in hints; nil for the default one.
    let option: String?
    /// The store for use in a sentence, if the user named none; nil otherwise.
    private let unnamed: String?

    /// - Parameter given: what the user named.
    init(_ store: any NamedStore, given: String?) {
        option = store.option(given: given)
        unnamed = given == nil ? store.words : nil
    }

    /// The operation on items, such as "added", and its place, unless the user named that.
    func deed(_ participle: String, _ preposition: String) -> String {
        unnamed.map { "\(participle) \(preposition) \($0)" } ?? participle
    }
}

/// The key file of another program's file that takes the place of a keychain; its password is given as a passcode.
struct FileKeyOption: ParsableArguments {
    @Option(
        name: OptionName.keyFile.name,
        help: ArgumentHelp(
            "A key file that opens another program's file, with its password or instead of it.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @OptionGroup
    var sandbox: SandboxOption

    /// The first option that was given.
    var firstGiven: OptionName? { keyFile != nil ? .keyFile : sandbox.withoutSandbox ? .withoutSandbox : nil }
}

/// Whether another program's file is read in a sandbox.
struct SandboxOption: ParsableArguments {
    @Flag(
        name: OptionName.withoutSandbox.name,
        help: "Read another program's file without a sandbox.")
    var withoutSandbox = false
}

/// The options of a command that changes all items that match.
struct ChangeOptions: ParsableArguments {
    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the change.")
    var noUndo = false
}
