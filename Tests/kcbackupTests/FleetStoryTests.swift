import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCFleet
import KCKeychainModel
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Two machines with jobs in one fleet, and whoever watches", .waitsForPrograms)
struct FleetStoryTests {
    private let ada: FleetMachine
    private let bob: FleetMachine

    init() throws {
        ada = try FleetMachine()
        bob = try FleetMachine(besides: ada)
        try ada.home.write("machines.txt", "\(ada.id) ada\n\(bob.id) bob\n")
    }

    private func night(_ machines: FleetMachine...) {
        for machine in machines { #expect(machine.run("run nightly").status == .ok) }
    }

    private func pass(hours: Int64) {
        ada.home.pass(hours: hours)
        bob.home.pass(hours: hours)
    }

    private func status(_ options: String = "") -> TestHome.Outcome {
        ada.run("fleet status nas:fleet --inventory machines.txt \(options)")
    }

    @Test("Both run, and all is well; the next nights, too")
    func well() throws {
        for _ in 0..<3 {
            night(ada, bob)
            let outcome = status()
            #expect(outcome.status == .ok && outcome.text == "2 machines: 2 well\n", "\(outcome.text)")
            pass(hours: 24)
        }
        #expect(try ada.archives().count == 3 && bob.archives().count == 3)
        #expect(status("--days 4 -v").text.contains(/ada +well/))
    }

    @Test("One fails: it is told the same morning, and is late the day after")
    func fails() throws {
        night(ada, bob)
        pass(hours: 20)
        night(ada)
        try FileManager.default.removeItem(atPath: bob.home.path("b"))
        #expect(bob.run("run nightly").status == .notFound)
        let morning = status()
        #expect(morning.status == .incomplete && morning.text.contains(/bob +failed/), "\(morning.text)")
        pass(hours: 20)
        night(ada)
        #expect(bob.run("run nightly").status == .notFound)
        let later = status()
        #expect(later.status == .stale && later.text.contains(/bob +late, failed/), "\(later.text)")
    }

    @Test("One that says nothing is late, and then absent")
    func silent() throws {
        night(ada, bob)
        pass(hours: 30)
        night(ada)
        #expect(status().text.contains(/bob +late/) && status().status == .stale)
        pass(hours: 72)
        night(ada)
        #expect(status().text.contains(/bob +absent/) && status().status == .stale)
    }

    @Test("One shrinks: 15 from its run that stopped, and still after one that was told to go on")
    func shrinks() throws {
        night(ada, bob)
        for number in 0..<6 { #expect(bob.run("item delete --service s\(number)").status == .ok) }
        pass(hours: 24)
        night(ada)
        #expect(bob.run("run nightly").status == .shrunk)
        let stopped = status()
        #expect(stopped.status == .shrunk && stopped.text.contains(/bob +shrunk/), "\(stopped.text)")
        #expect(bob.run("run nightly --accept-shrink").status == .ok)
        let accepted = status()
        #expect(accepted.status == .shrunk && accepted.text.contains("10 → 4"), "\(accepted.text)")
    }

    @Test("One is cloned: both have one key, and count their receipts from the same number")
    func cloned() throws {
        night(ada, bob)
        let clone = try FleetMachine(besides: ada, copying: bob)
        #expect(clone.id == bob.id)
        pass(hours: 24)
        clone.home.pass(hours: 24)
        night(ada, bob)
        clone.home.pass(hours: 1)
        // Its folder is elsewhere, so its backup may fail; what it says is signed with the same key.
        _ = clone.run("run nightly")
        let outcome = status()
        #expect(outcome.status == .incomplete && outcome.text.contains(/bob +.*replayed/), "\(outcome.text)")
    }

    @Test("A receipt that is changed, cut short, or put under a later name is told, and makes nobody well")
    func tampered() throws {
        night(ada, bob)
        let file = URL(fileURLWithPath: try #require(bob.receiptFiles().first))
        let genuine = try Data(contentsOf: file)
        let text = String(decoding: genuine, as: UTF8.self)
        try Data(text.replacing("\"result\":0", with: "\"result\":1").utf8).write(to: file)
        let changed = status()
        #expect(changed.status == .stale && changed.text.contains(/bob +absent/))
        #expect(changed.text.contains("no valid signature") && changed.text.contains("1 absent"))
        try genuine.prefix(300).write(to: file)
        #expect(status().text.contains("no valid signature") && status().status == .stale)
        try genuine.write(to: file)
        #expect(status().status == .ok)
        pass(hours: 48)
        night(ada)
        let today = try #require(ada.receiptFiles().last)
        let other = today.replacing(ada.receiptStart, with: bob.receiptStart).replacing(".json", with: "9.json")
        try FileManager.default.createDirectory(atPath: Path.split(other).folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: file.path, toPath: other)
        let replayed = status()
        #expect(replayed.status == .stale && replayed.text.contains("a copy of"), "\(replayed.text)")
        #expect(replayed.text.contains(/bob +absent/))
    }

    @Test("What a machine puts under the name of another one changes nothing of what is said about that one")
    func attack() throws {
        night(ada, bob)
        let before = status("--json").text
        // Everything that bob can write: its own receipts under ada's names, and its archives in ada's folder.
        let receipt = try #require(bob.receiptFiles().first)
        for number in [2, 7] {
            let name = receipt.replacing(bob.receiptStart, with: ada.receiptStart)
            try FileManager.default.copyItem(
                atPath: receipt, toPath: name.replacing(/-\d+\.json$/, with: "-\(number).json"))
        }
        let archive = try #require(bob.archives().first)
        let own = ada.folder("archives/\(ada.id)")
        try FileManager.default.copyItem(
            atPath: bob.folder("archives/\(bob.id)/\(archive)"), toPath: "\(own)/\(archive)")
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(own)/login.kcb"))
        let after = status("--json")
        #expect(after.status == .incomplete)
        func machines(_ text: String) -> Substring? { text.firstMatch(of: /"machines":\[.*?\],"rejected"/)?.0 }
        #expect(machines(before) != nil && machines(after.text) == machines(before))
        #expect(after.text.matches(of: #/"a copy of /#).count == 2)
        // Ada's next night is as any other, and its receipt has nothing of bob's.
        pass(hours: 24)
        night(ada, bob)
        let said = try #require(ada.receipts().last)
        #expect(said.archives.count == 1 && said.counts.total == 10)
        #expect(status().text.hasSuffix("2 machines: 2 well\n"))
    }
}
