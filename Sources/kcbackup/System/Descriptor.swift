// Fence: reads and writes descriptors that somebody else opened, such as standard output.
internal import ByteStreams
internal import Glibc

/// A descriptor that this program did not open and does not close.
struct Descriptor: Sendable {
    let number: Int32

    static let standardInput = Descriptor(number: 0)
    static let standardOutput = Descriptor(number: 1)
    static let standardError = Descriptor(number: 2)

    /// True when it leads to a terminal.
    var isTerminal: Bool { isatty(number) == 1 }

    /// True when the caller opened it: what this program opens is closed on `exec`, and nobody else's to name.
    var isInherited: Bool {
        let flags = fcntl(number, F_GETFD)
        return flags != -1 && flags & FD_CLOEXEC == 0
    }

    /// How many columns its terminal has; nil where there is none or it does not say.
    var width: Int? {
        var size = winsize()
        guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all of `bytes`, also after a signal asked the process to stop: the last message is to be seen.
    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
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
    /// - Throws: `StreamFailure`: `interrupted` when a signal asks the process to stop, `system`.
    func read(upTo limit: Int, into bytes: inout SecretBytes) throws(StreamFailure) {
        // A signal that came during long work is not to wait for the next line that somebody types.
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        let number = self.number
        var code: Int32 = 0
        bytes.append(upTo: limit) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                guard let start = buffer.baseAddress else { return }
                while true {
                    let received = unsafe Glibc.read(number, start, buffer.count)
                    if received >= 0 {
                        count = received
                        return
                    }
                    code = errno
                    if code != EINTR || Interruption.isRequested { return }
                    code = 0
                }
            }
        }
        if code == EINTR { throw StreamFailure(.reading, .interrupted) }
        if code != 0 { throw StreamFailure(.reading, .system(code)) }
    }
}
