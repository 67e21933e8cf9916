package import KCByteStreams

/// A terminal for unattended work; it never asks anything.
package struct NoTerminal: Terminal {
    package init() {}

    package var isAttended: Bool { false }
    package var showsOutput: Bool { false }
    package var showsMessages: Bool { false }
    package var width: Int? { nil }
    package var messageWidth: Int? { nil }

    package func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes { throw .unavailable }
    package func readVisibleSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes { throw .unavailable }
    package func readAnswer(_ prompt: String) throws(TerminalFailure) -> String { throw .unavailable }
    package func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result { try body() }
    package func show(_ text: borrowing SecretBytes) throws(TerminalFailure) { throw .unavailable }
}

/// Discards all messages.
package struct NoOutput: TextOutput {
    package init() {}

    package func write(_ bytes: borrowing Span<UInt8>) {}
}
