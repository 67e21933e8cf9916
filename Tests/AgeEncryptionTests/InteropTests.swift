import AgeEncryption
import ByteStreams
import Cryptography
import Foundation
import TestSupport
import Testing

/// Debian's `age` as the outside judge.
@Suite(.enabled(if: ExternalProgram.locate("age") != nil, "age is not installed"))
struct InteropTests {
    static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]

    @Test("age opens what we encrypt, and we open what age encrypts", arguments: sizes)
    func bothWays(_ size: Int) throws {
        var random = SeededRandom(seed: UInt64(size))
        let plaintext = random.bytes(size)
        let folder = try TemporaryFolder()
        let made = try ExternalProgram.run("age-keygen", ["-o", folder.path("key")])
        try #require(made.status == 0)
        let identities = try IdentityFile(parsing: SecretBytes(copying: folder.read("key"))).identities
        let recipient = try #require(identities.first?.recipient)

        try folder.write("ours.age", encrypt(plaintext, to: [recipient]))
        let theirs = try ExternalProgram.run("age", ["-d", "-i", folder.path("key"), folder.path("ours.age")])
        #expect(theirs.status == 0)
        #expect(theirs.output == plaintext)

        let encrypted = try ExternalProgram.run("age", ["-r", recipient.description], input: plaintext)
        try #require(encrypted.status == 0)
        #expect(try decrypt(encrypted.output, with: identities) == plaintext)
    }

    @Test("age-keygen derives the recipient that we do, from the file that we write")
    func keygen() throws {
        let identity = try X25519Identity.generate()
        let folder = try TemporaryFolder()
        let text = IdentityFile.render(identity, created: "2026-03-01T09:30:00Z").bytesForTest()
        try folder.write("key", text)
        let derived = try ExternalProgram.run("age-keygen", ["-y", folder.path("key")])
        #expect(derived.text == "\(identity.recipient)\n")
    }

    @Test(
        "age opens our passphrase file on a terminal",
        .enabled(if: ExternalProgram.locate("script") != nil, "script is not installed"))
    func passphrase() throws {
        let folder = try TemporaryFolder()
        let cost = try #require(ScryptCost(logN: 10))
        let file = try encrypt(
            Array("by passphrase".utf8), to: [ScryptRecipient(passphrase: secretText("pass word"), cost: cost)])
        try folder.write("ours.age", file)
        _ = try ExternalProgram.run(
            "script", ["-qec", "age -d -o plain ours.age", "/dev/null"], input: Array("pass word\n".utf8),
            in: folder.path)
        #expect(try folder.read("plain") == Array("by passphrase".utf8))
    }
}
