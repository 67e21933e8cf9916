// Fence: catches terminal signals while the user types.
internal import CKCSystem
internal import Glibc
internal import KCByteStreams
internal import Synchronization

/// The signals that suspend, continue or end the process while it waits for an answer.
///
/// Before the signal takes effect, the terminal must be restored to the state that the shell expects; afterwards, the
/// question is asked again. `Interruption` handles those that ask the process to stop.
enum TerminalSignals {
    /// The signals, including SIGCONT, because a shell that continues a process may have turned the echo on.
    static let numbers = [SIGTSTP, SIGCONT, SIGQUIT]
    private static let arrived = Atomic<Int32>(0)

    /// True if one of the signals has arrived.
    static var isPending: Bool { arrived.load(ordering: .relaxed) != 0 }

    /// Returns the signal that arrived last and clears it; nil if none has arrived.
    static func take() -> Int32? {
        let number = arrived.exchange(0, ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Catches the signals while `body` runs.
    static func caught<Result: ~Copyable>(
        _ body: () throws(TerminalFailure) -> Result
    ) throws(TerminalFailure) -> Result {
        // A static property is initialized under a lock on first use, which must not happen inside the signal handler.
        _ = take()
        let before = numbers.map(install)
        defer {
            for (number, var action) in zip(numbers, before) { _ = unsafe sigaction(number, &action, nil) }
        }
        return try body()
    }

    /// Performs the signal's default action, with the terminal as the shell expects it; returns when the process is
    /// continued.
    ///
    /// - Throws: `TerminalFailure` if the terminal cannot be changed.
    static func deliver(_ number: Int32) throws(TerminalFailure) {
        try TerminalEcho.shown { () throws(TerminalFailure) in
            var standard = sigaction()
            unsafe standard.__sigaction_handler.sa_handler = SIG_DFL
            var ours = sigaction()
            _ = unsafe sigaction(number, &standard, &ours)
            raise(number)
            _ = unsafe sigaction(number, &ours, nil)
        }
        // Drop the SIGCONT that continued the process: the question is asked again anyway.
        _ = take()
    }

    /// Catches a signal, unless the parent process had it ignored; returns the previous action.
    private static func install(_ number: Int32) -> sigaction {
        var before = sigaction()
        _ = unsafe sigaction(number, nil, &before)
        let ignored = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        if unsafe unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == ignored { return before }
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { TerminalSignals.arrived.store($0, ordering: .relaxed) }
        _ = unsafe sigaction(number, &action, nil)
        return before
    }
}
