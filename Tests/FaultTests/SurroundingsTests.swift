import Foundation
import KCTestSupport
import Testing

/// Runs the program on systems that lack something.
///
/// `make test` tries a few commands. `FAULTS=all` tries all of them, or the one that `FAULT_SCENARIO` names.
@Suite(
    "Systems that lack disk space, descriptors, /proc or threads", .waitsForPrograms,
    .enabled(if: Surroundings.isPrivileged, "mounting takes root"))
struct SurroundingsTests {
    @Test("On a full disk, a command does all or nothing and reports which", arguments: Surroundings.scenarios)
    func fullDisk(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        let proof = ProofCount("commands on a disk that fills up after each 4 KiB")
        for free in Surroundings.steps {
            let (violations, isDone) = try bench.violations(onADiskWith: free)
            for violation in violations { Issue.record("\(violation)") }
            proof.add(violations.count)
            // With more space, the disk does not fill up.
            if isDone { break }
        }
        try proof.record()
    }

    @Test("With few descriptors, a command does all or nothing and reports which", arguments: Surroundings.scenarios)
    func fewDescriptors(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        let proof = ProofCount("commands with few descriptors")
        for count in Surroundings.descriptors {
            let violations = try bench.violations(under: ["prlimit", "--nofile=\(count)"])
            for violation in violations { Issue.record("\(violation)") }
            proof.add(violations.count)
        }
        try proof.record()
    }

    @Test("Without /proc, a command does all or nothing and reports which", arguments: Surroundings.scenarios)
    func withoutProc(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        let prefix = ["unshare", "-m", "bash", "-c", #"umount -l /proc && exec "$@""#, "--"]
        try attempt(bench, prefix, ProofCount("commands without /proc"))
    }

    @Test(
        "If no thread can be created, a command does all or nothing, reports which, and ends",
        .enabled(if: Surroundings.lendsTheProgram, "another user cannot read the program"),
        arguments: Surroundings.scenarios)
    func withoutThreads(scenario: Scenario) throws {
        // The limit applies to the processes of a user, but not to root.
        let bench = try FaultBench(scenario, as: Surroundings.somebodyElse)
        try attempt(bench, ["prlimit", "--nproc=1"], ProofCount("commands that can create no thread"))
    }

    private func attempt(_ bench: FaultBench, _ prefix: [String], _ proof: ProofCount) throws {
        let violations = try bench.violations(under: prefix)
        for violation in violations { Issue.record("\(violation)") }
        proof.add(violations.count)
        try proof.record()
    }
}

enum Surroundings {
    static let isPrivileged: Bool = {
        let outcome = try? ExternalProgram.run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        return outcome?.status == 0
    }()

    static let otherUser = 65_534
    static let somebodyElse = ["setpriv", "--reuid=\(otherUser)", "--regid=\(otherUser)", "--clear-groups"]

    static let lendsTheProgram: Bool = {
        guard let program = try? ExternalProgram.built("kcbackup") else { return false }
        let test = somebodyElse.dropFirst() + ["test", "-x", program, "-a", "-r", #filePath]
        return (try? ExternalProgram.run(somebodyElse[0], Array(test)))?.status == 0
    }()

    private static let isWhole = Environment.has("FAULTS", "all")
    static let scenarios = (isWhole ? Scenario.allCases : [.createEncrypted, .restoreNew, .importLines]).filter {
        scenario in
        ProcessInfo.processInfo.environment["FAULT_SCENARIO"].map { $0 == scenario.rawValue } ?? true
    }

    /// The free disk space of each step, in KiB; no command needs 2 MiB.
    static var steps: [Int] {
        isWhole ? Array(stride(from: 0, through: 2_048, by: 4)) : [0, 12]
    }

    /// With 3, the program cannot be loaded.
    static var descriptors: [Int] { isWhole ? Array(4...16) : [4, 7] }
}
