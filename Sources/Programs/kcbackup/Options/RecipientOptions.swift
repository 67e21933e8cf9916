internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupTasks
internal import KCStoreTasks
internal import KCTerminal

/// The options for public keys to encrypt to.
struct RecipientOptions: ParsableArguments {
    @Option(
        name: OptionName.recipient.name,
        help: ArgumentHelp(
            "A public key (age1… or ssh-…) whose identity opens the file; may be repeated.", valueName: "recipient")
    )
    var recipient: [String] = []

    @Option(
        name: OptionName.recipientsFile.name,
        help: ArgumentHelp("A file of public keys, one a line; may be repeated.", valueName: "file"),
        completion: .file())
    var recipientsFile: [String] = []

    @Option(
        name: OptionName.recipientsPassphrase.name,
        help: ArgumentHelp(
            "Where the passphrase of an encrypted file of public keys comes from.", valueName: "source"))
    var recipientsPassphrase: SecretSource?

    /// The first of these options that was given.
    var firstGiven: OptionName? {
        if !recipient.isEmpty { return .recipient }
        if !recipientsFile.isEmpty { return .recipientsFile }
        return recipientsPassphrase == nil ? nil : .recipientsPassphrase
    }

    var request: RecipientRequest {
        RecipientRequest(keys: recipient, files: recipientsFile, passphrase: recipientsPassphrase)
    }
}
