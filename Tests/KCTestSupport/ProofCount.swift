import Foundation
import Synchronization

/// Counts the trials of a test, of which `make proof` prints a row.
///
/// ```swift
/// let proof = ProofCount("killed before a call")
/// for call in calls { proof.add(violations(of: call).count) }
/// try proof.record()
/// ```
package final class ProofCount: Sendable {
    private let name: String
    private let seed: UInt64?
    private let started = ContinuousClock.now
    private let counts = Mutex((trials: 0, failures: 0))

    /// Starts the clock, so make one before the first trial.
    ///
    /// - Parameters:
    ///   - name: the first column of the row.
    ///   - seed: what the trials were chosen by, if they were.
    package init(_ name: String, seed: UInt64? = nil) {
        self.name = name
        self.seed = seed
    }

    /// Counts a trial.
    ///
    /// - Parameter violations: how often it broke what the test demands.
    package func add(_ violations: Int = 0) {
        counts.withLock { counts in
            counts.trials += 1
            if violations > 0 { counts.failures += 1 }
        }
    }

    /// Writes the row into a file of the folder `PROOF_ROWS`, if `make proof` set it.
    package func record() throws {
        guard let folder = ProcessInfo.processInfo.environment["PROOF_ROWS"] else { return }
        let counts = counts.withLock { $0 }
        // With fractions: the rows of many short cases are added up.
        let seconds = ((ContinuousClock.now - started) / .milliseconds(10)).rounded(.up) / 100
        let seed = seed.map(String.init) ?? "–"
        let row = "| \(name) | \(counts.trials) | \(counts.failures) | \(seed) | \(seconds) s |\n"
        try Data(row.utf8).write(to: URL(filePath: folder).appending(path: UUID().uuidString))
    }
}
