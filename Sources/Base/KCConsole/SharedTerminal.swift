// Fence: switches the echo of the terminal off in a process whose signals belong to another program.
internal import CKCSystem
internal import Glibc
package import KCByteStreams
internal import Synchronization

/// Where the user is asked for secrets.
package protocol SecretTerminal: Sendable {
    /// True if there is a user who can be asked.
    var isAttended: Bool { get }

    /// Runs `body`, which asks for secrets and checks them; nothing that is typed meanwhile is shown.
    ///
    /// Text that is typed while nothing is asked is discarded.
    ///
    /// - Parameter ask: shows a prompt and reads a line.
    /// - Throws: `TerminalFailure`, and what `body` throws.
    func askSecrets<Result: ~Copyable>(
        _ body: (_ ask: (String) throws(TerminalFailure) -> SecretBytes) throws -> Result
    ) throws -> Result
}

/// The controlling terminal of a program that uses a library of this package.
///
/// Such a program has its own signal handlers, and asks on any thread. While a secret is typed, signals that end or
/// suspend the process restore the terminal first, and then do what the program wants of them, as with readpassphrase(3).
/// The terminal is used only while the process is in the foreground, and by one thread at a time.
package struct SharedTerminal: SecretTerminal {
    /// Creates an instance; the terminal is opened when it is used.
    package init() {}

    /// True if the process is in the foreground of a terminal.
    package var isAttended: Bool {
        guard let terminal = OpenTerminal() else { return false }
        return terminal.isInForeground
    }

    /// See `SecretTerminal`.
    package func askSecrets<Result: ~Copyable>(
        _ body: (_ ask: (String) throws(TerminalFailure) -> SecretBytes) throws -> Result
    ) throws -> Result {
        try Self.turn.withLock { _ in
            guard let terminal = OpenTerminal() else { throw TerminalFailure.unavailable }
            let silence = try Silence(terminal)
            defer { silence.end() }
            return try body { (prompt) throws(TerminalFailure) in try silence.ask(prompt) }
        }
    }

    /// Held by the thread that asks.
    private static let turn = Mutex(())
}

/// The controlling terminal, opened.
private final class OpenTerminal {
    let descriptor: Descriptor

    init?() {
        let number = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(number: number)
    }

    deinit { close(descriptor.number) }

    /// A process in the background must neither read nor change the terminal.
    var isInForeground: Bool { tcgetpgrp(descriptor.number) == getpgrp() }
}

/// The terminal without echo, and the signals that restore it.
private final class Silence {
    private let terminal: OpenTerminal
    private var original = termios()
    private var before: [(number: Int32, action: sigaction)] = []

    // The terminal's limit for one line (termios(3), canonical mode).
    private static let lineLimit = 4_096
    /// The signals that end or suspend a process at its terminal, or from elsewhere.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGALRM, SIGUSR1, SIGUSR2]

    init(_ terminal: OpenTerminal) throws(TerminalFailure) {
        self.terminal = terminal
        guard unsafe tcgetattr(terminal.descriptor.number, &original) == 0 else { throw .unavailable }
        try begin()
    }

    /// Asks until there is a line; a process that is suspended asks again when it continues in the foreground.
    func ask(_ prompt: String) throws(TerminalFailure) -> SecretBytes {
        while true {
            do throws(StreamFailure) {
                try terminal.descriptor.write(prompt.utf8.span)
            } catch {
                throw .unavailable
            }
            switch try nextLine() {
            case .line(let line): return line
            case .signal(let number):
                end()
                Self.perform(number)
                // A program that survives the others has decided what they mean.
                guard number == SIGTSTP else { throw .interrupted }
                try begin()
            }
        }
    }

    private enum Answer: ~Copyable {
        case line(SecretBytes)
        case signal(Int32)
    }

