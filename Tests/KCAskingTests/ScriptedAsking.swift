import KCByteStreams
import KCConsole

@testable import KCAsking

/// Answers questions from a list; without one, there is nobody to ask.
final class ScriptedAsking: Asking {
    let isAttended: Bool
    private(set) var asked: [SecretQuestion] = []
    private var answers: ArraySlice<String>

    init(_ answers: [String]? = nil) {
        isAttended = answers != nil
        self.answers = answers?[...] ?? []
    }

    func secret(_ question: SecretQuestion, after wrong: WrongAnswer?) throws(TerminalFailure) -> SecretBytes {
        asked.append(question)
        return try answer()
    }

    func newSecret(_ question: SecretQuestion, differed: Int) throws(TerminalFailure) -> SecretBytes {
        asked.append(question)
        return try answer()
    }

    func newSecretAgain() throws(TerminalFailure) -> SecretBytes { try answer() }

    func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result { try body() }

    private func answer() throws(TerminalFailure) -> SecretBytes {
        guard isAttended else { throw .unavailable }
        guard let answer = answers.popFirst() else { throw .closed }
        return SecretBytes(copying: Array(answer.utf8))
    }
}
