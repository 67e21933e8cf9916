internal import Console
internal import AgeEncryption
internal import ArgumentParser
internal import BackupArchive
internal import ByteStreams
internal import Cryptography

/// Who will be able to open a new archive.
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

    /// The first of these options that is given.
    var firstGiven: OptionName? {
        if passphrase != nil { return .passphrase }
        if let given = restoring.firstGiven { return given }
        return inspectRecipient.isEmpty ? nil : .inspectRecipient
    }

    /// The public keys that are given, each once.
    ///
    /// - Throws: `AgeFailure`, `FileFailure`, `ArchiveFailure`, `UsageProblem` (`noRestoreKey`,
    ///   `recipientInspects`).
    func recipients(in session: Session) throws -> GivenRecipients {
        var given = GivenRecipients()
        var seen: Set<X25519Recipient> = []
        for found in try restoring.recipients(passphrase, in: session) where seen.insert(found).inserted {
            given.restoring.append(found)
        }
        // A key given both ways is a mistake, and a wrong guess would let it read secrets.
        let restoring = seen
        for found in try inspectRecipient.map(RecipientOptions.parse) {
            if restoring.contains(found) { throw UsageProblem.recipientInspects }
            if seen.insert(found).inserted { given.inspecting.append(found) }
        }
        // Nobody could ever restore what only inspectors open.
        let asks = passphrase != nil || session.world.terminal.isAttended
        if given.restoring.isEmpty, !inspectRecipient.isEmpty, !asks { throw UsageProblem.noRestoreKey }
        return given
    }

    /// The keys of the new archive, with a passphrase where one is given, or needed because nothing else restores it.
    ///
    /// - Parameter keychain: its name, which is a bad passphrase.
    /// - Throws: what asking throws, `ArchiveFailure`, `CryptographyFailure`.
    func keys(_ given: GivenRecipients, of keychain: String, in session: Session) throws -> ArchiveKeys {
        guard passphrase != nil || given.restoring.isEmpty, let cost = session.world.costs.passphrase else {
            return try ArchiveKeys(recipients: given.restoring, inspectors: given.inspecting)
        }
        let wanted = WantedSecret(
            what: "passphrase of the archive", note: "empty to have one made up", flag: .passphrase,
            source: passphrase)
        let chosen = try session.secrets.new(wanted, judge: { session.judge(passphrase: $0, of: keychain) })
        return try ArchiveKeys(
            passphrase: chosen ?? session.makeUpPassphrase(), cost: cost, recipients: given.restoring,
            inspectors: given.inspecting)
    }
}

/// The public keys that were given, each once.
struct GivenRecipients {
    /// Those that open the whole archive.
    var restoring: [X25519Recipient] = []
    /// Those that open the metadata alone.
    var inspecting: [X25519Recipient] = []
}
