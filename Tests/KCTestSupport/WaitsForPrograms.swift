import Foundation
package import Testing

extension Trait where Self == WaitsForPrograms {
    /// The tests of the suite run on threads that may wait for other programs.
    ///
    /// ``ExternalProgram/run(_:_:input:environment:in:seconds:)`` refuses to run in other tests.
    package static var waitsForPrograms: Self { Self() }
}

/// Moves tests off Swift's pool of threads, which has one thread for each processor: a thread that waits for a program
/// would keep other tests from running.
package struct WaitsForPrograms: SuiteTrait, TestTrait, TestScoping {
    /// True within a test that has the trait.
    @TaskLocal static var isInForce = false

    /// True: the trait of a suite holds for its tests.
    package var isRecursive: Bool { true }

    /// Runs a test on a thread that may wait.
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$isInForce.withValue(true) {
            try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
        }
    }

    /// Throws in a test without the trait; conditions of suites and threads of their own may wait.
    static func check() throws {
        guard isInForce || Test.Case.current == nil else { throw Missing() }
    }

    /// A test waits for a program without the trait.
    struct Missing: Error, CustomStringConvertible {
        var description: String { "this test runs a program: give its suite the trait .waitsForPrograms" }
    }
}

/// Threads that may wait for programs, at most six.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()
    private let queue = OperationQueue()

    init() { queue.maxConcurrentOperationCount = 6 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
