internal import ByteStreams
internal import Glibc
internal import Synchronization

/// A piece of plaintext on its way through a compressor.
///
/// It belongs to the thread that fills and empties it, except between `Lane.take` and the end of `wait()`, when it
/// belongs to the lane. Semaphores order the memory accesses on both sides of each handover.
final class Segment: @unchecked Sendable {
    var plaintext: SecretBytes
    var compressed: SecretBytes
    var failure: StreamFailure?
    private let isDone = Semaphore()
    private var isInLane = false

    init(size: Int) {
        plaintext = SecretBytes(capacity: size)
        compressed = SecretBytes(capacity: 0)
    }

    func compress(with deflater: Deflater) {
        do { try deflater.compress(plaintext, into: &compressed) } catch { failure = error }
    }

    /// Hands the segment over to a lane, until `giveBack`.
    func handOver() { isInLane = true }

    /// Ends the lane's work; called by the lane.
    func giveBack() { isDone.signal() }

    /// Waits for the lane to return the segment.
    func wait() {
        guard isInLane else { return }
        isDone.wait()
        isInLane = false
    }
}

/// A compressor with a thread that processes segments one at a time, or on the caller's thread if the system cannot
/// create another.
final class Lane {
    private let deflater: Deflater
    private let inbox = Inbox()
    private var thread: pthread_t?
    private var isRefused = false

    /// State shared by the thread and its owner; it keeps both alive until the thread has ended.
    private final class Inbox: Sendable {
        let segments = Mutex<[Segment]>([])
        let filled = Semaphore()
    }

    /// What the thread is given.
    private final class Work {
        let deflater: Deflater
        let inbox: Inbox

        init(_ deflater: Deflater, _ inbox: Inbox) {
            self.deflater = deflater
            self.inbox = inbox
        }

        /// Processes segments until the inbox is signalled with nothing in it.
        func run() {
            while true {
                inbox.filled.wait()
                let next = inbox.segments.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                guard let next else { return }
                next.compress(with: deflater)
                next.giveBack()
            }
        }
    }

    // In bytes. zlib allocates on the heap, and there may be little address space left.
    private static let stackSize = 262_144

    init(_ deflater: Deflater) {
        self.deflater = deflater
    }

    deinit {
        guard let thread else { return }
        inbox.filled.signal()
        // Fails only for a thread that was already joined.
        _ = pthread_join(thread, nil)
    }

    /// Compresses a segment, in the background if there is a thread; its `wait()` returns when it is done.
    func take(_ segment: Segment) {
        guard startThread() else {
            segment.compress(with: deflater)
            return
        }
        segment.handOver()
        inbox.segments.withLock { $0.append(segment) }
        inbox.filled.signal()
    }

    /// Compresses a segment on this thread; only before `take` was called.
    func compressHere(_ segment: Segment) {
        precondition(thread == nil, "the thread has the compressor")
        segment.compress(with: deflater)
    }

    /// True if there is a thread; after a refusal no other is created.
    private func startThread() -> Bool {
        if thread != nil { return true }
        if isRefused { return false }
        var attributes = pthread_attr_t()
        guard unsafe pthread_attr_init(&attributes) == 0 else { return false }
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, Self.stackSize)
        // Signals are for the main thread, whose system calls they interrupt; a thread inherits the mask of its
        // creator.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = unsafe Unmanaged.passRetained(Work(deflater, inbox))
        var made = pthread_t()
        let code = unsafe pthread_create(
            &made, &attributes,
            { work in
                if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            unsafe work.release()
            isRefused = true
            return false
        }
        thread = made
        return true
    }
}

/// A counter that one thread increments and another waits for.
@safe private final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        // Fails only for an invalid value.
        _ = unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func signal() {
        _ = unsafe sem_post(semaphore)
    }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 {
            precondition(errno == EINTR, "a semaphore that cannot be waited for")
        }
    }
}
