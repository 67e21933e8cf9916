internal import KCByteStreams
internal import Synchronization

/// A piece of plaintext to be compressed.
///
/// A segment belongs to the thread that fills and empties it, except from `Lane.take` until `wait()` returns, when it
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

    /// Returns the segment to its owner; called by the lane.
    func giveBack() { isDone.signal() }

    /// Waits for the lane to return the segment.
    func wait() {
        guard isInLane else { return }
        isDone.wait()
        isInLane = false
    }
}

/// A compressor whose thread processes segments one at a time.
///
/// If the system cannot create a thread, the lane works on the caller's thread.
final class Lane {
    private let deflater: Deflater
    private let inbox = Inbox()
    private var thread: BackgroundThread?
    private var isRefused = false

    /// State shared by the thread and its owner; it keeps both alive until the thread has ended.
    private final class Inbox: Sendable {
        let segments = Mutex<[Segment]>([])
        let filled = Semaphore()
    }

    /// The thread's data; once the thread has started, only the thread uses the compressor.
    private final class Work: @unchecked Sendable {
        let deflater: Deflater
        let inbox: Inbox

        init(_ deflater: Deflater, _ inbox: Inbox) {
            self.deflater = deflater
            self.inbox = inbox
        }

        /// Processes segments until the inbox is signaled while empty.
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

    init(_ deflater: Deflater) {
        self.deflater = deflater
    }

    deinit {
        inbox.filled.signal()
    }

    /// Compresses a segment, in the background if there is a thread; the segment's `wait()` returns once it is done.
    func take(_ segment: Segment) {
        guard startThread() else {
            segment.compress(with: deflater)
            return
        }
        segment.handOver()
        inbox.segments.withLock { $0.append(segment) }
        inbox.filled.signal()
    }

    /// Compresses a segment on the caller's thread; allowed only before `take` is first called.
    func compressHere(_ segment: Segment) {
        precondition(thread == nil, "the thread has the compressor")
        segment.compress(with: deflater)
    }

    /// True if there is a thread; once the system has refused one, no other attempt is made.
    private func startThread() -> Bool {
        if thread != nil { return true }
        if isRefused { return false }
        let work = Work(deflater, inbox)
        thread = BackgroundThread { work.run() }
        isRefused = thread == nil
        return !isRefused
    }
}
