// Fence: reads and writes descriptors that were opened elsewhere, such as standard output.
internal import CKCSystem
internal import Glibc
package import KCByteStreams

/// A file descriptor that this program neither opens nor closes.
package struct Descriptor: Sendable {
    /// The descriptor's number.
    package let number: Int32

    /// Standard input.
    package static let standardInput = Descriptor(number: 0)
    /// Standard output, for results.
    package static let standardOutput = Descriptor(number: 1)
    /// Standard error, for messages.
    package static let standardError = Descriptor(number: 2)

    /// Creates an instance for a descriptor number.
    package init(number: Int32) {
        self.number = number
    }

    /// True if it is a terminal.
    package var isTerminal: Bool { isatty(number) == 1 }

    /// True if it was inherited from the caller: what this program opens is close-on-exec.
    package var isInherited: Bool {
        let flags = fcntl(number, F_GETFD)
        return flags != -1 && flags & FD_CLOEXEC == 0
    }

    /// The number of columns of the terminal; nil if the descriptor is not a terminal or the number is unknown.
    package var width: Int? {
        var size = winsize()
        guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all of `bytes`, even after a signal asked the process to stop, so that the last message is printed.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        let number = self.number
        let code: Int32 = unsafe bytes.withUnsafeBufferPointer { buffer in
            var written = 0
            while written < buffer.count {
                guard let start = buffer.baseAddress else { return 0 }
                let count = unsafe Glibc.write(number, start + written, buffer.count - written)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return count == 0 ? EIO : errno }
                written += count
            }
            return 0
        }
        if code != 0 { throw StreamFailure(.writing, .system(code)) }
    }

    /// Appends at most `limit` bytes; appends nothing at the end.
    ///
    /// - Throws: `StreamFailure`: `interrupted` if a signal asks the process to stop, `system`.
    package func read(upTo limit: Int, into bytes: inout SecretBytes) throws(StreamFailure) {
        try bytes.append(upTo: limit) { output throws(StreamFailure) in try read(into: &output) }
    }

    /// Appends at most as many bytes as `output` has room for; appends nothing at the end.
    ///
    /// - Throws: `StreamFailure`: `interrupted` when a signal asks the process to stop, `system`.
    package func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try waitForInput()
        let number = self.number
        var code: Int32 = 0
        unsafe output.withUnsafeMutableBufferPointer { buffer, count in
            guard let start = buffer.baseAddress else { return }
            let received = unsafe Glibc.read(number, start + count, buffer.count - count)
            if received < 0 { code = errno } else { count += received }
        }
        if code == EINTR || Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        if code != 0 { throw StreamFailure(.reading, .system(code)) }
    }

    /// Waits for input, the end, or a signal that asks the process to stop.
    ///
    /// Signals are blocked between checking the flag and waiting. Otherwise a signal that arrives in between would be
    /// missed, and the wait could last forever.
    private func waitForInput() throws(StreamFailure) {
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for signal in Interruption.signals + TerminalSignals.numbers { unsafe sigaddset(&held, signal) }
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        while !Interruption.isRequested, !TerminalSignals.isPending {
            if unsafe csystem_wait_for_input(number, &before) > 0 { return }
            if errno != EINTR { throw StreamFailure(.reading, .system(errno)) }
        }
        throw StreamFailure(.reading, .interrupted)
    }
}

/// A destination for text.
package protocol TextOutput: Sendable {
    /// Writes all of `bytes`.
    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure)
}

extension Descriptor: TextOutput {}
extension Descriptor: ByteSource {}
