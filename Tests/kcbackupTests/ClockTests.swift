import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs random commands while the clock jumps years ahead and back between them.
@Suite("A clock that jumps")
struct ClockTests {
    private static let hour: [Int64] = [-24 * 3_650, -48, -1, 0, 0, 0, 1, 48, 24 * 3_650]
    private static let commands = [
        "item add --service SERVICE --secret file:new", "item update --service a --secret file:new",
        "create --to b --unencrypted", "create --to b --unencrypted", "prune b --keep-last 2", "verify b",
        "undo --yes", "import items.jsonl --on-conflict overwrite", "list b", "status",
        "item list",
    ]

    @Test(
        "However the clock jumps, no command fails for it, and none loses an archive or an item",
        arguments: 1...(ModelRun.isWhole ? 100 : 3))
    func jumps(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let home = try TestHome(inMemory: true)
        try home.write("new", "orbit lantern velvet\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"imported"},"secret":"s"}"# + "\n")
        for line in ["keychain create --no-passcode", "item add --service a --generate"] {
            try #require(home.run(line).status == .ok)
        }
        let proof = ProofCount("commands between which the clock jumps", seed: 1)
        var history: [String] = []
        var passed: Int64 = 0
        for number in 0..<25 {
            let jump = Self.hour.randomElement(using: &random) ?? 0
            // Dates before 1970 are no times of a clock.
            let hours = passed + jump < -24 * 3_650 * 4 ? 0 : jump
            passed += hours
            home.pass(hours: hours)
            let command = (Self.commands.randomElement(using: &random) ?? "").replacing("SERVICE", with: "s\(number)")
            history.append("\(hours): \(command)")
            let before = try archives(home)
            let outcome = home.run(command)
            let told = "\(history.joined(separator: "\n"))\n\(outcome.messages)"
            let isExpected = [.ok, .notFound, .stale, .shrunk].contains(outcome.status)
            #expect(isExpected, "\(told)")
            let after = try archives(home)
            if command.hasPrefix("create"), outcome.status == .ok {
                #expect(after.count == before.count + 1 && before.isSubset(of: after), "\(told)")
                // The archive that was made just now is the newest, whatever the dates of the others say.
                #expect(home.run("prune b --keep-last 1").status == .ok, "\(told)")
                #expect(try archives(home).isSuperset(of: after.subtracting(before)), "\(told)")
            } else if command.hasPrefix("prune") {
                #expect(after.count >= min(2, before.count) && after.isSubset(of: before), "\(told)")
            } else {
                #expect(after == before, "\(told)")
            }
            let whole = try archives(home).isEmpty ? .ok : home.run("verify b").status
            #expect(whole == .ok, "\(told)")
            proof.add(isExpected && whole == .ok ? 0 : 1)
        }
        try proof.record()
    }

    @Test("One run with a fast clock spoils neither status nor metrics, and doctor says how its archive is forgotten")
    func fastOnce() throws {
        let home = try TestHome()
        for line in [
            "keychain create --no-passcode", "item add --service a --generate", "schedule add x --unencrypted --to b",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
        home.pass(hours: 24 * 30)
        #expect(home.run("run x").status == .ok)
        let late = try #require(archives(home).first)
        home.pass(hours: -24 * 30)
        let never = "kcbackup_keychain_last_good_timestamp_seconds{keychain=\"login\"} 0\n"
        #expect(home.run("status --prometheus").text.contains(never))
        #expect(home.run("status --max-age 26h").status == .stale)
        #expect(home.run("run x").status == .ok)
        let status = home.run("status --max-age 26h")
        #expect(status.status == .ok, "\(status.messages)")
        #expect(!home.run("status --prometheus").text.contains(never))
        let doctor = home.run("doctor")
        #expect(doctor.status == .refused && doctor.text.contains(late), "\(doctor.text)")
        #expect(doctor.text.contains("list --rebuild"), "\(doctor.text)")
        try Path.move(home.path("b/\(late)"), to: home.path(late))
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("doctor").status == .ok)
    }

    @Test("An archive that was read with a fast clock is read again by the next run, and once")
    func readOnce() throws {
        let home = try TestHome()
        for line in [
            "keychain create --no-passcode", "item add --service a --generate", "schedule add x --unencrypted --to b",
            "run x",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
        home.pass(hours: 24 * 4_000)
        #expect(home.run("verify b").status == .ok)
        home.pass(hours: -24 * 4_000)
        for count in [1, 0] {
            let outcome = home.run("run x --json")
            #expect(outcome.status == .ok && outcome.text.contains("\"verifiedAgain\":\(count)"), "\(outcome.text)")
        }
    }

    private func archives(_ home: TestHome) throws -> Set<String> {
        guard Path.isFolder(home.path("b")) else { return [] }
        return Set(try Path.names(in: home.path("b")).filter { $0.hasSuffix(".kcb") })
    }
}
