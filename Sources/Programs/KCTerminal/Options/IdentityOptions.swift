package import ArgumentParser
package import KCAgeEncryption
package import KCAsking
internal import KCBackupTasks
internal import KCStoreTasks

/// The options for the identity files that open an archive.
package struct IdentityOptions: ParsableArguments {
    @Option(
        name: OptionName.identity.name,
        help: ArgumentHelp(
            "An age identity file or SSH key that opens it, or 'tty' to type a recovery kit; may be repeated.",
            valueName: "file"),
        completion: .file())
    package var identity: [String] = []

    @Option(
        name: OptionName.identityPassphrase.name,
        help: ArgumentHelp(
            "Where the passphrase of an encrypted identity file comes from.", valueName: "source"))
    package var identityPassphrase: SecretSource?

    package init() {}

    /// The first option that was given.
    package var firstGiven: OptionName? {
        !identity.isEmpty ? .identity : identityPassphrase != nil ? .identityPassphrase : nil
    }

    /// Refuses contradictory options, before anything is read.
    ///
    /// - Throws: `UsageProblem`, `ReadTwice`.
    package func check(with archives: [String], passphrase: SecretSource? = nil) throws {
        if identityPassphrase != nil, identity.isEmpty { throw UsageProblem.needs(.identityPassphrase, .identity) }
        try requireOneInput(archives + identity, [passphrase, identityPassphrase])
    }

    /// Returns the identities in one file.
    ///
    /// - Throws: as `TaskContext.identities(in:passphrase:)`.
    package func identities(in path: String, _ session: Session) throws -> [any Identity] {
        try session.context.identities(in: path, passphrase: identityPassphrase)
    }
}
