import Foundation
import Synchronization

/// Runs `body` on real threads at the same time, each with its number, and returns when all are done.
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

/// What many threads were told, and how often.
package final class Tally<Value: Hashable & Sendable>: Sendable {
    private let counts = Mutex<[Value: Int]>([:])

    /// Nothing yet.
    package init() {}

    /// Counts one more of `value`, if `condition` holds.
    package func count(_ value: Value, when condition: Bool = true) {
        if condition { counts.withLock { $0[value, default: 0] += 1 } }
    }

    /// How often each value came.
    package var result: [Value: Int] { counts.withLock { $0 } }
}
