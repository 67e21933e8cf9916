import ByteStreams
import Console
import Synchronization

@testable import SecurityCommand

/// A person who types what a test says, and what the program asked.
final class ScriptedTerminal: Terminal {
    let isAttended: Bool
    let showsOutput: Bool
    let showsMessages: Bool
    let width: Int? = 80
    private let state: Mutex<(answers: ArraySlice<String>, asked: [String])>

    /// Nobody, or with answers somebody at a terminal.
    init(answers: [String]? = nil, showsAll: Bool = false) {
        isAttended = answers != nil
        showsOutput = showsAll
        showsMessages = showsAll
        state = Mutex((answers?[...] ?? [], []))
    }

    /// Every prompt.
    var asked: [String] { state.withLock { $0.asked } }

    /// How many answers nobody asked for.
    var unasked: Int { state.withLock { $0.answers.count } }

    func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        SecretBytes(copying: Array(try answer(prompt).utf8))
    }

    func readAnswer(_ prompt: String) throws(TerminalFailure) -> String { try answer(prompt) }

    func show(_ text: borrowing SecretBytes) throws(TerminalFailure) {}

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

/// Hands out bytes, a few a call.
final class ScriptedInput: CommandInput {
    private let rest: Mutex<ArraySlice<UInt8>>

    init(_ text: String) {
        rest = Mutex(Array(text.utf8)[...])
    }

    func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let room = output.freeCapacity
        let piece = rest.withLock { rest in
            let piece = rest.prefix(min(room, 7))
            rest = rest.dropFirst(piece.count)
            return Array(piece)
        }
        output.append(copying: piece.span)
    }
}
