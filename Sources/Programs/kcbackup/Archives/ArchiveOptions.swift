internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCForeignFormats
internal import KCItemSources
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
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

    /// Opens the file, or the newest of a folder, without verifying more than its name yet.
    ///
    /// - Parameters:
    ///   - accepted: a device whose archives count if the newest of a folder is taken, though it is not trusted.
    ///   - isOneOfTwo: true if keys that do not apply to it may apply to another archive.
    ///   - ifRenamed: receives the failure of an archive that is another one than its name says; if nil, that is a warning
    ///     where the user has named the archive itself, and otherwise an error.
    /// - Throws: `ArchiveFailure`, `UsageProblem`, `CatalogueFailure.renamed`, and as `ArchivePlace.newest`.
    func open(
        _ archive: String, accepting accepted: DeviceID? = nil, isOneOfTwo: Bool = false,
        ifRenamed: ((CatalogueFailure) throws -> Void)? = nil, in session: Session
    ) throws -> FoundArchive {
        if archive.isEmpty { throw UsageProblem.emptyArchive }
        try check(with: [archive])
        session.subject.file = archive
        let file: ArchiveFile
        var path = archive
        func choose(in place: ArchivePlace) throws -> String {
            let name = try place.newest(accepting: accepted, in: session)
            path = place.path(of: name)
            return name
        }
        do {
            let opened = try open(archive, in: session, choose: choose)
            if try opened.size() == 0 {
                throw Refusal(
                    .damaged, "\(quotedInput(path)) is empty",
                    hint: "what was to write it has failed: copy it again, or use another archive")
            }
            file = try ArchiveFile(opened)
        } catch ArchiveFailure.notAnArchive {
            session.subject.file = path
            try Self.refuseOther(path, in: session)
            throw ArchiveFailure.notAnArchive
        }
        let isNamed = path.exact == archive.exact
        let named = try NamedArchive(file, named: FoundArchive.name(of: path), at: path) { failure in
            if let ifRenamed { return try ifRenamed(failure) }
            guard isNamed else { throw failure }
            session.warn(session.failure(of: failure).explanation.message)
        }
        if !isOneOfTwo, file.header.mode == .unencrypted { warnOfUselessKey("the archive is", session) }
        return FoundArchive(archive: named, path: path)
    }

    private func open(
        _ archive: String, in session: Session, choose: (ArchivePlace) throws -> String
    ) throws -> OpenFile {
        let resolved = session.machine.resolve(archive)
        guard try session.machine.remote(archive) == nil, Path.isFolder(resolved) else {
            return try session.machine.openArchive(archive, choose: choose)
        }
        // A pipe in the folder is refused here, and `openArchive` would wait for it.
        return try OpenFile.reading("\(resolved)/\(choose(ArchivePlace(archive, at: resolved)))")
    }

    /// Refuses a file that is not an archive by what it is; does nothing if that is unknown.
    ///
    /// - Throws: `Refusal`, `ForeignFailure`, `FileFailure`, `StreamFailure`.
    static func refuseOther(_ archive: String, in session: Session) throws {
        session.subject.file = archive
        guard let format = try ForeignReader(archive, FileAccess(), in: session.context).formatOfFile() else {
            return
        }
        if let refused = format as? RefusedFormat {
            if case .own(let file) = refused.failure, file != .archive {
                throw Refusal.ownFile(path: archive, file)
            }
            throw refused.failure
        }
        throw Refusal(
            .damaged, "\(quoted(archive)) is not a kcbackup archive, but \(withArticle(format.title))",
            hint: "'kcbackup import \(shellWord(archive))' imports it")
    }

    /// Warns if keys were given and none of the archives needs any.
    func warnIfUseless(_ archives: [ProvenArchive], in session: Session) {
        guard archives.allSatisfy({ $0.header.mode == .unencrypted }) else { return }
        warnOfUselessKey(archives.count == 1 ? "the archive is" : "the archives are", session)
    }

    private func warnOfUselessKey(_ subject: String, _ session: Session) {
        guard hasKey else { return }
        session.warn("\(subject) unencrypted and \(subject.hasSuffix("are") ? "need" : "needs") no key")
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
