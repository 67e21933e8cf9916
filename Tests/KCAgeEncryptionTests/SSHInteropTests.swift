import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

/// Tests against age and `ssh-keygen`, with keys that are made anew.
@Suite(
    .waitsForPrograms,
    .enabled(
        if: ExternalProgram.locate("age") != nil && ExternalProgram.locate("ssh-keygen") != nil,
        "age or ssh-keygen is not installed"))
struct SSHInteropTests {
    private static let kinds = [
        ["-t", "ed25519"], ["-t", "rsa", "-b", "2048"], ["-t", "rsa", "-b", "3072", "-m", "PEM"],
        ["-t", "rsa", "-b", "2056", "-m", "PKCS8"],
    ]

    @Test("age decrypts our files with an SSH key, and we decrypt age's", arguments: kinds)
    func bothWays(_ kind: [String]) throws {
        let plaintext = Array("by an SSH key".utf8)
        let folder = try TemporaryFolder()
        let made = try ExternalProgram.run(
            "ssh-keygen", kind + ["-q", "-N", "", "-C", "a comment", "-f", folder.path("key")])
        try #require(made.status == 0, "\(made.errorText)")
        let file = try IdentityFile.parse(SecretBytes(copying: folder.read("key")))
        let recipients = try RecipientFile.parse(String(decoding: folder.read("key.pub"), as: UTF8.self))
        #expect(recipients.map(\.description) == file.held.map(\.publicKey))

        try folder.write("ours.age", encrypt(plaintext, to: recipients.map(\.recipient)))
        let theirs = try ExternalProgram.run("age", ["-d", "-i", folder.path("key"), folder.path("ours.age")])
        #expect(theirs.status == 0, "\(theirs.errorText)")
        #expect(theirs.output == plaintext)

        for arguments in [["-R", folder.path("key.pub")], ["-r", recipients[0].description]] {
            let encrypted = try ExternalProgram.run("age", arguments, input: plaintext)
            try #require(encrypted.status == 0, "\(encrypted.errorText)")
            #expect(try decrypt(encrypted.output, with: file.all) == plaintext)
        }
    }

    @Test("A key with a passphrase opens nothing, and its copy without one does")
    func locked() throws {
        let folder = try TemporaryFolder()
        _ = try ExternalProgram.run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", folder.path("key")])
        #expect(
            ageFailure { _ = try IdentityFile.parse(SecretBytes(copying: folder.read("key"))) }
                == .sshIdentity(.encrypted))
        for form in [["-m", "PEM"], ["-m", "PKCS8"]] {
            _ = try ExternalProgram.run(
                "ssh-keygen", ["-q", "-t", "rsa", "-N", "secret", "-f", folder.path("rsa" + form[1])] + form)
            #expect(
                ageFailure { _ = try IdentityFile.parse(SecretBytes(copying: folder.read("rsa" + form[1]))) }
                    == .sshIdentity(.encrypted))
        }
        let changed = try ExternalProgram.run(
            "ssh-keygen", ["-q", "-p", "-P", "secret", "-N", "", "-f", folder.path("key")])
        try #require(changed.status == 0, "\(changed.errorText)")
        let file = try IdentityFile.parse(SecretBytes(copying: folder.read("key")))
        let recipients = try RecipientFile.parse(String(decoding: folder.read("key.pub"), as: UTF8.self))
        #expect(try decrypt(encrypt([1], to: recipients.map(\.recipient)), with: file.all) == [1])
    }
}
