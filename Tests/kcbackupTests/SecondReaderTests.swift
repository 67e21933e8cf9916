import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Beside a second reader and writer", .waitsForPrograms)
struct SecondReaderTests {
    private static let python = ExternalProgram.python(with: "cryptography")

    // `make proof` runs all, and goes on where it was stopped.
    private static let isWhole = ProcessInfo.processInfo.environment["SECOND_READER"] == "all"
    private static let seed =
        ProcessInfo.processInfo.environment["SECOND_READER_SEED"] ?? "\(Int.random(in: 1...9_999))"
    private static let commit = ProcessInfo.processInfo.environment["SECOND_READER_COMMIT"] ?? "unknown"

    @Test(
        "A reader and a writer made from the descriptions of the formats alone agree with the program",
        .enabled(if: python != nil, "python3-cryptography is needed: .ci/install-packages test"),
        arguments: ["corpus", "written", "mutated", "keychains"])
    func agrees(trial: String) throws {
        let counts = ["corpus": (2, 12), "written": (2, 200), "mutated": (15, 10_000), "keychains": (4, 1_000)]
        let (sample, whole) = try #require(counts[trial])
        var arguments = [
            "-B", Project.path("Tests/SecondReader/trial.py"), try ExternalProgram.built("kcbackup"),
            "--seed", Self.seed, "--commit", Self.commit, "--count", "\(trial)=\(Self.isWhole ? whole : sample)",
        ]
        if Self.isWhole {
            arguments += ["--state", Project.path(".build/second-reader/\(trial)-\(Self.seed)-\(Self.commit)")]
        }
        let outcome = try ExternalProgram.run(
            try #require(Self.python), arguments, seconds: Self.isWhole ? 14_400 : 600)
        #expect(outcome.status == 0, "seed \(Self.seed): \(outcome.text)\(outcome.errorText)")
        if Self.isWhole { print(outcome.text, terminator: "") }
    }
}
