package import ArgumentParser
package import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainStore

/// The source of an escrow key: the path of a file, or any secret source except the terminal.
package struct EscrowSource: Hashable, Sendable, ExpressibleByArgument {
    package let source: SecretSource

    /// The syntax, for messages.
    package static let forms = "a file, or a source: file:PATH, fd:N, cmd:COMMAND or cred:NAME"

    package init(source: SecretSource) { self.source = source }

    package init?(argument: String) {
        let prefix = argument.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        switch SecretSource(argument) {
        case .terminal: return nil
        case let found?: source = found
        case nil:
            let isPath = !["", "tty", "file", "fd", "cmd", "cred"].contains(prefix)
            guard isPath, !argument.uppercased().exact.contains("KCBACKUP-ESCROW-KEY-") else { return nil }
            source = .file(argument)
        }
    }

    package static var defaultCompletionKind: CompletionKind { .file() }
}
