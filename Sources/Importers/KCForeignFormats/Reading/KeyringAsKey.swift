internal import KCByteStreams
internal import KCItemSources

/// A keyring in the place of a key file: its items open another file.
enum KeyringAsKey {
    /// Reads the items of the keyring.
    ///
    /// - Throws: `ForeignFailure` (`damagedKeyFile` for another file), what reading it and asking for its password throw.
    static func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> CollectedItems {
        let formats: [any ForeignFormat] = [GnomeKeyringFormat(), KWalletFormat(), MacKeychainFormat()]
        guard let format = try formats.first(where: { try $0.recognises(input) }) else {
            throw ForeignFailure.damagedKeyFile("it is not a keyring, a wallet or a macOS keychain")
        }
        return try format.read(input, WithoutKeyFile(secrets)).items
    }

    /// The secrets for the keyring itself.
    private struct WithoutKeyFile: ForeignSecrets {
        private let secrets: any ForeignSecrets

        init(_ secrets: any ForeignSecrets) {
            self.secrets = secrets
        }

        var isPasswordGiven: Bool { secrets.isPasswordGiven }

        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
            guard case .file(let kind) = what else { preconditionFailure("a key file is one file") }
            try secrets.password(.keyFile(kind), use)
        }

        func keyFile() -> ForeignFile? { nil }
    }
}
