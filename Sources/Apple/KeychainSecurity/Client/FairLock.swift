internal import Foundation

/// A lock that serves waiting threads in order of arrival.
///
/// The system's lock goes to whichever thread is running; under contention, one thread may wait for seconds.
final class FairLock: Sendable {
    private let condition = NSCondition()
    // Guarded by the condition's lock.
    nonisolated(unsafe) private var next = 0
    nonisolated(unsafe) private var served = 0

    /// Runs `body` under the lock.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        condition.lock()
        let ticket = unsafe next
        unsafe next += 1
        while unsafe served != ticket { condition.wait() }
        condition.unlock()
        defer {
            condition.lock()
            unsafe served += 1
            condition.broadcast()
            condition.unlock()
        }
        return try body()
    }
}
