import Synchronization
package import Testing

/// Adds a row of `make proof` for a test that does not count its trials itself.
package struct ProofRowTrait: TestTrait, TestScoping {
    fileprivate let name: String
    fileprivate let trials: Int
    fileprivate let seed: UInt64?

    /// Runs a case of the test and counts its trials; an issue makes the last of them a failure.
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let proof = ProofCount(name, seed: seed)
        let isBroken = Mutex(false)
        let watching = IssueHandlingTrait.compactMapIssues { issue in
            isBroken.withLock { $0 = true }
            return issue
        }
        // An error that the test throws becomes an issue outside this scope.
        var thrown: (any Error)?
        do {
            try await watching.provideScope(for: test, testCase: testCase, performing: function)
        } catch {
            thrown = error
        }
        for _ in 1..<trials { proof.add() }
        proof.add(thrown != nil || isBroken.withLock { $0 } ? 1 : 0)
        try proof.record()
        if let thrown { throw thrown }
    }
}

extension Trait where Self == ProofRowTrait {
    /// A row of `make proof`: the trials of all cases are added up.
    ///
    /// - Parameters:
    ///   - name: the first column of the row.
    ///   - trials: how many a case has.
    ///   - seed: what the trials were chosen by, if it is one for all cases.
    package static func proofRow(_ name: String, trials: Int, seed: UInt64? = nil) -> Self {
        Self(name: name, trials: trials, seed: seed)
    }
}
