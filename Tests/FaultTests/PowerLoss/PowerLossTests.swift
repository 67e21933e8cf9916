import Foundation
import KCTestSupport
import Testing

/// Records what each command does to the disk, rebuilds what a loss of power may leave of it, and runs the
/// next commands there.
///
/// `make test` tries a few states, chosen by `POWER_SEED`. `POWER=all`, as in `make proof`, tries all of them, or those
/// of the one command that `FAULT_SCENARIO` names.
@Suite(
    "Loss of power", .waitsForPrograms,
    .traced)
struct PowerLossTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isWhole = environment["POWER"] == "all"
    private static let seed = environment["POWER_SEED"].flatMap { UInt64($0) } ?? 7
    /// The commands that `make test` tries: one of each way to write files.
    private static let sampled: [Scenario] = [.createTo, .importLines, .protect]
    private static let scenarios = (isWhole ? Scenario.allCases : sampled).filter { scenario in
        environment["FAULT_SCENARIO"].map { $0 == scenario.rawValue } ?? true
    }
    /// How many states of each command `make test` tries besides the last one.
    private static let sample = 2

    @Test(
        "After a loss of power, a command has done all or nothing, and what it reported as done is there",
        arguments: scenarios)
    func powerLoss(scenario: Scenario) throws {
        let proof = ProofCount("`\(scenario.rawValue)` and a loss of power", seed: Self.seed)
        let bench = try FaultBench(scenario)
        let record = try bench.record()
        let images = record.images(seed: Self.seed, random: Self.isWhole ? 4 : 1)
        try #require(images.count > 2, "\(record.events.count) changes")
        var chosen = images
        if !Self.isWhole {
            var random = SeededRandom(seed: Self.seed)
            // With only what is durable after the end, nothing that was reported may be missing.
            let last = images.first { $0.moment == record.events.count }
            chosen = Array(images.shuffled(using: &random).prefix(Self.sample)) + (last.map { [$0] } ?? [])
        }
        for state in chosen {
            let violations = try bench.violations(of: record, state)
            for violation in violations { Issue.record("\(violation)") }
            proof.add(violations.count)
        }
        try proof.record()
    }

    @Test("If syncing does nothing, it is found that a command loses what it reported", arguments: planted)
    func syncsThatDoNothing(scenario: Scenario) throws {
        let proof = ProofCount("commands whose syncs do nothing, which must be found")
        let bench = try FaultBench(scenario)
        let record = try bench.record(syncing: false)
        let states = record.images(seed: Self.seed, random: 0).filter { $0.moment == record.events.count }
        let isFound = try states.contains { state in try !bench.violations(of: record, state).isEmpty }
        #expect(isFound)
        proof.add(isFound ? 0 : 1)
        try proof.record()
    }
    private static let planted = scenarios.filter { isWhole || $0 == .createTo }

    @Test("If only the syncs of folders do nothing, an archive that was reported is found to be lost")
    func folderSyncs() throws {
        let bench = try FaultBench(.createEncrypted)
        let whole = try bench.record()
        let record = whole.keeping { event in
            guard case .sync(let file) = event, case .folder = whole.files[file].contents else { return true }
            return false
        }
        let lost = record.image(after: record.events.count, record.syncs()) { _ in .lost }
        #expect(try bench.violations(of: record, (record.events.count, lost)).isEmpty == false)
    }
}

extension FaultBench {
    /// Records what the undisturbed command does to the disk.
    ///
    /// - Parameter syncs: false to have the kernel sync nothing.
    func record(syncing syncs: Bool = true) throws -> DiskRecord {
        let plant = syncs ? [] : ["-e", "inject=fsync,fdatasync:retval=0"]
        let words = [folder.path("template"), scenario.rawValue] + Strace.command + ["-o", folder.path("disk")]
        let outcome = try Self.run("try", user, in: folder, words + DiskRecord.options + plant + ["--"])
        try #require(outcome.text.contains("STATUS 0\n"), "\(outcome.text)\(outcome.errorText)")
        return try DiskRecord(
            folder: folder.path("template"), folder.read("disk"), below: folder.path("home"))
    }

    /// The violations after a loss of power that left `state`.
    func violations(of record: DiskRecord, _ state: (moment: Int, image: DiskImage)) throws -> [String] {
        let disk = try TemporaryFolder(inMemory: true)
        try state.image.write(into: disk)
        let isDone = state.moment == record.events.count
        let words = [folder.path("template"), scenario.rawValue, disk.path, isDone ? "0" : "\(128 + SIGKILL)"]
        let outcome = try Self.run("after", user, in: folder, words)
        let trial = Trial(outcome.text)
        try #require(trial.status != nil, "\(outcome.text)\(outcome.errorText)")
        var found = violations(trial, isPowerLost: true)
        if isDone, !trial.isChanged { found.append("it is lost although it was reported as done") }
        return found.map { violation in
            """
            \(scenario.rawValue), power lost after \(state.moment) of \(record.events.count) changes, with \
            \(state.image.files.keys.sorted()), without \(state.image.removed.sorted())
              \(violation)
            """
        }
    }
}
