import Foundation
import KCTestSupport
import Testing

/// Runs the program on systems that lack something.
@Suite(
    "Systems that lack disk space, /proc or threads", .waitsForPrograms,
    .enabled(if: Surroundings.isPrivileged, "mounting takes root"))
struct SurroundingsTests {
    @Test("On a full disk, a command does all or nothing and reports which", arguments: Surroundings.scenarios)
    func fullDisk(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        for free in Surroundings.steps {
            for violation in try bench.violations(onADiskWith: free) { Issue.record("\(violation)") }
        }
    }

    @Test("Without /proc, a command does all or nothing and reports which", arguments: Surroundings.scenarios)
    func withoutProc(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        let prefix = ["unshare", "-m", "bash", "-c", #"umount -l /proc && exec "$@""#, "--"]
        for violation in try bench.violations(under: prefix) { Issue.record("\(violation)") }
    }

    @Test(
        "If no thread can be created, a command does all or nothing, reports which, and ends",
        .enabled(if: Surroundings.lendsTheProgram, "another user cannot read the program"),
        arguments: Surroundings.scenarios)
    func withoutThreads(scenario: Scenario) throws {
        // The limit applies to the processes of a user, but not to root.
        let bench = try FaultBench(scenario, as: Surroundings.somebodyElse)
        for violation in try bench.violations(under: ["prlimit", "--nproc=1"]) { Issue.record("\(violation)") }
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

    private static let isWhole = ProcessInfo.processInfo.environment["FAULTS"] == "all"
    static let scenarios = isWhole ? Scenario.allCases : [.createEncrypted, .restoreNew, .importLines]

    /// The free disk space of each step, in KiB.
    static var steps: [Int] {
        isWhole ? Array(stride(from: 0, through: 96, by: 4)) : [0, 12]
    }
}
