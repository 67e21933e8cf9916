import AgeEncryption
import ByteStreams
import Cryptography
import TestSupport
import Testing

@Suite struct KeyFileTests {
    private func parse(_ text: String) throws -> IdentityFile {
        try IdentityFile(parsing: secretText(text))
    }

    private func keyText(_ identity: X25519Identity) -> String {
        var text = SecretBytes(capacity: 80)
        identity.encode(into: &text)
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    @Test("a new identity file reads back, with its comments")
    func roundTrip() throws {
        let identity = try X25519Identity.generate()
        let text = IdentityFile.render(identity, created: "2026-03-01T09:30:00Z", comments: ["archive 42"])
        let file = try IdentityFile(parsing: text)
        #expect(file.identities.map(\.recipient) == [identity.recipient])
        #expect(
            file.comments == ["created: 2026-03-01T09:30:00Z", "public key: \(identity.recipient)", "archive 42"])
    }

    @Test("several keys, empty lines and carriage returns are read")
    func severalKeys() throws {
        let one = try X25519Identity.generate()
        let two = try X25519Identity.generate()
        let file = try parse("#a\r\n\r\n\(keyText(one))\r\n\n#  b\n\(keyText(two))")
        #expect(file.identities.map(\.recipient) == [one.recipient, two.recipient])
        #expect(file.comments == ["a", " b"])
    }

    @Test("a private key in a comment stays secret")
    func commentedKey() throws {
        let one = try X25519Identity.generate()
        let two = try X25519Identity.generate()
        let file = try parse("# old: \(keyText(two))\n#\(keyText(two).lowercased())\n# new\n\(keyText(one))\n")
        #expect(file.comments == ["new"])
    }

    @Test("other lines are refused with their number and kind")
    func refusals() throws {
        let key = keyText(try X25519Identity.generate())
        for (line, kind) in [
            ("AGE-SECRET-KEY-PQ-1XX", "post-quantum"), ("AGE-PLUGIN-YUBIKEY-1XX", "plugin"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", "ssh"),
        ] {
            #expect(ageFailure { _ = try parse("#\n\(key)\n\(line)\n") } == .unsupportedKey(line: 3, kind: kind))
        }
        for line in ["x", key.lowercased(), key + " ", " " + key, String(key.dropLast()), "age1"] {
            #expect(ageFailure { _ = try parse("\(key)\n\(line)\n") } == .malformedKey(line: 2), "\(line)")
        }
        for text in ["", "\n\n", "# only a comment\n"] { #expect(ageFailure { _ = try parse(text) } == .noKeys) }
        #expect(ageFailure { _ = try parse("-----BEGIN AGE ENCRYPTED FILE-----\n") } == .armored)
    }

    @Test("an encrypted identity file is recognised, and opened by its passphrase")
    func encrypted() throws {
        let identity = try X25519Identity.generate()
        let text = IdentityFile.render(identity, created: "now").bytesForTest()
        let cost = try #require(ScryptCost(logN: quickCost))
        let file = try encrypt(text, to: [ScryptRecipient(passphrase: secretText("p"), cost: cost)])
        #expect(ageFailure { _ = try IdentityFile(parsing: SecretBytes(copying: file)) } == .encryptedIdentityFile)
        let isEncrypted = IdentityFile.isEncrypted(SecretBytes(copying: file))
        #expect(isEncrypted)
        let opened = try IdentityFile(decrypting: SecretBytes(copying: file), passphrase: secretText("p"))
        #expect(opened.identities.map(\.recipient) == [identity.recipient])
        #expect(
            ageFailure { _ = try IdentityFile(decrypting: SecretBytes(copying: file), passphrase: secretText("q")) }
                == .wrongPassphrase)
        let cut = Array(file.dropLast())
        #expect(
            ageFailure { _ = try IdentityFile(decrypting: SecretBytes(copying: cut), passphrase: secretText("p")) }
                == .stream(StreamFailure(.decrypting, .authenticationFailed, offset: 0)))
    }

    @Test("a list of recipients is read, with comments")
    func recipients() throws {
        let one = try X25519Identity.generate().recipient
        let two = try X25519Identity.generate().recipient
        let list = try RecipientFile.parse(secretText("# us\n\(one)\r\n\n\(two)"))
        #expect(list == [one, two])
    }

    @Test(
        "other recipients are refused with their line and kind",
        arguments: [
            ("ssh-ed25519 AAAAC3Nz me@example.org", "ssh"), ("ssh-rsa AAAA", "ssh"), ("age1yubikey1qwerty", "plugin"),
            ("age1pq1qqqq", "post-quantum"), ("age1tag1qqqq", "tag"), ("AGE-SECRET-KEY-1QQQQ", "private"),
        ])
    func otherRecipients(line: String, kind: String) {
        #expect(
            ageFailure { _ = try RecipientFile.parse(secretText("#\n\(line)\n")) }
                == .unsupportedKey(line: 2, kind: kind))
    }

    @Test("lines that are no recipients are refused, and so is an empty list")
    func malformedRecipients() throws {
        let one = try X25519Identity.generate().recipient
        for line in ["x", "\(one) ", " \(one)", "\(one)x", "\(one)".uppercased(), "age"] {
            #expect(ageFailure { _ = try RecipientFile.parse(secretText("\(one)\n\(line)")) } == .malformedKey(line: 2))
        }
        #expect(ageFailure { _ = try RecipientFile.parse(secretText("# nobody\n")) } == .noKeys)
    }
}
