import Foundation
import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

/// Tests against Debian's `age` as an independent implementation.
@Suite(.waitsForPrograms, .enabled(if: ExternalProgram.locate("age") != nil, "age is not installed"))
struct InteropTests {
    static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]

    @Test("age decrypts our files, and we decrypt age's", arguments: sizes)
    func bothWays(_ size: Int) throws {
        var random = SeededRandom(seed: UInt64(size))
        let plaintext = random.bytes(size)
        let folder = try TemporaryFolder()
        let made = try ExternalProgram.run("age-keygen", ["-o", folder.path("key")])
        try #require(made.status == 0)
        let identities = try IdentityFile.parse(SecretBytes(copying: folder.read("key"))).identities
        let recipient = try #require(identities.first?.recipient)

        try folder.write("ours.age", encrypt(plaintext, to: [recipient]))
        let theirs = try ExternalProgram.run("age", ["-d", "-i", folder.path("key"), folder.path("ours.age")])
        #expect(theirs.status == 0)
        #expect(theirs.output == plaintext)

        let encrypted = try ExternalProgram.run("age", ["-r", recipient.description], input: plaintext)
        try #require(encrypted.status == 0)
        #expect(try decrypt(encrypted.output, with: identities) == plaintext)
    }

    @Test("age-keygen derives the same recipient from an identity file that we write")
    func keygen() throws {
        let identity = try X25519Identity.generate()
        let folder = try TemporaryFolder()
        let text = IdentityFile.text(of: .x25519(identity), comments: ["created: 2026-03-01T09:30:00Z"]).bytesForTest()
        try folder.write("key", text)
        let derived = try ExternalProgram.run("age-keygen", ["-y", folder.path("key")])
        #expect(derived.text == "\(identity.recipient)\n")
    }

    @Test("age decrypts our passphrase-encrypted file", .enabled(if: hasTerminal, noTerminal))
    func passphrase() throws {
        let folder = try TemporaryFolder()
        try folder.write("ours.age", encrypt(Array("by passphrase".utf8), to: [passphraseRecipient()]))
        try onTerminal("age -d -o plain ours.age", answers: ["pass word"], in: folder)
        #expect(try folder.read("plain") == Array("by passphrase".utf8))
    }

    @Test("age decrypts our files with our encrypted identity file", .enabled(if: hasTerminal, noTerminal))
    func encryptedIdentityFile() throws {
        let folder = try TemporaryFolder()
        let identity = try X25519Identity.generate()
        let text = IdentityFile.text(of: .x25519(identity), comments: ["a comment"]).bytesForTest()
        try folder.write("identity.age", encrypt(text, to: [passphraseRecipient()]))
        try folder.write("ours.age", encrypt(Array("by both".utf8), to: [identity.recipient]))
        try onTerminal("age -d -i identity.age -o plain ours.age", answers: ["pass word"], in: folder)
        #expect(try folder.read("plain") == Array("by both".utf8))
    }

    @Test("We decrypt what age encrypts with a passphrase", .enabled(if: hasTerminal, noTerminal))
    func theirPassphrase() throws {
        let folder = try TemporaryFolder()
        try folder.write("plain", Array("by passphrase".utf8))
        try onTerminal("age -p -o theirs.age plain", answers: ["pass word", "pass word"], in: folder)
        let identity = ScryptIdentity(passphrase: secretText("pass word"))
        #expect(try decrypt(folder.read("theirs.age"), with: [identity]) == Array("by passphrase".utf8))
    }

    static let hasTerminal = ExternalProgram.locate("script") != nil
    static let noTerminal: Comment = "script is not installed"

    private func passphraseRecipient() throws -> ScryptRecipient {
        try ScryptRecipient(passphrase: secretText("pass word"), cost: #require(ScryptCost(logN: 10)))
    }

    /// Runs `command` on a new terminal and types `answers`.
    private func onTerminal(_ command: String, answers: [String], in folder: TemporaryFolder) throws {
        let typed = answers.map { $0 + "\n" }.joined()
        _ = try ExternalProgram.run(
            "script", ["-qec", command, "/dev/null"], input: Array(typed.utf8), in: folder.path)
    }
}
