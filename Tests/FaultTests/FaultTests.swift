import Foundation
import KCTestSupport
import Testing

/// Kills the real program at system calls that change files, and makes those calls fail.
///
/// `make test` tries a few calls of each command, chosen by `FAULT_SEED`. `make faults` tries all of them, or those of
/// the one command that `FAULT_SCENARIO` names.
@Suite(
    "Faults in the program's system calls", .waitsForPrograms,
    .traced)
struct FaultTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isWhole = environment["FAULTS"] == "all"
    private static let seed = environment["FAULT_SEED"].flatMap { UInt64($0) } ?? 7
    /// `make test` tries every second command, which ones depends on the seed.
    private static let scenarios = Scenario.allCases.enumerated().filter { place, scenario in
        environment["FAULT_SCENARIO"].map { $0 == scenario.rawValue }
            ?? (isWhole || (UInt64(place) + seed).isMultiple(of: 2))
    }.map(\.element)
    /// How many calls of each command `make test` tries per kind of fault.
    private static let sample = 1

    private func chosen<Element>(_ all: [Element], _ scenario: Scenario) -> [Element] {
        if Self.isWhole { return all }
        let place = Scenario.allCases.firstIndex(of: scenario) ?? 0
        var random = SeededRandom(seed: Self.seed &* 100 &+ UInt64(place))
        return Array(all.shuffled(using: &random).prefix(Self.sample))
    }

    @Test(
        "A command killed or failing at any call does all or nothing and reports which, and later runs clean up",
        arguments: scenarios)
    func disturbed(scenario: Scenario) throws {
        let bench = try FaultBench(scenario)
        try #require(bench.calls.count > 2, "\(bench.calls)")
        let faults = bench.calls.flatMap { call in call.errors.map { (call, FaultBench.Action.error($0)) } }
        // A sample of one call each way costs half as much, shared out among the commands.
        let place = Scenario.allCases.firstIndex(of: scenario) ?? 0
        let kills = ProofCount("`\(scenario.rawValue)` killed before a call", seed: Self.isWhole ? nil : Self.seed)
        let isOfKills = (place / 2).isMultiple(of: 2)
        if Self.isWhole || isOfKills {
            try attempt(chosen(bench.calls.map { ($0, .kill) }, scenario), bench, kills)
        }
        let errors = ProofCount("`\(scenario.rawValue)` with a call that fails", seed: Self.isWhole ? nil : Self.seed)
        if Self.isWhole || !isOfKills { try attempt(chosen(faults, scenario), bench, errors) }
    }

    private func attempt(
        _ trials: [(SystemCall, FaultBench.Action)], _ bench: FaultBench, _ proof: ProofCount
    ) throws {
        for (call, action) in trials {
            let violations = try bench.violations(of: call, action)
            for violation in violations { Issue.record("\(violation)") }
            proof.add(violations.count)
        }
        try proof.record()
    }
}