    private func nextLine() throws(TerminalFailure) -> Answer {
        var line = SecretBytes(capacity: Self.lineLimit)
        defer { try? terminal.descriptor.write("\n".utf8.span) }
        while line.count < Self.lineLimit {
            if let number = try SignalPipe.shared.waitForInput(of: terminal.descriptor.number) {
                return .signal(number)
            }
            let before = line.count
            do throws(StreamFailure) {
                try line.append(upTo: Self.lineLimit - before) { output throws(StreamFailure) in
                    try SignalPipe.read(terminal.descriptor.number, into: &output)
                }
            } catch {
                throw .unavailable
            }
            if line.count == before { throw .closed }
            if line.withBytes({ $0[$0.count - 1] }) == UInt8(ascii: "\n") {
                line.removeLast(1)
                return .line(line)
            }
        }
        throw .lineTooLong(limit: Self.lineLimit)
    }

    /// Turns the echo off, and discards what was typed before.
    private func begin() throws(TerminalFailure) {
        guard terminal.isInForeground else { throw .unavailable }
        SignalPipe.shared.empty()
        for number in Self.signals { catchSignal(number) }
        SilentTerminal.began(terminal.descriptor.number, original)
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO)
        guard unsafe tcsetattr(terminal.descriptor.number, TCSAFLUSH, &silent) == 0 else {
            end()
            throw .unavailable
        }
    }

    /// Restores the terminal and the signals of the program; discards what was typed meanwhile.
    func end() {
        SilentTerminal.restore()
        for (number, action) in before {
            var action = action
            _ = unsafe sigaction(number, &action, nil)
        }
        before = []
    }

    /// Catches a signal, unless the program ignores it.
    private func catchSignal(_ number: Int32) {
        var present = sigaction()
        _ = unsafe sigaction(number, nil, &present)
        let ignored = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        if unsafe unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self) == ignored { return }
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { SignalPipe.arrived($0) }
        unsafe sigemptyset(&action.sa_mask)
        guard unsafe sigaction(number, &action, nil) == 0 else { return }
        before.append((number, present))
    }

    /// Does with a signal what the program wants of it, on this thread and before this returns.
    private static func perform(_ number: Int32) {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, number)
        var previous = sigset_t()
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, &previous)
        raise(number)
        unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)
    }
}

/// Wakes the thread that waits for an answer; signals are handled on any thread.
private struct SignalPipe {
    static let shared = SignalPipe()
    private let reading: Int32
    private let writing: Int32

    private init() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe, signals are seen only when a line has been typed.
        if unsafe pipe(&ends) != 0 { ends = [-1, -1] }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Called by signal handlers: async-signal-safe, since `shared` was made before they were installed.
    static func arrived(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        let code = errno
        _ = unsafe write(shared.writing, &byte, 1)
        errno = code
    }

    /// Forgets earlier signals.
    func empty() {
        var byte: UInt8 = 0
        while unsafe Glibc.read(reading, &byte, 1) == 1 {}
    }

    /// Waits until there is input or a signal, which is returned.
    func waitForInput(of descriptor: Int32) throws(TerminalFailure) -> Int32? {
        var sources = [
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&sources, 2, -1)
            if count < 0, errno != EINTR { throw .unavailable }
            var byte: UInt8 = 0
            if unsafe Glibc.read(reading, &byte, 1) == 1 { return Int32(byte) }
            if count > 0, sources[1].revents != 0 { return nil }
        }
    }

    /// Reads what there is.
    static func read(_ descriptor: Int32, into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        var code: Int32 = 0
        unsafe output.withUnsafeMutableBufferPointer { buffer, count in
            guard let start = buffer.baseAddress else { return }
            let received = unsafe Glibc.read(descriptor, start + count, buffer.count - count)
            if received < 0 { code = errno } else { count += received }
        }
        if code != 0 { throw StreamFailure(.reading, .system(code)) }
    }
}

/// Restores the terminal when the process ends with `exit` while a secret is typed.
private enum SilentTerminal {
    private struct State {
        var descriptor: Int32 = -1
        var original = termios()
    }

    private static let state = Mutex(State())
    private static let registration: Bool = atexit { SilentTerminal.restore() } == 0

    static func began(_ descriptor: Int32, _ original: termios) {
        _ = registration
        state.withLock { $0 = State(descriptor: descriptor, original: original) }
    }

    static func restore() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            if tcgetpgrp(state.descriptor) == getpgrp() {
                // No other settings are known to try if this fails.
                _ = unsafe tcsetattr(state.descriptor, TCSAFLUSH, &state.original)
            }
            state.descriptor = -1
        }
    }
}
