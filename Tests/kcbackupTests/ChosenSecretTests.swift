import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Secrets that are set from files of other systems")
struct ChosenSecretTests {
    private let home: TestHome
    private static let secret = "walnut lantern"
    private static let files = [
        "\(secret)\r\n", "\u{feff}\(secret)\n", "\u{feff}\(secret)\r\n", "\u{feff}\(secret)", "\(secret)\r",
    ]

    init() throws {
        home = try TestHome()
        try home.write("plain", "\(Self.secret)\n")
        try home.write("old", "orbit velvet\n")
    }

    /// Runs a command line that must succeed; what is not answered is not asked for.
    private func succeed(_ line: String, _ answers: String...) throws {
        let terminal = answers.isEmpty ? ScriptedTerminal() : ScriptedTerminal(answers: answers)
        let outcome = home.run(line.split(separator: " ").map(String.init), terminal: terminal)
        try #require(outcome.status == .ok, "\(line): \(outcome.messages)")
        #expect(terminal.unasked == 0, "\(line)")
    }

    @Test("Whatever sets a secret from a file of Windows makes what the typed secret opens", arguments: files.prefix(2))
    func everyVerb(text: String) throws {
        try home.write("secret", text)
        try succeed("keychain create --no-passcode")
        try succeed("item add --service x --generate")

        try succeed("create a.kcb --passphrase file:secret")
        try succeed("verify a.kcb", Self.secret)
        try succeed("create b.kcb --passphrase file:old")
        try succeed("rekey b.kcb --passphrase file:old --new-passphrase file:secret")
        try succeed("verify b.kcb", Self.secret)
        try succeed("restore b.kcb --passphrase file:plain --keychain restored --passcode file:secret")
        try succeed("keychain unlock restored", Self.secret)

        try succeed("keychain create made --passcode file:secret")
        try succeed("keychain unlock made", Self.secret)
        try succeed("keychain create changed --passcode file:old")
        try succeed("keychain set-passcode changed --passcode file:old --new-passcode file:secret --yes")
        try succeed("keychain unlock changed", Self.secret)

        try succeed("export --to bitwarden -o export.json --password file:secret")
        try succeed("item list --keychain file:export.json --passcode tty", Self.secret)
        try succeed("device export -o device.age --passphrase file:secret")
        try succeed("device import device.age --yes", Self.secret)

        try succeed("schedule add job --keychain login --to backups --passphrase file:secret")
        try succeed("run job")
        try succeed("verify backups --passphrase tty", Self.secret)
    }

    @Test("A job's passphrase that will be hard to type is warned of when the job is made")
    func jobs() throws {
        try home.write("blank", "\(Self.secret) \n")
        try succeed("keychain create --no-passcode")
        let outcome = home.run("schedule add job --keychain login --to backups --passphrase file:blank")
        #expect(outcome.messages.contains("begins or ends with a blank"), "\(outcome.messages)")
    }

    @Test("An age file and an archive whose passphrase was set with marks of Windows open", arguments: files)
    func earlierFiles(text: String) throws {
        let kept = text.exact.removingSuffix("\n") ?? text
        let passphrase = SecretBytes(copying: Array(kept.utf8))
        let cost = try #require(ScryptCost(logN: 1))
        let identity = try X25519Identity.generate()
        var encryptor = try AgeEncryptor(
            recipients: [ScryptRecipient(passphrase: passphrase, cost: cost)], to: MemorySink())
        try encryptor.write(IdentityFile.text(of: .x25519(identity), comments: []).bytesForTest().span)
        try home.write("key.age", encryptor.finish())
        try succeed("keychain create --no-passcode")
        try succeed("create a.kcb -r \(identity.recipient)")
        try succeed("verify a.kcb -i key.age", Self.secret)
        try home.write("file", text)
        try succeed("verify a.kcb -i key.age --identity-passphrase file:file")
        try succeed("verify a.kcb -i key.age --identity-passphrase file:plain")
    }
}
