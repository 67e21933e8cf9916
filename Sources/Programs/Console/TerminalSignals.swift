// Fence: catches the signals of the terminal while a person types.
internal import ByteStreams
internal import Glibc
internal import Synchronization

/// The signals that suspend, continue or end the process while it waits for an answer: before they do, the terminal has
/// to be as its shell expects it, and afterwards the question is asked again.
///
/// SIGINT and SIGTERM are those of `Interruption`.
enum TerminalSignals {
    /// The signals; a shell that continues a process may have switched the echo on.
    static let numbers = [SIGTSTP, SIGCONT, SIGQUIT, SIGHUP]
    private static let arrived = Atomic<Int32>(0)

    /// True once one of them arrived.
    static var isPending: Bool { arrived.load(ordering: .relaxed) != 0 }

    /// The signal that arrived last, once; nil if none did.
    static func take() -> Int32? {
        let number = arrived.exchange(0, ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Catches the signals while `body` runs.
    static func caught<Result: ~Copyable>(
        _ body: () throws(TerminalFailure) -> Result
    ) throws(TerminalFailure) -> Result {
        // A static is initialised under a lock on first use, which must not happen inside the handler.
        _ = take()
        let before = numbers.map(install)
        defer {
            for (number, var action) in zip(numbers, before) { _ = unsafe sigaction(number, &action, nil) }
        }
        return try body()
    }

    /// Does what the signal does by default; returns when the process is continued.
    static func deliver(_ number: Int32) {
        var standard = sigaction()
        unsafe standard.__sigaction_handler.sa_handler = SIG_DFL
        var ours = sigaction()
        _ = unsafe sigaction(number, &standard, &ours)
        raise(number)
        _ = unsafe sigaction(number, &ours, nil)
        // The one that continued the process is answered by asking again, as for every other.
        _ = take()
    }

    /// Catches a signal, unless the caller of the program had it ignored; returns what was done about it before.
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
