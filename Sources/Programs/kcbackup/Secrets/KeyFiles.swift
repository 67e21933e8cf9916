internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks

/// Identity and recipients files, either plain or encrypted with a passphrase.
extension Session {
    /// Reads the identities of age itself in a file, or has one typed from a recovery kit.
    ///
    /// - Throws: `AgeFailure` (`unsupportedIdentity` also for that of a plugin), `KitProblem` (`sheetAsIdentity`),
    ///   `FileFailure`, `StreamFailure`, and errors of reading secrets.
    func nativeIdentities(in path: String, passphrase: SecretSource?) throws -> [NativeIdentity] {
        if path.exact == Self.typedIdentity.exact { return try typeKit() }
        return try identityFile(at: path, passphrase: passphrase, plugins: nil).identities
    }

    /// Reads the identities in a file, also those of plugins, or has one typed from a recovery kit.
    ///
    /// - Throws: `AgeFailure`, `KitProblem` (`sheetAsIdentity`), `FileFailure`, `StreamFailure`, and errors of reading
    ///   secrets.
    func identities(in path: String, passphrase: SecretSource?) throws -> [any Identity] {
        if path.exact == Self.typedIdentity.exact { return try typeKit() }
        return try identityFile(at: path, passphrase: passphrase, plugins: context.plugins).all
    }

    /// Checks that there is the folder of a new file, before a secret is asked for that would be of no use without it.
    func requireFolder(ofKeyFile path: String) throws(FileFailure) {
        try Path.requireFolder(Path.split(machine.resolve(path)).folder, named: Path.split(path).folder)
    }

    /// Creates the file of a key.
    ///
    /// - Throws: `Refusal` if it exists, `FileFailure`.
    func makingKeyFile(_ create: () throws(FileFailure) -> Void) throws {
        do throws(FileFailure) {
            try create()
        } catch {
            throw error.problem == .exists ? Refusal.keyFileExists(error.path) : error as any Error
        }
    }

    private func identityFile(
        at path: String, passphrase: SecretSource?, plugins: (any PluginHost)?
    ) throws -> IdentityFile {
        let wanted = WantedSecret(.passphraseOfIdentities(file: path), .identityPassphrase, from: passphrase)
        return try readKeyFile(path, isSecret: true, wanted) { text in
            if SheetForm.isSheet(text) { throw KitProblem.sheetAsIdentity(path: path) }
            return try IdentityFile.parse(text, plugins: plugins)
        }
    }

    /// Reads the public keys in a file.
    ///
    /// - Throws: as `identities(in:passphrase:)`.
    func recipients(in path: String, passphrase: SecretSource?) throws -> [GivenRecipient] {
        let wanted = WantedSecret(.passphraseOfRecipients(file: path), .recipientsPassphrase, from: passphrase)
        return try readKeyFile(path, isSecret: false, wanted) { text in
            try RecipientFile.parse(
                text.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) },
                plugins: context.plugins)
        }
    }

    private func readKeyFile<Keys>(
        _ path: String, isSecret: Bool, _ wanted: WantedSecret, _ parse: (borrowing SecretBytes) throws -> Keys
    ) throws -> Keys {
        let outer = subject.file
        subject.file = path
        let text = try machine.readKeyFile(path, isSecret: isSecret)
        let keys: Keys
        if let file = try EncryptedKeyFile(text) {
            try file.requirePassphrase()
            keys = try context.trying(wanted) { secret in
                try parse(file.open(with: [ScryptIdentity(passphrase: secret)]))
            }
        } else {
            if wanted.source != nil {
                note("\(quoted(path)) is not encrypted, so '\(wanted.field.option.spelling)' is not read")
            }
            keys = try parse(text)
        }
        subject.file = outer
        return keys
    }
}
