package import KCByteStreams
package import KCConsole

/// A source of answers to the questions of a task, such as the user's terminal.
package protocol Asking {
    /// True if a person can be asked.
    var isAttended: Bool { get }

    /// Asks for a secret that was set earlier.
    ///
    /// - Parameter wrong: what the last answer was, if it was wrong.
    func secret(_ question: SecretQuestion, after wrong: WrongAnswer?) throws(TerminalFailure) -> SecretBytes

    /// Asks for a new secret.
    ///
    /// - Parameter differed: how often the two entries have differed so far.
    func newSecret(_ question: SecretQuestion, differed: Int) throws(TerminalFailure) -> SecretBytes

    /// Asks for the secret that was just entered once more.
    func newSecretAgain() throws(TerminalFailure) -> SecretBytes

    /// Runs `body`, which asks for secrets and works with them, and shows nothing that is typed meanwhile.
    ///
    /// - Throws: `TerminalFailure`, and what `body` throws.
    func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result
}

/// A secret that was wrong, and may be typed again.
package struct WrongAnswer: Hashable, Sendable {
    package let kind: SecretQuestion.Kind
    /// How many more tries there are; at least 1.
    package let triesLeft: Int
    /// Why the secret may be wrong although it looks right.
    package let doubt: SecretDoubt?

    package init(_ kind: SecretQuestion.Kind, triesLeft: Int, doubt: SecretDoubt?) {
        self.kind = kind
        self.triesLeft = triesLeft
        self.doubt = doubt
    }
}
