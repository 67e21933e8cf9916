internal import ArgumentParser
internal import KCLocalKeychains
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain`: commands for keychains.
struct KeychainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychain",
        abstract: "Make, list, describe, lock, unlock and delete keychains, and set their passcodes.",
        subcommands: [
            KeychainCreateCommand.self, KeychainListCommand.self, KeychainInfoCommand.self, KeychainDefaultCommand.self,
            KeychainSetPasscodeCommand.self, KeychainLockCommand.self, KeychainUnlockCommand.self,
            KeychainSetSettingsCommand.self, KeychainEscrowCommand.self, KeychainTokenCommand.self,
            KeychainDeleteCommand.self,
        ])
}

/// The keychain of a keychain command: either an argument, or the option that all commands have.
struct KeychainOperand: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The keychain: a name, or a path with a '/'. (default: login, unless 'keychain default' chose another)",
            valueName: "name|path"),
        completion: KnownNames.keychains)
    var name: String?

    @Option(
        name: OptionName.keychain.name, help: ArgumentHelp("The same as an option.", valueName: "name|path"),
        completion: KnownNames.keychains)
    var keychain: String?

    /// Resolves the keychain.
    ///
    /// - Throws: `UsageProblem`, `KeychainNameProblem`, `LocalKeychainFailure` (`emptyName`, `invalidName`).
    func local(in session: Session) throws -> LocalKeychain {
        if name != nil, keychain != nil {
            throw UsageProblem(
                "the keychain is given twice: as an argument and with '\(OptionName.keychain.spelling)'")
        }
        return try LocalKeychain(name ?? keychain, in: session.machine)
    }
}
