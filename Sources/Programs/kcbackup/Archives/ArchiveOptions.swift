internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCStoreTasks
internal import KCTerminal

/// The options for opening an archive.
struct ArchiveOptions: ParsableArguments {
    @OptionGroup
    private var identityOptions: IdentityOptions

    @Option(
        name: OptionName.passphrase.name,
        help: ArgumentHelp("Where the passphrase of the archive comes from.", valueName: "source"))
    var passphrase: SecretSource?

    /// The identity files that were given.
    var identity: [String] { identityOptions.identity }
    /// Where the passphrase of an encrypted one comes from.
    var identityPassphrase: SecretSource? { identityOptions.identityPassphrase }

    /// True if a passphrase or an identity was given.
    var hasKey: Bool { passphrase != nil || !identity.isEmpty }

    /// Where the keys come from.
    var keys: ArchiveKeySources {
        ArchiveKeySources(
            passphrase: passphrase, identities: identity, identityPassphrase: identityPassphrase)
    }

    /// Warns if keys were given and none of the archives needs any.
    func warnIfUseless(_ archives: [ProvenArchive], in session: Session) {
        guard hasKey, archives.allSatisfy({ $0.header.mode == .unencrypted }) else { return }
        session.warn(
            archives.count == 1
                ? "the archive is unencrypted and needs no key" : "the archives are unencrypted and need no key")
    }

    /// Refuses contradictory options, before anything is read.
    ///
    /// - Throws: `UsageProblem`, `ReadTwice`.
    func check(with archives: [String]) throws {
        try identityOptions.check(with: archives, passphrase: passphrase)
    }

    /// Opens an age file with the given keys or with a passphrase from the user.
    ///
    /// - Throws: `AgeFailure`, `InputFailure`, `ArchiveFailure.noPassphraseSet`, and errors of reading secrets.
    func decrypt(_ file: borrowing EncryptedKeyFile, at path: String, in session: Session) throws -> SecretBytes {
        try check(with: [path])
        guard passphrase != nil || identity.isEmpty else { return try file.open(with: identities(in: session)) }
        do throws(AgeFailure) {
            try file.requirePassphrase()
        } catch {
            guard case .notForPassphrase = error else { throw error }
            throw ArchiveFailure.noPassphraseSet
        }
        let wanted = WantedSecret(.passphrase(file: path), .passphrase, from: passphrase)
        return try session.context.trying(wanted) { try file.open(with: [ScryptIdentity(passphrase: $0)]) }
    }

    /// Returns the identities in the given files.
    ///
    /// - Throws: as `TaskContext.identities(in:passphrase:)`.
    func identities(in session: Session) throws -> [any Identity] {
        try identity.flatMap { try identityOptions.identities(in: $0, session) }
    }
}
