import Foundation
import KCBackupTasks
import KCByteStreams
import KCDeviceIdentity
import KCFleet
import KCKeychainModel
import KCRemotes
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Many machines on a remote", .waitsForPrograms)
struct FleetTests {
    private let home: TestHome
    private let rclone: FakeRclone
    private let fleet: FleetFiles

    init() throws {
        home = try TestHome()
        rclone = try FakeRclone(home)
        fleet = try FleetFiles(home)
    }

    private func status(_ options: String = "--inventory machines.txt", of folder: String = "bucket:fleet")
        -> TestHome.Outcome
    {
        home.run(
            ["fleet", "status", folder] + options.split(separator: " ").map(String.init),
            environment: rclone.environment)
    }

    private func everyoneReports() throws {
        for machine in 0..<3 { try fleet.write(machine, hoursAgo: 6) }
    }

    @Test("A fleet that is well takes one line, and two calls of rclone for each day that has receipts")
    func well() throws {
        try everyoneReports()
        let outcome = status()
        #expect(outcome.status == .ok && outcome.text == "3 machines: 3 well\n", "\(outcome.messages)")
        // The remote is looked at twice, and of three days one has files.
        #expect(try rclone.calls() == ["config", "config", "lsf", "lsf", "copy", "lsf"])
        #expect(status("--inventory machines.txt -v").text.contains(/bob +well/))
        let left = try home.folder.list().filter { $0.contains(".restoring-") }
        #expect(left == [])
    }

    @Test("A machine of which nothing is expected, and that says nothing, is not called well")
    func notExpected() throws {
        try fleet.write(0, hoursAgo: 6)
        try home.write("machines.txt", "\(fleet.keys[0].id) ada\n\(fleet.keys[1].id) bob -\n")
        let outcome = status("--inventory machines.txt -v")
        #expect(outcome.status == .ok && outcome.text.hasSuffix("2 machines: 1 well, 1 not expected\n"))
        #expect(outcome.text.contains(/bob +not expected +never/), "\(outcome.text)")
        #expect(status("--inventory machines.txt --html f.html").status == .ok)
        let page = String(decoding: try home.folder.read("work/f.html"), as: UTF8.self)
        #expect(page.contains("<li><b>1</b> not expected</li>") && page.contains("<td>not expected"))
    }

