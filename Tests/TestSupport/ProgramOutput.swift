package import ByteStreams
import Console
import Synchronization

/// What one run of a program in this process left.
package struct ProgramOutcome<Status> {
    /// How it ended.
    package let status: Status
    /// Standard output.
    package let output: [UInt8]
    /// Standard error as text.
    package let messages: String
    /// Where it asked.
    package let terminal: ScriptedTerminal
    /// Standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Collects what `run` writes to standard output and standard error.
    package init(
        at terminal: ScriptedTerminal, _ run: (_ output: CollectedOutput, _ messages: CollectedOutput) -> Status
    ) {
        let (output, messages) = (CollectedOutput(), CollectedOutput())
        status = run(output, messages)
        self.output = output.bytes
        self.messages = messages.text
        self.terminal = terminal
    }
}

/// Keeps what was written.
package final class CollectedOutput: TextOutput {
    private let collected = Mutex<[UInt8]>([])

    /// Nothing yet.
    package init() {}

    /// What was written.
    package var bytes: [UInt8] { collected.withLock { $0 } }
    /// What was written, as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// See `TextOutput`.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        let copy = bytes.indices.map { bytes[$0] }
        collected.withLock { $0 += copy }
    }
}

/// Fails as a full disk or a closed pipe does.
package struct FailingOutput: TextOutput {
    private let code: Int32

    /// Fails every write with `code`, an error number of the system.
    package init(code: Int32) {
        self.code = code
    }

    /// See `TextOutput`.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        throw StreamFailure(.writing, .system(code))
    }
}
