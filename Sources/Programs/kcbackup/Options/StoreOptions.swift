internal import ArgumentParser

/// The options of the commands of `item` for where the items are.
struct StoreOptions: ParsableArguments {
    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    /// Opens the store, as `KeychainOptions.store(_:in:)` does.
    func open(in session: Session) throws -> OpenStore { try keychain.store(unlocking, in: session) }
}

/// The options of a command that changes all items that match.
struct ChangeOptions: ParsableArguments {
    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the change.")
    var noUndo = false
}
