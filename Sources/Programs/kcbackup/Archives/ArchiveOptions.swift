internal import LocalKeychains
internal import Console
internal import AgeEncryption
internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
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
        name: OptionName.identityPassphrase.name,
        help: ArgumentHelp(
            "Where the passphrase of an encrypted identity file comes from.", valueName: "source"))
    var identityPassphrase: SecretSource?

    @Option(
        name: OptionName.passphrase.name,
        help: ArgumentHelp("Where the passphrase of the archive comes from.", valueName: "source"))
    var passphrase: SecretSource?

    /// True when something to open it with was given.
    var hasKey: Bool { passphrase != nil || !identity.isEmpty }

    /// Opens the file; nothing is proved yet.
    ///
    /// - Throws: `ArchiveFailure`, `UsageProblem` (`emptyArchive`, `needs`, `inputTwice`).
    func open(_ archive: String, in session: Session) throws -> ArchiveFile {
        if archive.isEmpty { throw UsageProblem.emptyArchive }
        try requireUsable(with: archive)
        session.subjects.path = archive
        let file = try ArchiveFile(session.world.openArchive(archive))
        if file.header.mode == .unencrypted, hasKey { session.warn("the archive is unencrypted and needs no key") }
        return file
    }

    /// Refuses what cannot be meant, before anything is read.
    private func requireUsable(with archive: String) throws {
        if identityPassphrase == .unknown { throw SecretProblem.notASource(.identityPassphrase) }
        if identityPassphrase != nil, identity.isEmpty { throw UsageProblem.needs(.identityPassphrase, .identity) }
        try requireOneInput([archive] + identity, [passphrase, identityPassphrase])
    }

    /// Proves the archive genuine and opens it with what was given, or with a passphrase that is asked for.
    ///
    /// - Throws: `ArchiveFailure`, `AgeFailure`, `DeviceKeyFailure`, `TrustedDevicesFailure`, and what asking throws.
    func prove(_ file: ArchiveFile, at archive: String, in session: Session) throws -> ProvenArchive {
        let local = try LocalDevice(session.world).identity()
        return try ProvenArchive(open(file.prove(), at: archive, in: session), local: local)
    }

    /// The passphrase goes first: who opens an archive with it is told who made it only if no other key was used.
    private func open(_ genuine: GenuineArchive, at archive: String, in session: Session) throws -> OpenedArchive {
        guard genuine.header.mode == .encrypted else { return try genuine.open() }
        let asks = identity.isEmpty && genuine.hasPassphrase && session.world.terminal.isAttended
        if passphrase != nil || asks {
            if !identity.isEmpty { session.warn("the passphrase opens the archive: no identity is used") }
            let wanted = WantedSecret(
                what: "passphrase of \(quoted(archive))", flag: .passphrase, source: passphrase)
            return try session.trying(wanted) { try genuine.open(passphrase: $0) }
        }
        if identity.isEmpty { return try genuine.open() }
        return try genuine.open(identities: identities(in: session))
    }

    /// Opens an age file with what was given, or with a passphrase that is asked for.
    ///
    /// - Throws: `AgeFailure`, and what asking throws.
    func decrypt(_ file: borrowing EncryptedKeyFile, at path: String, in session: Session) throws -> SecretBytes {
        try requireUsable(with: path)
        guard passphrase != nil || identity.isEmpty else { return try file.open(with: identities(in: session)) }
        let wanted = WantedSecret(what: "passphrase of \(quoted(path))", flag: .passphrase, source: passphrase)
        return try session.trying(wanted) { try file.open(with: [ScryptIdentity(passphrase: $0)]) }
    }

    private func identities(in session: Session) throws -> [any Identity] {
        try identity.flatMap { try session.identities(in: $0, passphrase: identityPassphrase) }
    }
}

/// Refuses to read standard input, which is read to its end, as several things.
///
/// - Throws: `UsageProblem` (`inputTwice`).
func requireOneInput(_ paths: [String], _ sources: [SecretSource?]) throws(UsageProblem) {
    let files = paths.count { $0 == InputFile.standardInputName }
    if files > 1 || files == 1 && sources.contains(.descriptor(0)) { throw .inputTwice }
}
