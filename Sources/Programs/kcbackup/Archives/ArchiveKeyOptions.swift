internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCTerminal

/// The options for the keys that open a new archive.
struct ArchiveKeyOptions: ParsableArguments {
    @Option(
        name: OptionName.passphrase.name,
        help: ArgumentHelp("Where the passphrase of the archive comes from.", valueName: "source"))
    var passphrase: SecretSource?

    @OptionGroup
    var restoring: RecipientOptions

    @Option(
        name: OptionName.inspectRecipient.name,
        help: ArgumentHelp("A public key that opens the metadata alone; may be repeated.", valueName: "recipient"))
    var inspectRecipient: [String] = []

    /// The first of these options that was given.
    var firstGiven: OptionName? {
        if passphrase != nil { return .passphrase }
        if let given = restoring.firstGiven { return given }
        return inspectRecipient.isEmpty ? nil : .inspectRecipient
    }

    var request: ArchiveKeyRequest {
        ArchiveKeyRequest(passphrase: passphrase, restoring: restoring.request, inspecting: inspectRecipient)
    }
}
