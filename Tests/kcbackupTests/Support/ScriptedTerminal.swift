import Console
import ByteStreams
import Synchronization

@testable import kcbackup

/// A person who types what a test says, and what the program asked.
final class ScriptedTerminal: Terminal {
    let isAttended: Bool
    let showsOutput: Bool
    let showsMessages: Bool
    let width: Int?
    private let state: Mutex<(answers: ArraySlice<String>, asked: [String])>

    /// Nobody, or with answers somebody at a terminal of 80 columns.
    init(answers: [String]? = nil, showsOutput: Bool = false, showsMessages: Bool = false, width: Int? = 80) {
        isAttended = answers != nil
        self.showsOutput = showsOutput
        self.showsMessages = showsMessages
        self.width = width
        state = Mutex((answers?[...] ?? [], []))
    }

    /// Every prompt, and every text that was shown on the terminal itself.
    var asked: [String] { state.withLock { $0.asked } }

    /// How many answers nobody asked for.
    var unasked: Int { state.withLock { $0.answers.count } }

    func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        SecretBytes(copying: Array(try answer(prompt).utf8))
    }

    func readAnswer(_ prompt: String) throws(TerminalFailure) -> String { try answer(prompt) }

    func show(_ text: borrowing SecretBytes) throws(TerminalFailure) {
        let text = text.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
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

/// Keeps what was written.
final class CollectedOutput: TextOutput {
    private let collected = Mutex<[UInt8]>([])

    var bytes: [UInt8] { collected.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        let copy = bytes.indices.map { bytes[$0] }
        collected.withLock { $0 += copy }
    }
}

/// Fails as a full disk or a closed pipe does.
struct FailingOutput: TextOutput {
    let code: Int32

    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        throw StreamFailure(.writing, .system(code))
    }
}
