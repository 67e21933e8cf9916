import Foundation
import KCCryptography
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The import of a device key where another one is in the way")
struct DeviceImportTests {
    private let home: TestHome
    private let other: TestHome

    init() throws {
        home = try TestHome()
        other = try TestHome()
        for home in [home, other] {
            try home.write("passcode", "walnut lantern\n")
            try home.write("passphrase", "correct horse\n")
            try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Bank"},"secret":"kept"}"#)
        }
        for line in [
            "keychain create --passcode file:passcode --held-by tpm", "import items.jsonl --passcode file:passcode",
            "keychain create more --no-passcode", "import items.jsonl --into more",
        ] { try expect(line, on: home) }
        for line in ["keychain create --no-passcode", "device export -o other.age --passphrase file:passphrase"] {
            try expect(line, on: other)
        }
        try home.write("other.age", Array(Data(contentsOf: URL(filePath: other.path("other.age")))))
    }

    @discardableResult
    private func expect(
        _ line: String, _ status: KCTerminal.ExitStatus = .ok, on home: TestHome? = nil
    ) throws -> TestHome.Outcome {
        let outcome = (home ?? self.home).run(line)
        try #require(outcome.status == status, "\(line): \(outcome.messages)")
        return outcome
    }

    private var folder: String { "home/.local/share/kcbackup" }
    private let importOther = "device import other.age --passphrase file:passphrase --passcode file:passcode --yes"
    private let reveal = "item find --service Bank --reveal --passcode file:passcode"

    private func retired() throws -> [String] {
        try home.folder.list().filter { $0.contains("device.key.retired-") }
    }

    @Test("A TPM that is gone keeps nobody from another key, and nothing is to be deleted for it")
    func lostChip() throws {
        home.chip.clear()
        let outcome = try expect(importOther)
        for name in ["login", "more"] {
            let words = "keychain '\(name)' stays with the present key, since no TPM here opens it"
            #expect(outcome.messages.contains(words))
        }
        #expect(!outcome.messages.contains("delete"))
        #expect(try home.run("device show").text.contains("the file") && retired().count == 1)
        let keychain = try expect("item list", .refused)
        #expect(keychain.messages.contains("whose key was replaced"))
    }

    @Test("The states that a move removes are named before the question and without one, if anything is in them")
    func statesOfMovedKeychains() throws {
        let asked = home.run(
            ["device", "import", "other.age", "--passphrase", "file:passphrase", "--passcode", "file:passcode"],
            terminal: ScriptedTerminal(answers: ["n"]))
        #expect(asked.status == .refused, "\(asked.messages)")
        let outcome = try expect(importOther)
        for name in ["login", "more"] {
            let words = "of keychain '\(name)' will be removed; 'undo' cannot bring them back then"
            #expect(asked.messages.contains(words) && outcome.messages.contains(words), "\(outcome.messages)")
        }
    }

    @Test("A TPM that does not answer now is waited for, before anything changes")
    func silentChip() throws {
        for failure in [ChipFailure.noAnswer, .noAccess(path: "/dev/tpmrm0")] {
            home.chip.fail("unseal", failure)
            let outcome = try expect(importOther, .locked)
            #expect(!outcome.messages.contains("delete") && outcome.messages.contains("TPM"))
        }
        home.chip.fail("unseal", nil)
        #expect(try retired() == [])
        #expect(try expect(reveal).text == "kept")
    }

    @Test("An import that was killed before the key was in place is completed by the next one")
    func killed() throws {
        let key = try home.folder.read("\(folder)/device.key")
        let files = ["login", "more"].map { "\(folder)/keychains/\($0).keychain" }
        let before = try files.map { try home.folder.read($0) }
        try expect(importOther)
        let after = try files.map { try home.folder.read($0) }
        // Moved are none, the first, or both; the key of before is still in place, and perhaps retired already.
        for (isRetired, moved) in [(false, 0), (false, 1), (false, 2), (true, 2)] {
            for (index, file) in files.enumerated() {
                try home.folder.write(file, index < moved ? after[index] : before[index])
            }
            try home.folder.write("\(folder)/device.key", key)
            for name in try retired() where !isRetired {
                try FileManager.default.removeItem(atPath: home.folder.path(name))
            }
            try expect(importOther)
            #expect(try expect(reveal).text == "kept", "\(moved)")
            #expect(try expect("item find --service Bank --reveal --keychain more").text == "kept", "\(moved)")
            #expect(try retired().count == 1)
        }
    }

    @Test("A damaged file of a key, in a TPM or not, is kept beside the imported key")
    func damaged() throws {
        let id = try #require(home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/)).0
        try expect(
            "device export -o own.age --passphrase file:passphrase --confirm \(id) --passcode file:passcode")
        let importOwn = "device import own.age --passphrase file:passphrase --yes"
        for round in 1...3 {
            var bytes = try home.folder.read("\(folder)/device.key")
            // In a file, the line about the machine comes last, and another one there is no damage.
            let text = String(decoding: bytes, as: UTF8.self)
            bytes[text.firstRange(of: "KEY-1").map { text[..<$0.upperBound].utf8.count + 9 } ?? bytes.count - 5] ^= 1
            try home.folder.write("\(folder)/device.key", bytes)
            let refused = try expect("item list", .damaged)
            #expect(refused.messages.contains("'kcbackup device import FILE'"))
            let outcome = try expect(importOwn)
            #expect(outcome.messages.contains("is damaged"))
            #expect(try expect(reveal).text == "kept")
            // The second and the third are the same file.
            let names = try retired().sorted()
            let kept = ["\(folder)/device.key.retired-damaged", "\(folder)/device.key.retired-damaged-2"]
            #expect(names == Array(kept.prefix(round)))
            #expect(try home.folder.read(kept[min(round, 2) - 1]) == bytes)
            #expect(try expect("device show").text.contains("the file"))
        }
        try expect("device seal --without-archive --yes")
    }
}
