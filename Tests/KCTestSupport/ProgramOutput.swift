package import KCByteStreams
import KCConsole
import Synchronization

/// The result of one run of a program in this process.
package struct ProgramOutcome<Status> {
    /// Its exit status.
    package let status: Status
    /// Standard output.
    package let output: [UInt8]
    /// Standard error as text.
    package let messages: String
    /// The terminal that it used.
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

/// An output that keeps what is written to it.
package final class CollectedOutput: TextOutput {
    private let collected = Mutex<[UInt8]>([])

    /// Creates an empty output.
    package init() {}

    /// The bytes that were written.
    package var bytes: [UInt8] { collected.withLock { $0 } }
    /// The bytes that were written, as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// See `TextOutput`.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        let copy = bytes.indices.map { bytes[$0] }
        collected.withLock { $0 += copy }
    }
}

/// An output that fails like a full disk or a closed pipe.
package struct FailingOutput: TextOutput {
    private let code: Int32

    /// Creates an output whose every write fails with `code`, a system error number.
    package init(code: Int32) {
        self.code = code
    }

    /// See `TextOutput`.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        throw StreamFailure(.writing, .system(code))
    }
}
