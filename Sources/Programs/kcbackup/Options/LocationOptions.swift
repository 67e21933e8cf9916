internal import ArgumentParser
internal import KCItemStores

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
        var options = StoreOptions(keychain.passcodeOption, unlocking)
        options.keyFile = keyFile?.keyFile
        return try session.store(keychain.keychain).open(options, in: session)
    }

    /// Opens the store for changes, as `NamedStore.openForChange` does.
    ///
    /// - Returns: the store, and its name as `--keychain` takes it in hints; nil for the default one.
    func openForChange(in session: Session) throws -> (store: any ItemStore, option: String?) {
        let named = try session.store(keychain.keychain)
        let options = StoreOptions(keychain.passcodeOption, unlocking)
        return (try named.openForChange(options, in: session), named.option(given: keychain.keychain))
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
}

/// The options of a command that changes all items that match.
struct ChangeOptions: ParsableArguments {
    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the change.")
    var noUndo = false
}
