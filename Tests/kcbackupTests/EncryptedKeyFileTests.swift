import Foundation
import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Encrypted identity and recipients files")
struct EncryptedKeyFileTests {
    private let home: TestHome
    private let identity: X25519Identity

    init() throws {
        home = try TestHome()
        identity = try X25519Identity.generate()
        try home.write("key.txt", IdentityFile.text(of: .x25519(identity), comments: []).bytesForTest())
        try write("key.age", home.folder.read("work/key.txt"))
        try write("key.asc", home.folder.read("work/key.txt"), isArmored: true)
        try home.write("passphrase", "walnut\n")
        try home.write("wrong", "lantern\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("create a.kcb -r \(identity.recipient)").status == .ok)
    }

    /// Writes an age file for the passphrase "walnut", or for other recipients.
    private func write(
        _ name: String, _ text: [UInt8], isArmored: Bool = false, to recipients: [any Recipient] = [], mode: Int = 0o600
    ) throws {
        let cost = try #require(ScryptCost(logN: 1))
        let walnut = ScryptRecipient(passphrase: SecretBytes(copying: Array("walnut".utf8)), cost: cost)
        var encryptor = try AgeEncryptor(recipients: recipients.isEmpty ? [walnut] : recipients, to: MemorySink())
        try encryptor.write(text.span)
        let file = try encryptor.finish()
        guard isArmored else { return try home.write(name, file, mode: mode) }
        let base64 = Data(file).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try home.write(
            name, "-----BEGIN AGE ENCRYPTED FILE-----\n\(base64)\n-----END AGE ENCRYPTED FILE-----\n", mode: mode)
    }

    private func run(_ line: String, _ terminal: ScriptedTerminal) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), terminal: terminal)
    }

    @Test(
        "The passphrase is typed, with three tries, or comes from a source, with one",
        arguments: ["key.age", "key.asc"])
    func passphrases(_ file: String) {
        let typed = ScriptedTerminal(answers: ["x", "y", "walnut"])
        #expect(run("verify a.kcb -i \(file)", typed).status == .ok)
        #expect(typed.asked.first == "Enter the passphrase of the identity file '\(file)': ")
        #expect(
            typed.asked.last
                == "Wrong passphrase; 1 more try.\nEnter the passphrase of the identity file '\(file)': ")
        let wrong = ScriptedTerminal(answers: ["x", "y", "z", "walnut"])
        let outcome = run("verify a.kcb -i \(file)", wrong)
        #expect(outcome.status == .wrongKey)
        #expect(wrong.unasked == 1)
        #expect(outcome.messages == "kcbackup: error: wrong passphrase for '\(file)'\n")

        #expect(home.run("verify a.kcb -i \(file) --identity-passphrase file:passphrase").status == .ok)
        let attended = ScriptedTerminal(answers: ["walnut"])
        let sourced = run("verify a.kcb -i \(file) --identity-passphrase file:wrong", attended)
        #expect(sourced.status == .wrongKey)
        #expect(attended.unasked == 1)
    }

    @Test("Without a terminal and a source, the hint says how to give a source")
    func noSource() {
        let outcome = home.run("verify a.kcb -i key.asc")
        #expect(outcome.status == .usage)
        #expect(outcome.messages.contains("hint: say where it comes from with '--identity-passphrase SOURCE'"))
        #expect(home.run("verify a.kcb -i key.asc --identity-passphrase walnut").status == .usage)
        #expect(home.run("verify a.kcb --identity-passphrase file:passphrase").status == .usage)
        // Standard input cannot be used twice.
        for line in ["verify - -i -", "verify a.kcb -i - -i -", "verify a.kcb -i - --identity-passphrase fd:0"] {
            let twice = home.run(line)
            #expect(twice.status == .usage, "\(line)")
            #expect(twice.messages.contains("'-' is given twice, but can be read only once"), "\(line)")
        }
        #expect(
            home.run("create b.kcb -R - -R -").messages.contains(
                "'-' is given twice, but can be read only once"))
    }

    @Test("With its passphrase, an encrypted identity is shown with the archives that it opens")
    func keysOfFolder() throws {
        let other = try X25519Identity.generate()
        try write("other.age", IdentityFile.text(of: .x25519(other), comments: []).bytesForTest())
        #expect(home.run("create --to backups -r \(identity.recipient)").status == .ok)

        let shown = home.run("list backups --keys -i key.asc -i other.age --identity-passphrase file:passphrase")
        #expect(shown.status == .ok)
        #expect(shown.text.contains(".kcb  key.asc\n"))
        let none = home.run("list backups --keys -i other.age --identity-passphrase file:passphrase")
        #expect(none.text.contains(".kcb  none of these\n"))
        let typed = ScriptedTerminal(answers: ["x", "walnut"])
        #expect(run("list backups --keys -i key.age", typed).text.contains(".kcb  key.age\n"))

        let wrong = home.run("list backups --keys -i key.age --identity-passphrase file:wrong")
        #expect(wrong.status == .wrongKey)
        #expect(wrong.text == "")
        let unattended = home.run("list backups --keys -i key.age")
        #expect(unattended.status == .usage)
        #expect(unattended.messages.contains("hint: say where it comes from with '--identity-passphrase SOURCE'"))
        for line in [
            "list backups --keys --identity-passphrase file:passphrase",
            "list backups --keys -i key.age --identity-passphrase walnut", "list backups --keys -i - -i -",
            "list backups --keys -i - --identity-passphrase fd:0",
        ] {
            #expect(home.run(line).status == .usage, "\(line)")
        }
    }

    @Test("A passphrase source for an unencrypted file is not read, and -v says so")
    func notNeeded() {
        let outcome = home.run("verify a.kcb -i key.txt --identity-passphrase file:missing -v")
        #expect(outcome.status == .ok)
        #expect(outcome.messages == "'key.txt' is not encrypted, so '--identity-passphrase' is not read\n")
    }

    @Test("A file that no passphrase opens is refused before one is asked for")
    func notForPassphrase() throws {
        let terminal = ScriptedTerminal(answers: ["walnut"])
        try write("other.age", [1], to: [identity.recipient])
        let other = run("verify a.kcb -i other.age", terminal)
        #expect(other.status == .wrongKey)
        #expect(other.messages.contains("is itself encrypted, and not with a passphrase"))
        let armor = String(decoding: try home.folder.read("work/key.asc"), as: UTF8.self)
        try home.write("broken.asc", armor.replacing("-----END", with: "x\n-----END"))
        let broken = run("verify a.kcb -i broken.asc", terminal)
        #expect(broken.status == .damaged)
        #expect(broken.messages.contains("the text armor of 'broken.asc' is malformed"))
        try write("twice.age", home.folder.read("work/key.age"))
        let twice = run("verify a.kcb -i twice.age --identity-passphrase file:passphrase", terminal)
        #expect(twice.status == .wrongKey)
        #expect(terminal.unasked == 1)
    }

    @Test("A symbolic link is followed, and its target must be a private file in a private folder")
    func links() throws {
        let folder = home.workingFolder
        for (name, target) in [("link", "key.txt"), ("second", "link"), ("exposed", "open.txt"), ("shared", "tmp/key")]
        {
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
        }
        try home.write("open.txt", home.folder.read("work/key.txt"), mode: 0o644)
        try FileManager.default.createDirectory(atPath: "\(folder)/tmp", withIntermediateDirectories: false)
        try home.write("tmp/key", home.folder.read("work/key.txt"))
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: "\(folder)/tmp")
        #expect(home.run("verify a.kcb -i link").status == .ok)
        #expect(home.run("verify a.kcb -i second").status == .ok)
        let exposed = home.run("verify a.kcb -i exposed")
        #expect(exposed.status == .refused)
        #expect(exposed.messages.contains("exposed"))
        #expect(home.run("verify a.kcb -i shared").status == .refused)
        #expect(home.run("verify a.kcb -i tmp").status == .refused)
    }

    @Test("A file of public keys may be encrypted too, and readable by others")
    func recipients() throws {
        try write("team.asc", Array("# us\n\(identity.recipient)\n".utf8), isArmored: true, mode: 0o644)
        #expect(home.run("create b.kcb -R team.asc").status == .usage)
        #expect(home.run("create b.kcb -R team.asc --recipients-passphrase file:wrong").status == .wrongKey)
        #expect(home.run("create b.kcb -R team.asc --recipients-passphrase file:passphrase").status == .ok)
        #expect(home.run("verify b.kcb -i key.txt").status == .ok)
        let terminal = ScriptedTerminal(answers: ["x", "walnut"])
        #expect(run("create c.kcb -R team.asc", terminal).status == .ok)
        #expect(terminal.asked.first == "Enter the passphrase of the recipients file 'team.asc': ")
        #expect(home.run("create d.kcb --recipients-passphrase file:passphrase").status == .usage)
        #expect(home.run("create d.kcb --unencrypted --recipients-passphrase file:passphrase").status == .usage)
        #expect(home.run("create d.kcb -R team.asc --recipients-passphrase walnut").status == .usage)
    }

    @Test("An exported device key may be armored, and opens with an encrypted identity")
    func deviceKey() throws {
        #expect(home.run("device export -o device.age -r \(identity.recipient)").status == .ok)
        #expect(
            home.run("device import device.age -i key.asc --identity-passphrase file:passphrase --yes").status == .ok)
        let binary = Data(try home.folder.read("work/device.age"))
        let lines = binary.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try home.write(
            "device.asc", "-----BEGIN AGE ENCRYPTED FILE-----\n\(lines)\n-----END AGE ENCRYPTED FILE-----\n")
        #expect(home.run("device import device.asc -i key.txt --yes").status == .ok)
    }
}
