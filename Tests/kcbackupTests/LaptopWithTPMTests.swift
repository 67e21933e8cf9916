import Foundation
import KCDeviceIdentity
import KCTestSupport
import Testing

@testable import kcbackup

@Suite(
    "A laptop with a TPM", .waitsForPrograms,
    .enabled(if: SoftwareTPM.isInstalled, Comment(rawValue: SoftwareTPM.missing)))
struct LaptopWithTPMTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("passphrase", "correct horse\n")
        try home.write(
            "items.jsonl",
            """
            {"class":"genp","attributes":{"svce":"Bank","pdmn":"aku"},"secret":"bound"}
            {"class":"genp","attributes":{"svce":"Chat"},"secret":"travels"}
            """)
    }

    private func run(_ line: String, on tpm: SoftwareTPM) -> TestHome.Outcome {
        TestHome.Outcome(at: ScriptedTerminal()) { output, messages in
            var world = home.world()
            world.chip = DeviceChip(tpm.chip)
            world.output = output
            world.messages = messages
            return kcbackup.run(line.split(separator: " ").map(String.init), in: world)
        }
    }

    private func expect(_ line: String, on tpm: SoftwareTPM, _ status: kcbackup.ExitStatus = .ok) -> TestHome.Outcome {
        let outcome = run(line, on: tpm)
        #expect(outcome.status == status, "\(line): \(outcome.messages)")
        return outcome
    }

    @Test("A stolen disk opens nothing, a new board needs a step before, and what is lost comes back from an archive")
    func life() throws {
        let laptop = try SoftwareTPM()
        _ = expect("keychain create --passcode file:passcode --held-by tpm", on: laptop)
        _ = expect("import items.jsonl --passcode file:passcode", on: laptop)
        _ = expect("create --to backups --passphrase file:passphrase --passcode file:passcode", on: laptop)
        let reveal = "item find --service Bank --reveal --passcode file:passcode"
        #expect(expect(reveal, on: laptop).text.contains("bound"))
        let shown = expect("device show", on: laptop).text
        let id = try #require(shown.firstMatch(of: /KC-[A-Z2-7-]+/)).0

        let thief = try SoftwareTPM()
        for line in [
            reveal, "item list", "keychain info", "device adopt --keep-key", "create x.kcb --unencrypted",
            "device unseal --confirm \(id) --passcode file:passcode",
        ] {
            let outcome = expect(line, on: thief, .refused)
            #expect(outcome.messages.contains("held by another TPM") && outcome.text == "", "\(line)")
        }

        _ = expect("device unseal --confirm \(id) --passcode file:passcode", on: laptop)
        let board = try SoftwareTPM()
        #expect(expect(reveal, on: board).text.contains("bound"))
        _ = expect("device seal --yes", on: board)
        #expect(expect(reveal, on: board).text.contains("bound"))
        #expect(expect("device show", on: board).text.contains(id))
        _ = expect(reveal, on: laptop, .refused)

        let next = try SoftwareTPM()
        let archive = try #require(home.folder.list().first { $0.hasPrefix("work/backups/") && $0.hasSuffix(".kcb") })
        _ = expect("device adopt --new-key --held-by tpm", on: next)
        let name = archive.dropFirst("work/".count)
        let restored = expect(
            "restore \(name) --passphrase file:passphrase --keychain again --passcode file:passcode", on: next)
        #expect(restored.status == .ok)
        let again = "--keychain again --reveal --passcode file:passcode"
        #expect(expect("item find --service Chat \(again)", on: next).text.contains("travels"))
        #expect(!run("item find --service Bank \(again)", on: next).text.contains("bound"))
    }
}
