internal import KCByteStreams

/// Work that is done after a delay, unless it is canceled before.
package enum Later {
    /// Does `work` on a thread of its own after `delay`; does nothing if no thread can be started.
    ///
    /// - Returns: a function that cancels the work; `work` may have begun. Releasing it cancels the work too, and waits for
    ///   work that has begun.
    package static func start(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let timer = Timer(delay, work)
        return { timer.cancel() }
    }

    private final class Timer: Sendable {
        private let end = Semaphore()
        private let thread: BackgroundThread?

        init(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
            thread = BackgroundThread { [end] in
                if !end.wait(atMost: delay) { work() }
            }
        }

        deinit { cancel() }

        func cancel() { end.signal() }
    }
}
