internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupTasks
internal import KCStoreTasks

/// The options for public keys to encrypt to.
struct RecipientOptions: ParsableArguments {
    @Option(
        name: OptionName.recipient.name,
        help: ArgumentHelp(
            "A public key (age1…) whose identity opens the file; may be repeated.", valueName: "recipient")
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

    /// The public keys, each once.
    static func once(_ recipients: [GivenRecipient]) -> [GivenRecipient] {
        var seen: Set<GivenRecipient> = []
        return recipients.filter { seen.insert($0).inserted }
    }

    /// Parses the public key of an option.
    ///
    /// - Throws: `AgeFailure`: `unsupportedRecipient`, `malformedRecipient`.
    static func parse(_ text: String, plugins: any PluginHost) throws(AgeFailure) -> GivenRecipient {
        if let recipient = GivenRecipient(text, plugins: plugins) { return recipient }
        if let kind = RecipientFile.unsupportedKind(text[...], withPlugins: true) {
            throw .unsupportedRecipient(line: nil, kind: kind)
        }
        throw .malformedRecipient
    }
}

extension RecipientRequest {
    /// Returns the public keys, each once, in the order in which they were given.
    ///
    /// - Parameter others: the sources of other secrets, which may include standard input.
    /// - Throws: `AgeFailure`, `FileFailure`, `UsageProblem`, and errors of reading secrets.
    func recipients(_ others: SecretSource?..., in session: Session) throws -> [GivenRecipient] {
        if passphrase != nil, files.isEmpty { throw UsageProblem.needs(.recipientsPassphrase, .recipientsFile) }
        try requireOneInput(files, others + [passphrase])
        return RecipientOptions.once(
            try keys.map { try RecipientOptions.parse($0, plugins: session.context.plugins) }
                + files.flatMap { try session.recipients(in: $0, passphrase: passphrase) })
    }
}
