// Fence: reads and sets signals, the file mode mask and the environment.
internal import CKCSystem
internal import Glibc
internal import Synchronization

/// The state that the caller of this process gave it and `ProcessSetup` changes, for a command that takes its place.
///
/// Core dumps stay off: the limit cannot be raised again, and the command has secrets too.
enum Inheritance {
    @safe private struct State: @unchecked Sendable {
        var mask: mode_t
        /// Where the kernel has put the variables, which nothing overwrites.
        var variables: [UnsafeMutablePointer<CChar>]
        var blocked: sigset_t
        /// True if standard input was closed.
        var isInputClosed: Bool
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
        let recorded = unsafe State(
            mask: mask, variables: current(), blocked: blocked,
            isInputClosed: fcntl(0, F_GETFD) == -1, signals: signals.map { ($0, isIgnored($0)) })
        state.withLock { $0 = recorded }
    }

    /// The variables of the caller as they were, which need not be UTF-8: libraries are kept from writing logs by others.
    static var variables: [UnsafeMutablePointer<CChar>] {
        unsafe state.withLock { unsafe $0?.variables } ?? current()
    }

    private static func current() -> [UnsafeMutablePointer<CChar>] {
        var variables: [UnsafeMutablePointer<CChar>] = unsafe []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe variables.append(variable)
            unsafe next += 1
        }
        return unsafe variables
    }

    /// Restores the signals and the mask that were noted; nothing if nothing was.
    ///
    /// Closed outputs stay as they are, so that writing to them still fails.
    ///
    /// - Parameter emptiesInput: true to put an empty standard input in the place of a closed one: what `ProcessSetup` opened
    ///   there cannot be read.
    static func restore(emptiesInput: Bool) {
        guard var state = state.withLock({ $0 }) else { return }
        for (number, isIgnored) in state.signals { _ = signal(number, isIgnored ? SIG_IGN : SIG_DFL) }
        umask(state.mask)
        if state.isInputClosed, emptiesInput {
            let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            if nothing >= 0 {
                dup2(nothing, 0)
                close(nothing)
            }
        }
        unsafe pthread_sigmask(SIG_SETMASK, &state.blocked, nil)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        _ = unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
