import Foundation
import Synchronization

/// Runs `body` on `count` threads at the same time, passing each its number, and returns when all have finished.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let done = DispatchGroup()
    for number in 0..<count {
        done.enter()
        let thread = Thread {
            body(number)
            done.leave()
        }
        thread.start()
    }
    done.wait()
}

/// Counts the values that threads report.
package final class Tally<Value: Hashable & Sendable>: Sendable {
    private let counts = Mutex<[Value: Int]>([:])

    /// Creates an empty tally.
    package init() {}

    /// Counts `value` once more if `condition` holds.
    package func count(_ value: Value, when condition: Bool = true) {
        if condition { counts.withLock { $0[value, default: 0] += 1 } }
    }

    /// How often each value was counted.
    package var result: [Value: Int] { counts.withLock { $0 } }
}
