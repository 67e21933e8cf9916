// Fence: reads and sets signals and the file mode mask.
internal import CKCSystem
internal import Glibc
internal import Synchronization

/// What the caller of this process gave it and `ProcessSetup` changes, for a command that takes its place.
///
/// Core dumps stay off: the limit cannot be raised again, and the command has secrets too.
enum Inheritance {
    private struct State {
        var mask: mode_t
        var blocked: sigset_t
        /// The signals that `ProcessSetup` changes, and whether each was ignored.
        var signals: [(number: Int32, isIgnored: Bool)]
    }

    private static let state = Mutex<State?>(nil)

    /// Notes what the process has now.
    static func record(signals: [Int32]) {
        let mask = umask(0)
        umask(mask)
        var blocked = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
        let recorded = State(mask: mask, blocked: blocked, signals: signals.map { ($0, isIgnored($0)) })
        state.withLock { $0 = recorded }
    }

    /// Restores what was noted; nothing if nothing was.
    static func restore() {
        guard var state = state.withLock({ $0 }) else { return }
        for (number, isIgnored) in state.signals { _ = signal(number, isIgnored ? SIG_IGN : SIG_DFL) }
        umask(state.mask)
        unsafe pthread_sigmask(SIG_SETMASK, &state.blocked, nil)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        _ = unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
