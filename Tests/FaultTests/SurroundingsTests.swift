import Foundation
import TestSupport
import Testing

/// What the program does where the system lacks something.
@Suite("Surroundings that lack something", .enabled(if: Surroundings.isPrivileged, "mounting takes root"))
struct SurroundingsTests {
    @Test("On a full disk a command is done or not, and says which", arguments: Scenario.allCases)
    func fullDisk(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        for free in Surroundings.steps {
            for violation in try bench.violations(onADiskWith: free) { Issue.record("\(violation)") }
        }
    }

    @Test("Without /proc a command is done or not, and says which", arguments: Scenario.allCases)
    func withoutProc(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        let prefix = ["unshare", "-m", "bash", "-c", #"umount -l /proc && exec "$@""#, "--"]
        for violation in try bench.violations(under: prefix) { Issue.record("\(violation)") }
    }

    @Test("Where no thread can be made a command is done or not, says which, and ends", arguments: Scenario.allCases)
    func withoutThreads(scenario: Scenario) throws {
        // The limit counts the processes of a user; root has none.
        let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let bench = try FaultBench(scenario, as: user)
        for violation in try bench.violations(under: ["prlimit", "--nproc=1"]) { Issue.record("\(violation)") }
    }
}

enum Surroundings {
    static let isPrivileged: Bool = {
        let outcome = try? ExternalProgram.run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        return outcome?.status == 0
    }()

    /// KiB that are free.
    static var steps: [Int] {
        ProcessInfo.processInfo.environment["FAULTS"] == "all" ? Array(stride(from: 0, through: 96, by: 4)) : [0, 12]
    }
}
