// Fence: starts a thread.
internal import CKCSystem
internal import Glibc

/// Work that is done after a delay, unless it is cancelled before.
package enum Later {
    /// Does `work` on a thread of its own after `delay`; does nothing if no thread can be started.
    ///
    /// - Returns: a function that cancels the work; `work` may have begun.
    package static func start(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return {} }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let parts = delay.components
        let task = Task(
            descriptor: reading,
            milliseconds: Int32(clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000),
            work: work)
        // Signals are for the main thread, whose system calls they interrupt.
        var all = sigset_t()
        unsafe sigfillset(&all)
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let retained = unsafe Unmanaged.passRetained(task)
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context { unsafe Unmanaged<Task>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            for end in ends { _ = close(end) }
            return {}
        }
        pthread_detach(thread)
        return { _ = close(writing) }
    }

    private final class Task: Sendable {
        private let descriptor: Int32
        private let milliseconds: Int32
        private let work: @Sendable () -> Void

        init(descriptor: Int32, milliseconds: Int32, work: @escaping @Sendable () -> Void) {
            self.descriptor = descriptor
            self.milliseconds = milliseconds
            self.work = work
        }

        /// Waits until the pipe is closed, but no longer than the delay.
        func run() {
            var events = pollfd(fd: descriptor, events: 0, revents: 0)
            if unsafe poll(&events, 1, milliseconds) == 0 { work() }
            _ = close(descriptor)
        }
    }
}
