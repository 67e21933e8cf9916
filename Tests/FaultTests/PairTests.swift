import Foundation
import KCTestSupport
import Testing

/// Starts two commands at once in the same home, and requires what one after the other would have left.
///
/// `make test` tries a few pairs, chosen by `PAIR_SEED`. `PAIRS=all`, as in `make proof`, tries each pair in both orders,
/// `PAIR_ROUNDS` times.
@Suite("Two commands at once", .waitsForPrograms)
struct PairTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isWhole = Environment.has("PAIRS", "all")
    private static let seed = environment["PAIR_SEED"].flatMap { UInt64($0) } ?? 7
    private static let rounds = environment["PAIR_ROUNDS"] ?? "1"
    private static let sample = 1

    /// Commands that change files, as `pairs.sh` names them.
    private static let commands = [
        "create", "create-to", "prune", "prune-undo", "run", "rekey", "rebuild", "verify", "restore", "restore-new",
        "import", "item-add", "item-update", "item-delete", "undo", "set-passcode", "keychain-create",
        "keychain-delete", "keychain-default", "trust", "schedule-add", "protect",
    ]

    private static let pairs: [String] = {
        let all = commands.enumerated().flatMap { place, one in commands[place...].map { "\(one) \($0)" } }
        if isWhole { return all }
        var random = SeededRandom(seed: seed)
        return Array(all.shuffled(using: &random).prefix(sample))
    }()

    /// The home in which all pairs are tried, prepared once.
    private static let base = Result { () throws -> String in
        let folder = try TemporaryFolder.untilExit(inMemory: true)
        let outcome = try run("base", [folder.path("base")], in: folder)
        try #require(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
        return folder.path("base")
    }

    private static func run(
        _ step: String, _ words: [String], in folder: TemporaryFolder
    ) throws -> ExternalProgram.Outcome {
        let script = URL(filePath: #filePath).appending(path: "../pairs.sh").standardizedFileURL.path
        let program = try environment["KCBACKUP"] ?? ExternalProgram.built("kcbackup")
        let variables = ["HOME": folder.path("home"), "PATH": environment["PATH"] ?? "/usr/bin:/bin"]
        return try ExternalProgram.run(
            "bash", [script, step, program] + words, environment: variables, in: folder.path)
    }

    @Test(
        "Two commands at once leave what one after the other leaves, or one of them is told why not", arguments: pairs)
    func atOnce(pair: String) throws {
        let proof = ProofCount("two commands at once, of \(Self.commands.count)")
        let folder = try TemporaryFolder(inMemory: true)
        let names = pair.split(separator: " ").map(String.init)
        let outcome = try Self.run("pair", [Self.base.get()] + names + [Self.rounds], in: folder)
        let lines = outcome.text.split(separator: "\n")
        let trials = lines.count { $0 == "TRIAL" }
        try #require(trials > 0, "\(outcome.text)\(outcome.errorText)")
        let faults = lines.filter { $0.hasPrefix("FAULT ") }
        if !faults.isEmpty { Issue.record("\(faults.joined(separator: "\n"))") }
        let failed = lines.count { $0.hasPrefix("FAULT ") && $0.contains(" at once: ") }
        for trial in 0..<trials { proof.add(trial < failed ? 1 : 0) }
        try proof.record()
    }
}