    @Test("A machine that is late and one that is silent are named, and the run ends with 17")
    func stale() throws {
        try fleet.write(0, hoursAgo: 6)
        try fleet.write(1, hoursAgo: 31)
        let outcome = status("--inventory machines.txt --max-age 30h")
        #expect(outcome.status == .stale)
        #expect(
            outcome.messages.contains("2 machines without a good backup that is new enough, 1 of them silent: bob, cy"))
        #expect(outcome.text.contains(/bob +late +2026-02-28/) && outcome.text.contains(/cy +absent +never/))
        #expect(!outcome.text.contains("ada") && outcome.text.hasSuffix("3 machines: 1 well, 1 absent, 1 late\n"))
        try fleet.write(2, hoursAgo: 1)
        #expect(status("--inventory machines.txt --max-age 2d").status == .ok)
    }

    @Test("A loss of items ends with 15, and anything else with 3; what is gravest decides")
    func gravest() throws {
        try everyoneReports()
        try fleet.write(1, hoursAgo: 2, sequence: 2, result: 13)
        let failed = status()
        #expect(failed.status == .incomplete && failed.messages.contains("something is wrong with 1 machine (bob)"))
        try fleet.write(2, hoursAgo: 2, sequence: 2, items: 3)
        let shrunk = status()
        #expect(shrunk.status == .shrunk && shrunk.text.contains("40 → 3"))
        #expect(shrunk.messages.contains("warning: something is wrong with 1 machine (bob)"))
        try fleet.write(0, hoursAgo: 3, sequence: 2, result: 13)
        #expect(status("--inventory machines.txt --max-age 2h").status == .stale)
    }

    @Test("A receipt that is forged, copied or strange makes no machine well, and is named")
    func rejected() throws {
        try everyoneReports()
        let forged = try fleet.write(0, hoursAgo: 3, sequence: 2)
        var bytes = try home.folder.read("work/\(forged)")
        bytes[40] ^= 1
        try home.write(forged, bytes)
        let old = try fleet.write(1, hoursAgo: 7, sequence: 9)
        let name = Path.split(old).name.replacing(fleet.keys[1].id.description, with: fleet.keys[2].id.description)
        let shard = String(name.dropFirst(3).prefix(2))
        try home.write("remote/fleet/receipts/2026-03-01/\(shard)/\(name)", home.folder.read("work/\(old)"))
        try FileManager.default.removeItem(atPath: home.path(old))
        try home.write("remote/fleet/receipts/2026-03-01/note.json", "{}")
        try home.write(
            "\(Path.split(forged).folder)/\(fleet.keys[0].id)-010000Z-7.json",
            [UInt8](repeating: 0x20, count: 3_000))
        let outcome = status()
        #expect(outcome.status == .incomplete && outcome.messages.contains("4 files cannot be believed or read"))
        for words in [
            "-2.json: no valid signature", "-9.json: a copy of", "note.json: not the name", "-7.json: too large",
        ] {
            #expect(outcome.text.contains(words), "\(words)")
        }
        #expect(outcome.text.hasSuffix("3 machines: 3 well\n"))
        let known = status("--inventory machines.txt --known-junk")
        #expect(known.status == .ok && known.text.contains("note.json: not the name"), "\(known.messages)")
    }

    @Test("The server's clock decides where it is known, and a wrong one is told; elsewhere the machine's counts")
    func clocks() throws {
        try everyoneReports()
        try fleet.write(0, hoursAgo: 3, sequence: 2, skew: 3_600)
        let outcome = status()
        #expect(outcome.status == .incomplete && outcome.text.contains("clock +60 min"))
        #expect(status(of: "nas:fleet").status == .ok)
        #expect(status("--inventory machines.txt --json", of: "nas:fleet").text.contains(#""serverTimes":false"#))
    }

    @Test("Without a list nobody is known; a list of signers is believed alone; a device that is trusted here is known")
    func trust() throws {
        try fleet.write(0, hoursAgo: 6)
        let unknown = status("")
        #expect(unknown.status == .incomplete && unknown.text.contains("unknown"))
        try home.write("signers", "# fleet\n\(fleet.keys[0].allowedSignersLine) ada's laptop\n")
        let known = status("--signers signers -v")
        #expect(known.status == .ok && known.text.contains(/ada's laptop +well/), "\(known.text)\(known.messages)")
        try fleet.write(1, hoursAgo: 6)
        try home.write("two.txt", "\(fleet.keys[0].id) ada\n\(fleet.keys[1].id) bob\n")
        #expect(status("--inventory two.txt").status == .ok)
        #expect(status("--inventory two.txt --signers signers").text.contains(/bob +unknown/))
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for key in fleet.keys { #expect(home.run(["device", "trust", key.id.description, "x"]).status == .ok) }
        #expect(status("").status == .ok)
    }

    @Test(
        "A folder that is mistyped, a list that cannot be read and a wrong option end the run, and nothing looks well")
    func refusals() throws {
        try everyoneReports()
        try home.write("bad.txt", "ada KC-X\n")
        try home.write("empty.txt", "# laptops\n")
        try home.write("bad-signers", "ada valid-before=\"20270101\" ssh-ed25519 AAAA\n")
        for (options, folder, expected) in [
            ("", "bucket:flet", .notFound), ("", "far:fleet", .notFound), ("", "fleet", .usage),
            ("--inventory none.txt", "bucket:fleet", .notFound), ("--inventory bad.txt", "bucket:fleet", .damaged),
            ("--inventory empty.txt", "bucket:fleet", .damaged),
            ("--signers bad-signers", "bucket:fleet", .damaged), ("--max-age 26", "bucket:fleet", .usage),
            ("--days 0", "bucket:fleet", .usage), ("--days 400", "bucket:fleet", .usage),
            ("--json --prometheus", "bucket:fleet", .usage), ("--inventory machines.txt", "bucket:flet", .stale),
        ] as [(String, String, KCTerminal.ExitStatus)] {
            let outcome = status(options, of: folder)
            #expect(outcome.status == expected, "\(options) \(folder): \(outcome.messages)")
        }
    }

    @Test("The figures for Prometheus count the machines in each state, and name each machine")
    func prometheus() throws {
        try fleet.writeOfEveryKind()
        let text = status("--inventory machines.txt --prometheus").text
        for line in [
            "kcbackup_fleet_machines 3", "kcbackup_fleet_machines_in_state{state=\"well\"} 1",
            "kcbackup_fleet_machines_in_state{state=\"absent\"} 1", "kcbackup_fleet_rejected_files 1",
            "kcbackup_fleet_last_good_timestamp_seconds{machine=\"bob\",device=\"\(fleet.keys[1].id)\"} 0",
            "kcbackup_fleet_items{machine=\"ada\",device=\"\(fleet.keys[0].id)\"} 40",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
    }

    @Test("The page has what is wrong first, the files that are no receipts, and replaces an earlier page alone")
    func page() throws {
        try fleet.writeOfEveryKind()
        try home.write("machines.txt", "\(fleet.keys[0].id) ada\n\(fleet.keys[1].id) <b>bob</b>\n")
        for _ in 0..<2 {
            let outcome = status("--inventory machines.txt --html f.html")
            #expect(outcome.status == .stale && outcome.text.isEmpty, "\(outcome.messages)")
        }
        let page = String(decoding: try home.folder.read("work/f.html"), as: UTF8.self)
        let names = page.matches(of: #/<tr><td>([^<]*)<td class="(yes|no)">([^<]*)/#).map { "\($0.1): \($0.2) \($0.3)" }
        #expect(
            names == ["&lt;b&gt;bob&lt;/b&gt;: no absent", "\(fleet.keys[2].id): no unknown", "ada: yes well"])
        #expect(page.contains("<b>3</b> machines") && page.contains("<b>1</b> file that is no receipt"))
        #expect(page.contains("no valid signature") && page.contains("2026-02-28 to 2026-03-02 (UTC)"))
        #expect(page.contains(##"href="#state=absent""##) && !page.contains("http:") && !page.contains("https:"))
        try home.write("f.html", "mine")
        #expect(status("--inventory machines.txt --html f.html").status == .exists)
        #expect(status("--html g.html --json").status == .usage)
        #expect(status("--html g.html", of: "far:fleet").status == .notFound)
        #expect(try !home.folder.list().contains("work/g.html"))
    }

    @Test("What a machine reports is read as it was written, and never replaces anything")
    func report() throws {
        let location = try #require(RemoteLocation("nas:fleet"))
        let world = home.world(environment: rclone.environment)
        let folder = try FleetFolder(location, world.machine.rclone(), temporaryFolder: home.path("bin"))
        let receipt = Receipt(
            device: fleet.keys[0].id, sequence: 1, time: home.nextTime(), job: "nightly", result: 0, good: nil,
            keys: [], counts: ItemCounts(), archives: [])
        #expect(try folder.report(receipt, signedBy: fleet.keys[0]).name == receipt.name.description)
        try home.write("machines.txt", "\(fleet.keys[0].id) ada\n")
        let outcome = status(of: "nas:fleet")
        #expect(outcome.status == .ok && outcome.text == "1 machine: 1 well\n", "\(outcome.messages)")
        let archives = try folder.archives(of: fleet.keys[0].id).location.text
        #expect(archives == "nas:fleet/archives/\(fleet.keys[0].id)")
        #expect(try !home.folder.list().contains { $0.hasSuffix(".part") || $0.contains(".restoring-") })
    }
}
