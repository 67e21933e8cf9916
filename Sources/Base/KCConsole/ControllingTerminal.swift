// Fence: opens the terminal of the process.
internal import CKCSystem
internal import Glibc
package import KCByteStreams

/// The controlling terminal of the process, regardless of its standard streams.
package struct ControllingTerminal: Terminal {
    private static let path = "/dev/tty"
    // The terminal's limit for one line (termios(3), canonical mode).
    private static let lineLimit = 4096

    /// Creates an instance; the terminal is opened when first used.
    package init() {}

    /// See `Terminal`.
    package var isAttended: Bool { Descriptor.standardInput.isTerminal }
    /// See `Terminal`.
    package var showsOutput: Bool { Descriptor.standardOutput.isTerminal }
    /// See `Terminal`.
    package var showsMessages: Bool { Descriptor.standardError.isTerminal }
    /// See `Terminal`.
    package var width: Int? { Descriptor.standardOutput.width ?? Descriptor.standardError.width }

    /// See `Terminal`.
    package var messageWidth: Int? { showsMessages ? Descriptor.standardError.width : nil }

    /// See `Terminal`.
    package func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        try ask(prompt, echoes: false)
    }

    /// See `Terminal`.
    package func readSecretAgain(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        try ask(prompt, echoes: false, keepsInput: true)
    }

    /// See `Terminal`.
    package func readVisibleSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        try ask(prompt, echoes: true)
    }

    /// See `Terminal`.
    package func readAnswer(_ prompt: String) throws(TerminalFailure) -> String {
        let line = try ask(prompt, echoes: true)
        return line.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
    }

    /// See `Terminal`.
    package func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        try TerminalEcho.begin()
        defer { TerminalEcho.end() }
        return try body()
    }

    /// Asks until there is an answer.
    private func ask(
        _ prompt: String, echoes: Bool, keepsInput: Bool = false
    ) throws(TerminalFailure) -> SecretBytes {
        let terminal = try Opened()
        defer { terminal.close() }
        if echoes {
            return try TerminalEcho.shown { () throws(TerminalFailure) in try answer(to: prompt, true, at: terminal) }
        }
        // Before the prompt, so that nothing typed after it is echoed or dropped.
        try TerminalEcho.begin(keepsInput: keepsInput)
        defer { TerminalEcho.end() }
        return try answer(to: prompt, false, at: terminal)
    }

    /// If the user suspends the process, the question is repeated when it continues.
    private func answer(
        to prompt: String, _ echoes: Bool, at terminal: Opened
    ) throws(TerminalFailure) -> SecretBytes {
        try TerminalSignals.caught { () throws(TerminalFailure) in
            while true {
                switch try terminal.ask(prompt, echoes: echoes) {
                case .line(let line): return line
                case .signal(let number): try TerminalSignals.deliver(number)
                }
            }
        }
    }

    /// The event that ended a question.
    private enum Answer: ~Copyable {
        case line(SecretBytes)
        /// A signal of `TerminalSignals`.
        case signal(Int32)
    }

    /// See `Terminal`.
    package func show(_ text: borrowing SecretBytes) throws(TerminalFailure) {
        let terminal = try Opened()
        defer { terminal.close() }
        try text.withBytes { bytes throws(TerminalFailure) in try terminal.show(bytes) }
    }

    /// The terminal while it is open.
    private struct Opened {
        private let descriptor: Descriptor

        init() throws(TerminalFailure) {
            // A signal may have arrived during long work; in that case, ask nothing.
            if Interruption.isRequested { throw .interrupted }
            let number = unsafe open(ControllingTerminal.path, O_RDWR | O_CLOEXEC | O_NOCTTY)
            guard number >= 0 else { throw .unavailable }
            descriptor = Descriptor(number: number)
        }

        func close() { _ = Glibc.close(descriptor.number) }

        func show(_ text: String) throws(TerminalFailure) {
            try show(text.utf8.span)
        }

        func show(_ text: borrowing Span<UInt8>) throws(TerminalFailure) {
            do throws(StreamFailure) {
                try descriptor.write(text)
            } catch {
                throw .unavailable
            }
        }

        /// Shows a question and reads the answer.
        func ask(_ prompt: String, echoes: Bool) throws(TerminalFailure) -> Answer {
            // If the process was suspended and continued before, the prompt follows anyway, so SIGCONT is ignored.
            if let number = TerminalSignals.take(), number != SIGCONT { return .signal(number) }
            try show(prompt)
            do throws(TerminalFailure) {
                let line = try readLine(limit: ControllingTerminal.lineLimit)
                // The typed line feed was not echoed.
                if !echoes { try show("\n") }
                return .line(line)
            } catch {
                // Start the next message on its own line. If that fails too, report the first error.
                try? show("\n")
                if error == .interrupted, !Interruption.isRequested, let number = TerminalSignals.take() {
                    return .signal(number)
                }
                throw error
            }
        }

        /// Reads up to a line feed, and drops the line feed.
        private func readLine(limit: Int) throws(TerminalFailure) -> SecretBytes {
            var line = SecretBytes(capacity: limit)
            while line.count < limit {
                let before = line.count
                do throws(StreamFailure) {
                    try descriptor.read(upTo: limit - before, into: &line)
                } catch {
                    throw error.kind == .interrupted ? .interrupted : .unavailable
                }
                if line.count == before { throw .closed }
                if line.withBytes({ $0[$0.count - 1] }) == UInt8(ascii: "\n") {
                    line.removeLast(1)
                    return line
                }
            }
            throw .lineTooLong(limit: limit)
        }
    }
}
