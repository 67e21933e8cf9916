package import KCAgeEncryption
internal import KCAgePlugins
package import KCAsking
internal import KCByteStreams
internal import KCRecoveryKits
package import KCStoreTasks

/// An event while files of keys are read.
package enum KeyFileEvent: TaskEvent, Hashable, Sendable {
    /// The file is not encrypted, and the passphrase is not read.
    case passphraseUnneeded(path: String, SecretField)
    /// A line of a file of public keys is a key of SSH that nothing can be encrypted to.
    case keyPassedOver(path: String, line: Int, kind: String)
}

/// Identity and recipients files, either plain or encrypted with a passphrase.
extension TaskContext {
    /// The name that stands for the terminal where an identity file is named; a file of this name is `./tty`.
    package static let typedIdentity = "tty"

    /// Reads the identities of age itself in a file, or has one typed from a recovery kit.
    ///
    /// - Throws: `InputFailure` (with `AgeFailure.unsupportedIdentity` also for that of a plugin or of SSH), `KitProblem`
    ///   (`sheetAsIdentity`), `FileFailure`, and errors of reading secrets.
    package func nativeIdentities(in path: String, passphrase: SecretSource?) throws -> [NativeIdentity] {
        if path.exact == Self.typedIdentity.exact { return try asking.recoveryKit() }
        let file = try identityFile(at: path, passphrase: passphrase, plugins: nil)
        if file.ssh != nil { throw InputFailure(path, AgeFailure.unsupportedIdentity(line: 1, kind: "SSH")) }
        return file.identities
    }

    /// Reads the identities in a file that need no plugin, or has one typed from a recovery kit.
    ///
    /// - Throws: as `nativeIdentities`, but not for SSH.
    package func heldIdentities(in path: String, passphrase: SecretSource?) throws -> [any HeldIdentity] {
        if path.exact == Self.typedIdentity.exact { return try asking.recoveryKit() }
        return try identityFile(at: path, passphrase: passphrase, plugins: nil).held
    }

    /// Reads the identities in a file, also those of plugins, or has one typed from a recovery kit.
    ///
    /// - Throws: as `nativeIdentities`.
    package func identities(in path: String, passphrase: SecretSource?) throws -> [any Identity] {
        if path.exact == Self.typedIdentity.exact { return try asking.recoveryKit() }
        return try identityFile(at: path, passphrase: passphrase, plugins: plugins).all
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
    /// - Throws: `InputFailure`, `FileFailure`, and errors of reading secrets.
    package func recipients(in path: String, passphrase: SecretSource?) throws -> [GivenRecipient] {
        let wanted = WantedSecret(.passphraseOfRecipients(file: path), .recipientsPassphrase, from: passphrase)
        return try readKeyFile(path, isSecret: false, wanted) { text in
            try RecipientFile.parse(
                text.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) },
                plugins: plugins,
                passingOver: { line, kind in tell(KeyFileEvent.keyPassedOver(path: path, line: line, kind: kind)) })
        }
    }

    private func readKeyFile<Keys>(
        _ path: String, isSecret: Bool, _ wanted: WantedSecret, _ parse: (borrowing SecretBytes) throws -> Keys
    ) throws -> Keys {
        try InputFailure.naming(path) {
            let text = try machine.readKeyFile(path, isSecret: isSecret)
            if let file = try EncryptedKeyFile(text) {
                try file.requirePassphrase()
                return try trying(wanted) { secret in
                    try parse(file.open(with: [ScryptIdentity(passphrase: secret)]))
                }
            }
            if wanted.source != nil { tell(KeyFileEvent.passphraseUnneeded(path: path, wanted.field)) }
            return try parse(text)
        }
    }
}
