internal import Foundation

/// A lock whose waiting threads get it in the order in which they came.
///
/// The system's lock goes to whichever thread is running, and with many of them one may wait for seconds.
final class FairLock: Sendable {
    private let condition = NSCondition()
    // Changed under the condition.
    nonisolated(unsafe) private var next = 0
    nonisolated(unsafe) private var served = 0

    /// Runs `body` while no other thread does.
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
