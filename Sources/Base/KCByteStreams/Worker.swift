/// Works on one job at a time alongside its owner, on a thread of its own.
///
/// A job belongs to the worker from `start` to `wait`; semaphores order the accesses to its memory. If the system cannot
/// create a thread, the work is done in `start`.
///
/// ```swift
/// let worker = Worker<Block> { block in block.parse() }
/// worker.start(block)
/// fill(otherBlock)
/// worker.wait()
/// ```
package final class Worker<Job: AnyObject> {
    private let work: Work
    private var thread: BackgroundThread?
    private var isBusy = false

    /// The state that the thread and its owner share.
    private final class Work: @unchecked Sendable {
        let isReady = Semaphore()
        let isDone = Semaphore()
        /// The job to be done; nil ends the thread.
        var job: Job?
        let body: (Job) -> Void

        init(_ body: @escaping (Job) -> Void) { self.body = body }

        func run() {
            while true {
                isReady.wait()
                guard let job else { return }
                body(job)
                isDone.signal()
            }
        }
    }

    // In bytes; decoding an item nests some twenty calls.
    private static var stackSize: Int { 524_288 }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - inBackground: false to work in `start`, where there is too little to do for a thread.
    ///   - body: does the work; what it uses belongs to the worker while it is busy.
    package init(inBackground: Bool = true, _ body: @escaping (Job) -> Void) {
        let work = Work(body)
        self.work = work
        thread = inBackground ? BackgroundThread(stackSize: Self.stackSize) { work.run() } : nil
    }

    deinit {
        wait()
        work.job = nil
        work.isReady.signal()
    }

    /// Starts the work on a job, when the one before was waited for.
    package func start(_ job: Job) {
        precondition(!isBusy, "one job at a time")
        guard thread != nil else { return work.body(job) }
        work.job = job
        isBusy = true
        work.isReady.signal()
    }

    /// Waits until the job that was started, if any, is done.
    package func wait() {
        guard isBusy else { return }
        work.isDone.wait()
        isBusy = false
    }
}
