package import KCByteStreams
package import KCConsole

/// A terminal whose prompts are broken between words, like messages, and never follow a notice on its line.
package struct WrappingTerminal: Terminal {
    private let terminal: any Terminal
    private let notice: DelayedNotice

    package init(_ terminal: any Terminal, hiding notice: DelayedNotice) {
        self.terminal = terminal
        self.notice = notice
    }

    package var isAttended: Bool { terminal.isAttended }
    package var showsOutput: Bool { terminal.showsOutput }
    package var showsMessages: Bool { terminal.showsMessages }
    package var width: Int? { terminal.width }
    package var messageWidth: Int? { terminal.messageWidth }

    package func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        notice.end()
        return try terminal.readSecret(fitted(prompt))
    }

    package func readSecretAgain(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        notice.end()
        return try terminal.readSecretAgain(fitted(prompt))
    }

    package func readVisibleSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        notice.end()
        return try terminal.readVisibleSecret(fitted(prompt))
    }

    package func readAnswer(_ prompt: String) throws(TerminalFailure) -> String {
        notice.end()
        return try terminal.readAnswer(fitted(prompt))
    }

    package func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result { try terminal.quietly(body) }

    package func show(_ text: borrowing SecretBytes) throws(TerminalFailure) {
        notice.end()
        try terminal.show(text)
    }

    /// The prompt with the space that ends it, in which the answer is typed.
    private func fitted(_ prompt: String) -> String {
        guard let width = terminal.messageWidth ?? terminal.width, prompt.hasSuffix(" ") else { return prompt }
        return wrapped(String(prompt.dropLast()), to: max(20, width - 1)) + " "
    }
}
