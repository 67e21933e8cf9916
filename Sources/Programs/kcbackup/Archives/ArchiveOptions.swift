internal import AgeEncryption
internal import ArgumentParser
internal import BackupArchive
internal import Console
internal import ByteStreams
internal import KeychainModel

/// What opens an archive.
struct ArchiveOptions: ParsableArguments {
    @Option(
        name: OptionName.identity.name,
        help: ArgumentHelp("An age identity file that opens it; may be repeated.", valueName: "file"),
        completion: .file())
    var identity: [String] = []

    @Option(
        name: OptionName.passphrase.name,
        help: ArgumentHelp("Where the passphrase of the archive comes from.", valueName: "source"))
    var passphrase: SecretSource?

    /// True when something to open it with was given.
    var hasKey: Bool { passphrase != nil || !identity.isEmpty }

    /// Opens the file; nothing is proved yet.
    ///
    /// - Throws: `ArchiveFailure`, `UsageProblem` (`emptyArchive`).
    func open(_ archive: String, in session: Session) throws -> ArchiveFile {
        if archive.isEmpty { throw UsageProblem.emptyArchive }
        session.subjects.path = archive
        let file = try ArchiveFile(session.world.openArchive(archive))
        if file.header.mode == .unencrypted, hasKey { session.warn("the archive is unencrypted and needs no key") }
        return file
    }

    /// Opens an age file with what was given, or with a passphrase that is asked for.
    ///
    /// - Throws: `AgeFailure`, and what asking throws.
    func decrypt(_ text: borrowing SecretBytes, at path: String, in session: Session) throws -> SecretBytes {
        var identities: [any Identity] = []
        if passphrase != nil || identity.isEmpty {
            let secret = try session.secrets.existing(
                WantedSecret(what: "passphrase of \(quoted(path))", flag: .passphrase, source: passphrase))
            identities = [ScryptIdentity(passphrase: secret)]
        } else {
            for file in identity { identities += try self.identities(in: file, session) }
        }
        var decryptor = try AgeDecryptor(MemorySource(text.copy()), identities: identities)
        return try decryptor.readAll(limit: PrivateFile.sizeLimit, as: "size")
    }

    /// The identities of a file, which may itself be encrypted with a passphrase.
    func identities(in path: String, _ session: Session) throws -> [any Identity] {
        let archive = session.subjects.path
        session.subjects.path = path
        let text = try PrivateFile.read(session.world.resolve(path))
        let file: IdentityFile
        if IdentityFile.isEncrypted(text) {
            guard session.world.terminal.isAttended else { throw AgeFailure.identityFileNeedsPassphrase }
            let secret = try session.secrets.existing(
                WantedSecret(what: "passphrase of the identity file \(quoted(path))", flag: .passphrase, source: nil))
            file = try IdentityFile.parse(encrypted: text, passphrase: secret)
        } else {
            file = try IdentityFile.parse(text)
        }
        session.subjects.path = archive
        return file.identities
    }
}
