package import ByteStreams
package import Console
import Synchronization

/// A person who types what a test says, and what the program asked.
package final class ScriptedTerminal: Terminal {
    /// True when somebody is there to answer.
    package let isAttended: Bool
    /// True when standard output goes to the terminal.
    package let showsOutput: Bool
    /// True when standard error goes to the terminal.
    package let showsMessages: Bool
    /// How many columns it has.
    package let width: Int?
    private let state: Mutex<(answers: ArraySlice<String>, asked: [String])>

    /// Without answers a program without a terminal; with them somebody at one of 80 columns.
    package init(answers: [String]? = nil, showsOutput: Bool = false, showsMessages: Bool = false, width: Int? = 80) {
        isAttended = answers != nil
        self.showsOutput = showsOutput
        self.showsMessages = showsMessages
        self.width = width
        state = Mutex((answers?[...] ?? [], []))
    }

    /// Every prompt, and every text that was shown on the terminal itself.
    package var asked: [String] { state.withLock { $0.asked } }

    /// How many answers the program did not ask for.
    package var unasked: Int { state.withLock { $0.answers.count } }

    /// See `Terminal`.
    package func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
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
