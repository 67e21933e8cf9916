// Fence: switches the echo of the terminal off and on.
package import ByteStreams
internal import Glibc

/// The controlling terminal of the process, regardless of its standard streams.
package struct ControllingTerminal: Terminal {
    private static let path = "/dev/tty"
    // The terminal's limit for one line (termios(3), canonical mode).
    private static let lineLimit = 4096

    /// Opens the terminal at the first question.
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
    package func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        let terminal = try Opened()
        defer { terminal.close() }
        // Before the prompt, so that nothing typed after it is echoed or dropped.
        guard let settings = terminal.silence() else { throw .unavailable }
        defer { terminal.restore(settings) }
        try terminal.show(prompt)
        let line = try terminal.readAnswerLine(limit: Self.lineLimit)
        // The typed line feed was not echoed.
        try terminal.show("\n")
        return line
    }

    /// See `Terminal`.
    package func readAnswer(_ prompt: String) throws(TerminalFailure) -> String {
        let terminal = try Opened()
        defer { terminal.close() }
        try terminal.show(prompt)
        let line = try terminal.readAnswerLine(limit: Self.lineLimit)
        return line.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
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
            // A signal may have arrived during long work; then nothing is asked.
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

        /// Switches the echo off; nil if the terminal does not support it.
        func silence() -> termios? {
            var settings = termios()
            guard unsafe tcgetattr(descriptor.number, &settings) == 0 else { return nil }
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            // After Ctrl-Z, a shell that resumes the process switches the echo on, in the middle of the secret.
            // The array c_cc[VSUSP] of <termios.h> is a tuple here; 0 is _POSIX_VDISABLE, which is not imported.
            silent.c_cc.10 = 0
            // Drops what was typed before the prompt: it was not meant as the answer.
            guard unsafe tcsetattr(descriptor.number, TCSAFLUSH, &silent) == 0 else { return nil }
            return settings
        }

        func restore(_ settings: termios) {
            var settings = settings
            unsafe tcsetattr(descriptor.number, TCSAFLUSH, &settings)
        }

        /// Reads the answer to a prompt; where none came, ends the prompt's line, so that an error has a line of its own.
        func readAnswerLine(limit: Int) throws(TerminalFailure) -> SecretBytes {
            do throws(TerminalFailure) {
                return try readLine(limit: limit)
            } catch {
                // If the line feed fails too, the first error is still the one to report.
                try? show("\n")
                throw error
            }
        }

        /// Reads up to a line feed, which is dropped.
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
