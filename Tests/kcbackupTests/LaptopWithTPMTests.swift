import Foundation
import KCDeviceIdentity
import KCStoreTasks
import KCTerminal
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
            world.machine.chip = DeviceChip(tpm.chip)
            world.output = output
            world.messages = messages
            return CommandLineTool.program.run(line.split(separator: " ").map(String.init), in: world)
        }
    }

    private func expect(_ line: String, on tpm: SoftwareTPM, _ status: KCTerminal.ExitStatus = .ok) -> TestHome.Outcome
    {
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

    /// A laptop whose TPM allows 32 wrong guesses, as most do.
    private func countingLaptop() throws -> SoftwareTPM {
        let laptop = try SoftwareTPM()
        try laptop.run("tpm2_dictionarylockout", "-s", "-n", "32", "-t", "600", "-l", "86400", in: home.folder)
        _ = expect("keychain create --passcode file:passcode --held-by tpm --counted-by tpm", on: laptop)
        _ = expect("import items.jsonl --passcode file:passcode", on: laptop)
        _ = expect("create here.kcb --unencrypted", on: laptop)
        return laptop
    }

    private let reveal = "item find --service Bank --reveal --passcode file:passcode"
    private let file = "home/.local/share/kcbackup/keychains/login.keychain"

    @Test("Who stole the whole laptop guesses as often as its TPM allows, whatever they put back")
    func wholeLaptop() throws {
        let laptop = try countingLaptop()
        try home.write("guess", "lantern walnut\n")
        let before = try home.folder.read(file)
        var guesses = 0
        while guesses < 40 {
            let line =
                guesses.isMultiple(of: 2)
                ? "item find --service Bank --reveal --passcode file:guess"
                : "restore here.kcb --keychain again --archive-passcode file:guess --passcode file:passcode"
            let outcome = run(line, on: laptop)
            if outcome.status == .locked { break }
            #expect(outcome.status == .wrongKey, "\(outcome.messages)")
            guesses += 1
            // Otherwise the count in the file would slow them down.
            try home.folder.write(file, before)
        }
        #expect(guesses == 28)
        let refused = expect(reveal, on: laptop, .locked)
        #expect(refused.messages.contains("the next try is possible in 10 min at the latest"))
        try laptop.stop()
        try laptop.start()
        _ = expect(reveal, on: laptop, .locked)
        _ = expect(reveal, on: try SoftwareTPM(), .refused)
        // Where the TPM has no lockout password, whoever may use it gives themselves more guesses.
        try laptop.run("tpm2_dictionarylockout", "-c", in: home.folder)
        #expect(expect(reveal, on: laptop).text.contains("bound"))
    }

    @Test(
        "A passcode that the TPM counts moves to a new board, with its archives, once the old TPM has stopped counting")
    func newBoard() throws {
        let laptop = try countingLaptop()
        let id = try #require(expect("device show", on: laptop).text.firstMatch(of: /KC-[A-Z2-7-]+/)).0
        let unseal = "device unseal --confirm \(id) --passcode file:passcode"
        #expect(expect(unseal, on: laptop, .refused).messages.contains("counts the passcode of 'login'"))
        let setPasscode = "keychain set-passcode --passcode file:passcode --new-passcode file:passcode --yes"
        _ = expect("\(setPasscode) --counted-by file", on: laptop)
        _ = expect(unseal, on: laptop)

        let board = try SoftwareTPM()
        try board.run("tpm2_dictionarylockout", "-s", "-n", "32", "-t", "600", "-l", "86400", in: home.folder)
        #expect(expect(reveal, on: board).text.contains("bound"))
        _ = expect("device seal --without-archive --yes", on: board)
        _ = expect("\(setPasscode) --counted-by tpm", on: board)
        #expect(expect(reveal, on: board).text.contains("bound"))
        // The share of an archive from before is in the old TPM; the keychain has its class keys.
        _ = expect("item delete --service Bank --yes --passcode file:passcode", on: board)
        _ = expect("restore here.kcb --passcode file:passcode", on: board)
        #expect(expect(reveal, on: board).text.contains("bound"))
        _ = expect(reveal, on: laptop, .refused)
    }

    @Test(
        "Laptop and disk are gone, and the kit, typed on an empty machine, brings back all but ThisDeviceOnly items",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"))
    func kitOnAnEmptyMachine() throws {
        let laptop = try countingLaptop()
        _ = expect("recovery make -o kit.txt", on: laptop)
        let sheet = String(decoding: try home.folder.read("work/kit.txt"), as: UTF8.self)
        let lines = sheet.matches(of: /(?m)^  [1-4]   ([A-Z0-9 ]+)$/).map { String($0.1) }
        let recipient = try #require(sheet.firstMatch(of: /age1[a-z0-9]+/)).0
        _ = expect("create elsewhere.kcb -r \(recipient) --passcode file:passcode", on: laptop)

        // The sheet, the archive and what its owner knows are all that is left.
        let empty = try TemporaryFolder()
        try empty.write("elsewhere.kcb", home.folder.read("work/elsewhere.kcb"))
        try FileManager.default.removeItem(atPath: home.folder.path)
        let environment = [
            "HOME": empty.path, "PATH": "/usr/bin:/bin", "TZ": "UTC", "TERM": "xterm-256color",
            "KCBACKUP": try ExternalProgram.built("kcbackup"),
        ]
        let script = "\"$KCBACKUP\" restore elsewhere.kcb -i tty; echo ended with $?; exec cat"
        let terminal = try TmuxTerminal(
            columns: 80, rows: 24, ["sh", "-c", script], environment: environment, in: empty.path)
        let dialogue = zip(
            [
                "Line 1:", "Line 2:", "Line 3:", "Line 4:", "anyway? [y/N]", "into it? [y/N]", "new passcode",
                "it again:",
            ],
            lines + ["y", "y", "orbit velvet", "orbit velvet"])
        for (question, answer) in dialogue {
            try terminal.wait(until: { $0.contains(question) })
            try terminal.type(.text(answer), .key("Enter"))
        }
        try terminal.wait(until: { $0.contains("ended with 0") })
        #expect(try terminal.screen().contains(" behind:"))

        try empty.write("passcode", Array("orbit velvet\n".utf8))
        func found(_ service: String) throws -> ExternalProgram.Outcome {
            try ExternalProgram.run(
                environment["KCBACKUP"] ?? "",
                ["item", "find", "--service", service, "--reveal", "--passcode", "file:passcode"],
                environment: environment, in: empty.path)
        }
        #expect(try found("Chat").text.contains("travels"))
        #expect(try found("Bank").status == 10)
    }
}
