import Foundation
import TestSupport
import Testing

/// The real program, killed at every system call that changes a file, and made to fail at every one.
///
/// `make test` takes a few calls of each command, chosen by `FAULT_SEED`; `make faults` takes all of them, of one command
/// if `FAULT_SCENARIO` names it.
@Suite(
    "Faults at the system calls of the program",
    .enabled(if: ExternalProgram.locate("strace") != nil, "strace is not installed"))
struct FaultTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isWhole = environment["FAULTS"] == "all"
    private static let seed = environment["FAULT_SEED"].flatMap { UInt64($0) } ?? 7
    private static let scenarios = Scenario.allCases.filter { scenario in
        environment["FAULT_SCENARIO"].map { $0 == scenario.rawValue } ?? true
    }
    /// Calls of each command that `make test` takes.
    private static let sample = 3

    private func chosen<Element>(_ all: [Element], _ scenario: Scenario) -> [Element] {
        if Self.isWhole { return all }
        let place = Scenario.allCases.firstIndex(of: scenario) ?? 0
        var random = SeededRandom(seed: Self.seed &* 100 &+ UInt64(place))
        return Array(all.shuffled(using: &random).prefix(Self.sample))
    }

    @Test(
        "Killed anywhere, or failing at any call, a command has done all or nothing and says which; later runs clean up",
        arguments: scenarios)
    func disturbed(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        try #require(bench.calls.count > 2, "\(bench.calls)")
        let faults = bench.calls.flatMap { call in call.errors.map { (call, FaultBench.Action.error($0)) } }
        for (call, action) in chosen(bench.calls.map { ($0, .kill) }, scenario) + chosen(faults, scenario) {
            for violation in try bench.violations(of: call, action) { Issue.record("\(violation)") }
        }
    }
}
