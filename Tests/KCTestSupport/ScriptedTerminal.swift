package import KCByteStreams
package import KCConsole
import Synchronization

/// A terminal that answers prompts as the test says, and records them.
package final class ScriptedTerminal: Terminal {
    /// True if prompts are answered.
    package let isAttended: Bool
    /// True if standard output goes to the terminal.
    package let showsOutput: Bool
    /// True if standard error goes to the terminal.
    package let showsMessages: Bool
    /// The number of columns.
    package let width: Int?
    /// See `Terminal`; nil so that each message is one line.
    package var messageWidth: Int? { nil }
    private let quietness = Mutex((depth: 0, times: 0))
    private let state: Mutex<(answers: ArraySlice<String>, asked: [String])>

    /// Creates a terminal that gives `answers` in order; with nil, the program has no terminal to ask on.
    package init(answers: [String]? = nil, showsOutput: Bool = false, showsMessages: Bool = false, width: Int? = 80) {
        isAttended = answers != nil
        self.showsOutput = showsOutput
        self.showsMessages = showsMessages
        self.width = width
        state = Mutex((answers?[...] ?? [], []))
    }

    /// Every prompt, and every text that was shown on the terminal itself.
    package var asked: [String] { state.withLock { $0.asked } }

    /// The number of answers that the program did not ask for.
    package var unasked: Int { state.withLock { $0.answers.count } }

    /// True if nothing that is typed is shown.
    package var isQuiet: Bool { quietness.withLock { $0.depth } > 0 }

    /// The number of calls of `quietly`.
    package var timesQuiet: Int { quietness.withLock { $0.times } }

    /// See `Terminal`.
    package func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        quietness.withLock { $0 = ($0.depth + 1, $0.times + 1) }
        defer { quietness.withLock { $0.depth -= 1 } }
        return try body()
    }

    /// See `Terminal`.
    package func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        SecretBytes(copying: Array(try answer(prompt).utf8))
    }

    /// See `Terminal`.
    package func readVisibleSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        SecretBytes(copying: Array(try answer(prompt).utf8))
    }

    /// See `Terminal`.
    package func readAnswer(_ prompt: String) throws(TerminalFailure) -> String { try answer(prompt) }

    /// See `Terminal`.
    package func show(_ text: borrowing SecretBytes) throws(TerminalFailure) {
        let text = String(decoding: text.bytesForTest(), as: UTF8.self)
        state.withLock { $0.asked.append(text) }
    }

    private func answer(_ prompt: String) throws(TerminalFailure) -> String {
        if !isAttended { throw .unavailable }
        let answer = state.withLock { state in
            state.asked.append(prompt)
            return state.answers.popFirst()
        }
        guard let answer else { throw .closed }
        return answer
    }
}
