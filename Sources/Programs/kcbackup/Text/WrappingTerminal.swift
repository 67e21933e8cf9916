internal import KCByteStreams
internal import KCConsole

/// A terminal whose prompts are broken between words, like messages.
struct WrappingTerminal: Terminal {
    private let terminal: any Terminal

    init(_ terminal: any Terminal) {
        self.terminal = terminal
    }

    var isAttended: Bool { terminal.isAttended }
    var showsOutput: Bool { terminal.showsOutput }
    var showsMessages: Bool { terminal.showsMessages }
    var width: Int? { terminal.width }
    var messageWidth: Int? { terminal.messageWidth }

    func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes { try terminal.readSecret(fitted(prompt)) }

    func readAnswer(_ prompt: String) throws(TerminalFailure) -> String { try terminal.readAnswer(fitted(prompt)) }

    func show(_ text: borrowing SecretBytes) throws(TerminalFailure) { try terminal.show(text) }

    /// The prompt with the space that ends it, in which the answer is typed.
    private func fitted(_ prompt: String) -> String {
        guard let width = terminal.messageWidth ?? terminal.width, prompt.hasSuffix(" ") else { return prompt }
        return wrapped(String(prompt.dropLast()), to: max(20, width - 1)) + " "
    }
}
