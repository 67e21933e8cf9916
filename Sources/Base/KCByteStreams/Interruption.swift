internal import Glibc
internal import Synchronization

/// Whether a signal has asked the process to stop; file reads and writes check it once per piece.
package enum Interruption {
    private static let signalNumber = Atomic<Int32>(0)

    /// True once SIGINT or SIGTERM has arrived.
    package static var isRequested: Bool { signalNumber.load(ordering: .relaxed) != 0 }

    /// The signal that arrived, or 0.
    package static var signal: Int32 { signalNumber.load(ordering: .relaxed) }

    /// Catches SIGINT and SIGTERM from now on; blocking system calls return early (no `SA_RESTART`).
    package static func catchSignals() {
        // A static is initialized under a lock on first use, which must not happen inside the handler.
        _ = isRequested
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { Interruption.request($0) }
            _ = unsafe sigaction(number, &action, nil)
        }
    }

    /// Records that `signal` arrived; async-signal-safe.
    ///
    /// Zero clears an earlier signal (for tests).
    package static func request(_ signal: Int32) {
        signalNumber.store(signal, ordering: .relaxed)
    }
}
