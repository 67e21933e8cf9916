// Fence: switches the echo of the terminal off and on, also in signal handlers.
internal import CKCSystem
internal import Glibc
internal import KCByteStreams

/// The echo of the controlling terminal, which is off while secrets are typed and checked.
///
/// Whatever ends or suspends the process meanwhile, the shell must find the terminal as it was. The state that the
/// signal handlers read is in memory that is allocated before the first of them is installed, and they call nothing but
/// functions that are async-signal-safe (signal-safety(7)).
enum TerminalEcho {
    private struct State {
        /// The terminal, while the echo is off.
        var descriptor: Int32 = -1
        /// The settings to restore.
        var original = termios()
        /// The same without echo.
        var silent = termios()
        /// True if the terminal has the silent settings.
        var isSilent = false
        /// False while a question is asked whose answer is to be seen.
        var wantsSilence = false
        /// The number of calls of `begin` without one of `end`.
        var depth = 0
    }

    private static let path = "/dev/tty"
    /// The signals that end a process, and leave no time for anything else.
    private static let deadly = [
        SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, SIGALRM, SIGPROF, SIGUSR1, SIGUSR2,
        SIGVTALRM, SIGXCPU,
    ]

    private nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        return unsafe state
    }()
    /// The previous actions of the signals.
    private nonisolated(unsafe) static var before: [(number: Int32, action: sigaction)] = []

    /// True between `begin` and `end`.
    static var isOff: Bool { unsafe state.pointee.depth > 0 }

    /// Turns the echo off, and discards what was typed before.
    ///
    /// - Parameter keepsInput: true to keep what was typed while the echo was off.
    static func begin(keepsInput: Bool = false) throws(TerminalFailure) {
        if Interruption.isRequested { throw .interrupted }
        if isOff {
            if !keepsInput { try change(toSilent: true) }
        } else {
            try open()
            for number in [SIGTSTP, SIGCONT] + deadly { catchSignal(number) }
            do throws(TerminalFailure) {
                try change(toSilent: true)
            } catch {
                close()
                throw error
            }
        }
        unsafe state.pointee.depth += 1
    }

    /// Restores the terminal, unless an outer `begin` has no `end` yet, and discards what was typed meanwhile.
    static func end() {
        unsafe state.pointee.depth -= 1
        if isOff { return }
        restore()
        close()
    }

    /// Turns the echo on for `body`, if it is off, and discards what was typed before.
    static func shown<Result: ~Copyable>(
        _ body: () throws(TerminalFailure) -> Result
    ) throws(TerminalFailure) -> Result {
        guard isOff, unsafe state.pointee.wantsSilence else { return try body() }
        try change(toSilent: false)
        // If the terminal is gone, whatever needs it next says so.
        defer { try? change(toSilent: true) }
        return try body()
    }

    private static func open() throws(TerminalFailure) {
        let number = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw .unavailable }
        guard unsafe tcgetattr(number, &state.pointee.original) == 0 else {
            _ = Glibc.close(number)
            throw .unavailable
        }
        unsafe state.pointee.silent = state.pointee.original
        unsafe state.pointee.silent.c_lflag &= ~tcflag_t(ECHO)
        unsafe state.pointee.descriptor = number
    }

    private static func close() {
        for (number, action) in unsafe before {
            var action = action
            _ = unsafe sigaction(number, &action, nil)
        }
        unsafe before = []
        _ = Glibc.close(unsafe state.pointee.descriptor)
        unsafe state.pointee.descriptor = -1
    }

    /// Changes the settings, and discards earlier input, which was not meant as the next answer.
    private static func change(toSilent isSilent: Bool) throws(TerminalFailure) {
        unsafe state.pointee.wantsSilence = isSilent
        // Before the change, so that a signal in between restores the terminal once too often rather than never.
        if isSilent { unsafe state.pointee.isSilent = true }
        // A background process is stopped here; when it continues, the call fails with EINTR.
        while unsafe !set(isSilent ? state.pointee.silent : state.pointee.original) {
            guard errno == EINTR else { throw .unavailable }
            if Interruption.isRequested { throw .interrupted }
        }
        if !isSilent { unsafe state.pointee.isSilent = false }
    }

    // From here on, what signal handlers call too.

    private static func set(_ settings: termios) -> Bool {
        var settings = settings
        return unsafe tcsetattr(state.pointee.descriptor, TCSAFLUSH, &settings) == 0
    }

    /// In the background, the terminal belongs to another process, and its settings are not ours to change.
    private static var isInForeground: Bool { tcgetpgrp(unsafe state.pointee.descriptor) == getpgrp() }

    private static func restore() {
        guard unsafe state.pointee.isSilent, isInForeground else { return }
        // No other settings are known to try if this fails.
        _ = unsafe set(state.pointee.original)
        unsafe state.pointee.isSilent = false
    }

    private static func silenceAgain() {
        guard unsafe state.pointee.wantsSilence, isInForeground else { return }
        unsafe state.pointee.isSilent = true
        _ = unsafe set(state.pointee.silent)
    }

    /// Catches a signal, unless the parent process had it ignored.
    private static func catchSignal(_ number: Int32) {
        var action = sigaction()
        _ = unsafe sigaction(number, nil, &action)
        let ignored = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        if unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == ignored { return }
        unsafe before.append((number, action))
        action = sigaction()
        // A check that runs meanwhile must not fail because of a signal that does not concern it.
        action.sa_flags = SA_RESTART
        unsafe action.__sigaction_handler.sa_handler = { TerminalEcho.handle($0) }
        _ = unsafe sigaction(number, &action, nil)
    }

    private static func handle(_ number: Int32) {
        let code = errno
        switch number {
        case SIGCONT:
            // The shell that continues a process may have turned the echo on.
            silenceAgain()
        case SIGTSTP:
            restore()
            act(on: number)
            silenceAgain()
        default:
            restore()
            act(on: number)
        }
        errno = code
    }

    /// Performs the signal's default action; returns when the process is continued.
    private static func act(on number: Int32) {
        var standard = sigaction()
        unsafe standard.__sigaction_handler.sa_handler = SIG_DFL
        var ours = sigaction()
        _ = unsafe sigaction(number, &standard, &ours)
        var one = sigset_t()
        unsafe sigemptyset(&one)
        unsafe sigaddset(&one, number)
        var masked = sigset_t()
        unsafe sigprocmask(SIG_UNBLOCK, &one, &masked)
        raise(number)
        unsafe sigprocmask(SIG_SETMASK, &masked, nil)
        _ = unsafe sigaction(number, &ours, nil)
    }
}
