import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// A machine that was reinstalled: an archive is restored first, and the device key comes back later.
@Suite("A device key that comes back after a restore")
struct KeychainMoveTests {
    private let old: TestHome
    private let new: TestHome

    /// Makes an archive with a ThisDeviceOnly item and a copy of the device key on one machine, and copies both to
    /// another.
    init() throws {
        old = try TestHome()
        new = try TestHome()
        for home in [old, new] {
            for (name, text) in [("pass", "correct horse"), ("code", "battery staple")] { try home.write(name, text) }
        }
        for line in [
            "keychain create --no-passcode", "item add --service free --secret file:pass",
            "item add --service bound --secret file:code --accessible WhenUnlockedThisDeviceOnly",
            "create a.kcb --passphrase file:pass", "device export -o key.age --passphrase file:pass",
        ] { #expect(old.run(line).status == .ok) }
        for name in ["a.kcb", "key.age"] { try new.write(name, Array(Data(contentsOf: URL(filePath: old.path(name))))) }
    }

    private var restore: String { "restore a.kcb --keychain login --passphrase file:pass --passcode file:code" }

    @Test("A restore before 'device import' names it, and after the import everything opens")
    func importAfterRestore() throws {
        let first = new.run(restore)
        #expect(first.status == .ok)
        #expect(first.messages.contains("that made the archive, reinstalled: 'kcbackup device import FILE'"))
        #expect(new.run("item find --service bound").status == .notFound)

        let imported = new.run("device import key.age --passphrase file:pass --passcode file:code --yes -v")
        #expect(imported.status == .ok, "\(imported.messages)")
        #expect(imported.messages.contains("keychain 'login' belongs to device KC-"))
        #expect(new.run("item find --service free --reveal --passcode file:code").text == "correct horse")

        #expect(new.run(restore).status == .ok)
        #expect(new.run("item find --service bound --reveal --passcode file:code").text == "battery staple")
        // Both keys are kept.
        let files = try FileManager.default.contentsOfDirectory(atPath: new.home + "/.local/share/kcbackup")
        #expect(files.contains { $0.hasPrefix("device.key.retired-") })
    }

    @Test("If the passcode of a keychain that would be moved is wrong or missing, neither it nor the key changes")
    func wrongPasscode() throws {
        #expect(new.run(restore).status == .ok)
        let before = new.run("device show").text
        let wrong = new.run("device import key.age --passphrase file:pass --passcode file:pass --yes")
        #expect(wrong.status == .wrongKey, "\(wrong.messages)")
        let missing = new.run("device import key.age --passphrase file:pass --yes")
        #expect(missing.status == .usage, "\(missing.messages)")
        #expect(new.run("device show").text == before)
        #expect(new.run("item find --service free --reveal --passcode file:code").text == "correct horse")
    }

    @Test("One passcode is tried on none of several keychains, and on a terminal each is asked for")
    func passcodeOfSeveral() throws {
        for line in ["keychain create --passcode file:code", "keychain create work --passcode file:pass"] {
            #expect(new.run(line).status == .ok)
        }
        let before = new.run("device show").text
        let line = "device import key.age --passphrase file:pass --yes"
        let refused = new.run("\(line) --passcode file:code")
        #expect(refused.status == .usage, "\(refused.messages)")
        #expect(refused.messages.contains("keychains 'login', 'work' have a passcode each"), "\(refused.messages)")
        #expect(try ["login", "work"].map { try new.wrongPasscodes($0) } == [0, 0])
        let unasked = new.run(line)
        #expect(unasked.status == .usage && !unasked.messages.contains("--passcode"), "\(unasked.messages)")
        #expect(unasked.messages.contains("on a terminal, each is asked for"), "\(unasked.messages)")
        #expect(new.run("device show").text == before)
        let terminal = ScriptedTerminal(answers: ["battery staple", "correct horse"])
        let imported = new.run(line.split(separator: " ").map { String($0) }, terminal: terminal)
        #expect(imported.status == .ok, "\(imported.messages)")
    }

    @Test("The escrow key of a keychain that was moved still opens it")
    func escrowIsMoved() throws {
        for line in [
            restore, "keychain escrow enable -o escrow --passcode file:code",
            "device import key.age --passphrase file:pass --passcode file:code --yes",
        ] { #expect(new.run(line).status == .ok) }
        #expect(new.run("create b.kcb --passphrase file:pass --escrow escrow").status == .ok)
    }

    @Test("Where the device key is missing, every verb that needs it names 'device import FILE' first")
    func missingKey() throws {
        try FileManager.default.removeItem(atPath: old.home + "/.local/share/kcbackup/device.key")
        for line in [
            "item list", "item find free", "item add --service x --generate", "item delete --service free",
            "item update --service free --set account=x", "create b.kcb --passphrase file:pass",
            "create b.kcb --unencrypted", "create --to backups --passphrase file:pass", "undo",
            "undo --list", "restore a.kcb --passphrase file:pass", "keychain unlock",
            "keychain lock", "keychain set-passcode --no-passcode", "keychain info", "keychain create other",
            "keychain escrow revoke", "device show", "device list", "device export -o copy --passphrase file:pass",
            "device adopt", "doctor", "export --to csv --plaintext -o out.csv", "diff a.kcb --passphrase file:pass",
            "rekey a.kcb --passphrase file:pass --new-passphrase file:code",
        ] {
            let outcome = old.run(line)
            #expect(outcome.status != .ok, "\(line)")
            // The first line says what is wrong, the next one what to do.
            let hint = (line == "doctor" ? outcome.text : outcome.messages).split(separator: "\n").dropFirst().first
            #expect(hint?.contains("'kcbackup device import FILE'") == true, "\(line): \(outcome.messages)")
        }
    }
}
