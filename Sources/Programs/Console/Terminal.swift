package import ByteStreams

/// The person in front of the program, if there is one.
package protocol Terminal: Sendable {
    /// True when standard input is a terminal: somebody can be asked without having said so.
    var isAttended: Bool { get }
    /// True when results go to a terminal.
    var showsOutput: Bool { get }
    /// True when messages go to a terminal.
    var showsMessages: Bool { get }
    /// The number of columns; nil when there is no terminal or it does not say.
    var width: Int? { get }

    /// Shows `prompt` and reads a line without echo.
    func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes
    /// Shows `prompt` and reads a line.
    func readAnswer(_ prompt: String) throws(TerminalFailure) -> String
    /// Shows a secret on the terminal itself, so that no redirection catches it.
    func show(_ text: borrowing SecretBytes) throws(TerminalFailure)
}

/// Why nobody answered.
package enum TerminalFailure: Error, Hashable, Sendable {
    /// There is no terminal, or its echo cannot be switched off.
    case unavailable
    /// The input ended before a line did.
    case closed
    /// The line has more than this many bytes.
    case lineTooLong(limit: Int)
    /// A signal asked the process to stop.
    case interrupted
}

extension Terminal {
    /// Asks a question whose answer is no unless it is "y" or "yes".
    package func confirms(_ question: String) throws(TerminalFailure) -> Bool {
        ["y", "yes"].contains(try readAnswer("\(question) [y/N] ").lowercased())
    }
}
