package import KCByteStreams

/// The terminal of the user who runs the program, if there is one.
package protocol Terminal: SecretTerminal {
    /// True if standard input is a terminal, so that the user can be prompted.
    var isAttended: Bool { get }
    /// True if results go to a terminal.
    var showsOutput: Bool { get }
    /// True if messages go to a terminal.
    var showsMessages: Bool { get }
    /// The number of columns; nil if there is no terminal or the number is unknown.
    var width: Int? { get }
    /// The number of columns for messages; nil if they do not go to a terminal, or the number is unknown.
    var messageWidth: Int? { get }

    /// Shows `prompt` and reads a line without echo.
    func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes
    /// Shows `prompt` and reads the line of `readSecret` once more; what was typed after that prompt counts.
    func readSecretAgain(_ prompt: String) throws(TerminalFailure) -> SecretBytes
    /// Shows `prompt` and reads a line that is shown as it is typed, although it is a secret: too long to type blind.
    func readVisibleSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes
    /// Shows `prompt` and reads a line.
    func readAnswer(_ prompt: String) throws(TerminalFailure) -> String
    /// Runs `body`, which asks for a secret and checks it, and shows nothing that is typed meanwhile except answers to
    /// `readAnswer`.
    ///
    /// Text that is typed while nothing is asked is discarded, except before `readSecretAgain`.
    ///
    /// - Throws: `TerminalFailure`, and what `body` throws.
    func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result
    /// Shows a secret on the terminal itself, so that no redirection captures it.
    func show(_ text: borrowing SecretBytes) throws(TerminalFailure)
}

/// Why there was no answer.
package enum TerminalFailure: Error, Hashable, Sendable {
    /// There is no terminal, or its echo cannot be turned off.
    case unavailable
    /// The input ended in the middle of a line.
    case closed
    /// The line is longer than this many bytes.
    case lineTooLong(limit: Int)
    /// A signal asked the process to stop.
    case interrupted
}

extension Terminal {
    /// The same as `readSecret`, for terminals that discard nothing.
    package func readSecretAgain(_ prompt: String) throws(TerminalFailure) -> SecretBytes { try readSecret(prompt) }

    /// See `SecretTerminal`.
    package func askSecrets<Result: ~Copyable>(
        _ body: (_ ask: (String) throws(TerminalFailure) -> SecretBytes) throws -> Result
    ) throws -> Result {
        try quietly { try body { (prompt) throws(TerminalFailure) in try readSecret(prompt) } }
    }

    /// Asks a question; anything but "y" or "yes" means no, and so does the end of the input (Ctrl-D).
    package func confirms(_ question: String) throws(TerminalFailure) -> Bool {
        do throws(TerminalFailure) {
            return ["y", "yes"].contains(try readAnswer("\(question) [y/N] ").lowercased())
        } catch .closed {
            return false
        }
    }
}
