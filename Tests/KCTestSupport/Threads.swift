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

/// `body` did not end within a minute.
package struct Endless: Error {}

/// Runs `body` on a thread of its own.
///
/// - Throws: `Endless` after a minute. The thread is left behind, so that an endless wait fails one test and does not hang
///   the run; what `body` throws.
package func endingWithinAMinute<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let outcome = Outcome<Value>()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        outcome.result.withLock { $0 = Result { try body() } }
        done.signal()
    }
    thread.start()
    guard done.wait(timeout: .now() + 60) == .success, let result = outcome.result.withLock({ $0 }) else {
        throw Endless()
    }
    return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
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
