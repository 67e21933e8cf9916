internal import ArgumentParser
internal import KCByteStreams
internal import KCKeychainStore

/// The source of an escrow key: the path of a file, or any secret source except the terminal.
struct EscrowSource: Hashable, Sendable, ExpressibleByArgument {
    /// Nil if the text is neither; the text is not stored, since it may be the key itself.
    let source: SecretSource?

    /// The syntax, for messages.
    static let forms = "a file, or a source: file:PATH, fd:N, cmd:COMMAND or cred:NAME"

    /// Never fails, so that the parser does not repeat the text in a message.
    init(argument: String) {
        let prefix = argument.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        let isPath = !["", "tty", "file", "fd", "cmd", "cred"].contains(prefix)
        source =
            switch SecretSource(argument: argument) {
            case .terminal: nil
            case .unknown:
                isPath && !argument.uppercased().exact.contains("KCBACKUP-ESCROW-KEY-") ? .file(argument) : nil
            case let source: source
            }
    }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// Opens a keychain, for a backup only.
    ///
    /// - Throws: `KeychainStoreError`, and the errors of `SecretInput`.
    func open(_ keychain: Keychain, in session: Session) throws -> EscrowedKeychain {
        let wanted = WantedSecret(
            what: "escrow key of the keychain", flag: .escrow, source: source ?? .unknown)
        return try EscrowedKeychain(keychain, keyFile: session.secrets.keyFile(wanted))
    }
}
