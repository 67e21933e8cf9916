internal import Glibc

/// A thread that works alongside its owner; releasing it waits until the work is done.
package final class BackgroundThread: Sendable {
    private let thread: pthread_t

    private final class Work {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread that runs `run`; nil if the system cannot create one.
    ///
    /// - Parameter stackSize: the stack size in bytes, small by default because little address space may be left.
    package init?(stackSize: Int = 262_144, _ run: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        guard unsafe pthread_attr_init(&attributes) == 0 else { return nil }
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        // Signals must reach the main thread, whose system calls they interrupt. A thread inherits its creator's signal
        // mask.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = unsafe Unmanaged.passRetained(Work(run))
        var made = pthread_t()
        let code = unsafe pthread_create(
            &made, &attributes,
            { work in
                if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            unsafe work.release()
            return nil
        }
        thread = made
    }

    deinit {
        // Fails only if the thread was already joined.
        _ = pthread_join(thread, nil)
    }
}

/// A counter that one thread increments and another waits for.
@safe package final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// Starts with `count`, which is not negative.
    package init(_ count: UInt32 = 0) {
        unsafe semaphore = .allocate(capacity: 1)
        // Fails only for an invalid value.
        _ = unsafe sem_init(semaphore, 0, count)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Adds one.
    package func signal() {
        _ = unsafe sem_post(semaphore)
    }

    /// Waits until the count is positive, then takes one.
    package func wait() {
        while unsafe sem_wait(semaphore) != 0 {
            precondition(errno == EINTR, "a semaphore that cannot be waited for")
        }
    }

    /// Waits until the count is positive, then takes one; false if `limit` is over before.
    ///
    /// The limit is one of the system's clock: if that is set meanwhile, the wait takes longer or shorter.
    package func wait(atMost limit: Duration) -> Bool {
        var end = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &end)
        let (seconds, attoseconds) = (Duration.nanoseconds(end.tv_nsec) + limit).components
        end.tv_sec += Int(seconds)
        end.tv_nsec = Int(attoseconds / 1_000_000_000)
        while unsafe sem_timedwait(semaphore, &end) != 0 {
            if errno == ETIMEDOUT { return false }
            precondition(errno == EINTR, "a semaphore that cannot be waited for")
        }
        return true
    }
}
