import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCAgeEncryption

@Suite struct KeyFileTests {
    private func parse(_ text: String) throws -> IdentityFile {
        try IdentityFile.parse(secretText(text))
    }

    private func keyText(_ identity: NativeIdentity) -> String {
        var text = SecretBytes(capacity: 80)
        identity.encode(into: &text)
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    @Test("A new identity file reads back with its comments")
    func roundTrip() throws {
        let identity = try NativeIdentity.generate(.x25519)
        let text = IdentityFile.text(of: identity, comments: ["created: 2026-03-01T09:30:00Z", "archive 42"])
        let file = try IdentityFile.parse(text)
        #expect(file.identities.map(\.recipient) == [identity.recipient])
        #expect(
            file.comments == ["created: 2026-03-01T09:30:00Z", "archive 42", "public key: \(identity.recipient)"])
    }

    @Test("A comment that contains a line break is a programming error", arguments: ["a\nb", "a\r"])
    func commentOfTwoLines(_ comment: String) async {
        await #expect(processExitsWith: .failure) { [comment] in
            _ = IdentityFile.text(of: try NativeIdentity.generate(.x25519), comments: [comment]).count
        }
    }

    @Test("Several keys, empty lines and carriage returns are accepted")
    func severalKeys() throws {
        let one = try NativeIdentity.generate(.x25519)
        let two = try NativeIdentity.generate(.x25519)
        let file = try parse("#a\r\n\r\n\(keyText(one))\r\n\n#  b\n\(keyText(two))")
        #expect(file.identities.map(\.recipient) == [one.recipient, two.recipient])
        #expect(file.comments == ["a", " b"])
    }

    @Test("A private key in a comment is kept secret")
    func commentedKey() throws {
        let one = try NativeIdentity.generate(.x25519)
        let two = try NativeIdentity.generate(.x25519)
        let file = try parse("# old: \(keyText(two))\n#\(keyText(two).lowercased())\n# new\n#\n\(keyText(one))\n")
        #expect(file.comments == ["new", ""])
    }

    @Test("A file as editors of Windows write it is refused for that")
    func encodings() throws {
        let key = keyText(try NativeIdentity.generate(.x25519)) + "\r\n"
        let little = key.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        let big = key.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        for (bytes, isUTF16) in [
            ([0xef, 0xbb, 0xbf] + Array(key.utf8), false), ([0xff, 0xfe] + little, true), (little, true),
            ([0xfe, 0xff] + big, true), (big, true),
        ] {
            let failure = ageFailure { _ = try IdentityFile.parse(SecretBytes(copying: bytes)) }
            #expect(failure == .identityFileEncoded(isUTF16: isUTF16), "\(bytes.prefix(4))")
        }
    }

    @Test("Lines of any other kind are refused with their number and kind")
    func refusals() throws {
        let key = keyText(try NativeIdentity.generate(.x25519))
        for (line, kind) in [
            ("AGE-PLUGIN-YUBIKEY-1XX", "plugin"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", "PEM below other lines"),
        ] {
            #expect(ageFailure { _ = try parse("#\n\(key)\n\(line)\n") } == .unsupportedIdentity(line: 3, kind: kind))
        }
        for line in [
            "x", key.lowercased(), key + "Q", " " + key, String(key.dropLast()), "age1", "AGE-SECRET-KEY-PQ-1XX",
        ] {
            #expect(ageFailure { _ = try parse("\(key)\n\(line)\n") } == .malformedIdentityLine(2), "\(line)")
        }
        for text in ["", "\n\n", "# only a comment\n"] { #expect(ageFailure { _ = try parse(text) } == .noIdentities) }
        let armor = "-----BEGIN AGE ENCRYPTED FILE-----\n"
        #expect(ageFailure { _ = try parse(armor) } == .identityFileNeedsPassphrase)
    }

    @Test("An encrypted identity file is recognized and opened with its passphrase")
    func encrypted() throws {
        let identity = try NativeIdentity.generate(.x25519)
        let text = IdentityFile.text(of: identity, comments: []).bytesForTest()
        let cost = try #require(ScryptCost(logN: quickCost))
        let file = try encrypt(text, to: [ScryptRecipient(passphrase: secretText("p"), cost: cost)])
        #expect(ageFailure { _ = try IdentityFile.parse(SecretBytes(copying: file)) } == .identityFileNeedsPassphrase)
        let opened = try IdentityFile.parse(open(file, "p"))
        #expect(opened.identities.map(\.recipient) == [identity.recipient])
        #expect(ageFailure { _ = try open(file, "q").count } == .wrongPassphrase)
        let cut = Array(file.dropLast())
        let start = UInt64(try AgeHeader.read(from: MemorySource(copying: file)).length + 16)
        #expect(
            ageFailure { _ = try open(cut, "p").count }
                == .stream(StreamFailure(.decrypting, .authenticationFailed, offset: start)))
    }

    private func open(_ file: [UInt8], _ passphrase: String) throws -> SecretBytes {
        guard let encrypted = try EncryptedKeyFile(SecretBytes(copying: file)) else { throw AgeFailure.notAnAgeFile }
        try encrypted.requirePassphrase()
        return try encrypted.open(with: [ScryptIdentity(passphrase: secretText(passphrase))])
    }

    private func armor(_ file: [UInt8], end: String = "\n") -> [UInt8] {
        let text = Array(Base64.encode(file))
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        let all = ["-----BEGIN AGE ENCRYPTED FILE-----"] + lines + ["-----END AGE ENCRYPTED FILE-----"]
        return Array(all.map { $0 + end }.joined().utf8)
    }

    @Test("An encrypted identity file may be in text armor, with blank lines around it")
    func armored() throws {
        let cost = try #require(ScryptCost(logN: quickCost))
        for size in 0..<100 {
            let text = [UInt8](repeating: 7, count: size)
            let file = try encrypt(text, to: [ScryptRecipient(passphrase: secretText("p"), cost: cost)])
            #expect(try open(armor(file), "p").bytesForTest() == text)
            #expect(
                try open(Array("\n \t\r\n".utf8) + armor(file, end: "\r\n") + [10, 32], "p").bytesForTest() == text)
        }
        let blank = [UInt8](repeating: 10, count: 1_025)
        let file = try encrypt([1], to: [ScryptRecipient(passphrase: secretText("p"), cost: cost)])
        #expect(
            ageFailure { _ = try TextArmor.decode(SecretBytes(copying: armor(file) + blank)).count }
                == .malformedArmor("too many blank lines stand around it"))
    }

    @Test("Changing any one byte of an armored file makes it fail to open")
    func flippedArmor() throws {
        let cost = try #require(ScryptCost(logN: quickCost))
        let file = armor(try encrypt([1], to: [ScryptRecipient(passphrase: secretText("p"), cost: cost)]))
        for index in file.indices {
            var changed = file
            changed[index] ^= 1 << (index % 8)
            let failure = ageFailure { _ = try open(changed, "p").count }
            #expect(failure != nil, "byte \(index)")
        }
    }

    @Test("A file encrypted to public keys, or with too high a cost, is refused before asking for a passphrase")
    func notForPassphrase() throws {
        let identity = try NativeIdentity.generate(.x25519)
        let file = try encrypt([1], to: [identity.recipient])
        #expect(ageFailure { _ = try open(file, "p").count } == .notForPassphrase)
        let cost = try #require(ScryptCost(logN: quickCost))
        let header = try encrypt([1], to: [ScryptRecipient(passphrase: secretText("p"), cost: cost)])
        let text = String(decoding: header, as: UTF8.self).replacing(/(-> scrypt [^ ]+) \d+/) { "\($0.1) 22" }
        #expect(
            ageFailure { _ = try open(Array(text.utf8.prefix(200)), "p").count }
                == .workFactorTooHigh(found: 22, allowed: 20))
        let isPlain = try EncryptedKeyFile(secretText("AGE-SECRET-KEY-1")) == nil
        #expect(isPlain)
    }

    @Test("A recipient list is read, including its comments")
    func recipients() throws {
        let one = GivenRecipient.native(try NativeIdentity.generate(.x25519).recipient)
        let two = try #require(
            GivenRecipient("age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e", plugins: nil))
        for end in ["\n", "\r\n"] {
            #expect(try RecipientFile.parse("# us\(end)\(one)\(end)\(end)\(two)\(end)") == [one, two])
        }
        let list = try RecipientFile.parse("# us\r\n\(one)\r\n\n\(two)")
        #expect(list == [one, two])
    }

    @Test(
        "Unsupported recipients are refused with their line and kind",
        arguments: [
            ("age1yubikey1qwerty", "plugin"), ("-----BEGIN OPENSSH PRIVATE KEY-----", "private key"),
            ("AGE-SECRET-KEY-1QQQQ", "private key"), ("AGE-PLUGIN-YUBIKEY-1QQQQ", "private key"),
        ])
    func otherRecipients(line: String, kind: String) {
        #expect(
            ageFailure { _ = try RecipientFile.parse("#\n\(line)\n") } == .unsupportedRecipient(line: 2, kind: kind))
    }

    @Test("Malformed recipient lines and an empty list are refused")
    func malformedRecipients() throws {
        let one = try NativeIdentity.generate(.x25519).recipient
        for line in [
            "x", "\(one) ", " \(one)", "\(one)x", "\(one)".uppercased(), "age", "age1pq1qqqq", "age1tagpq1qqqq",
            "ssh-ed25519 AAAAC3Nz me@example.org", "ecdsa-sha2-nistp256 AAAA", "sk-ssh-ed25519@openssh.com AAAA",
        ] {
            #expect(ageFailure { _ = try RecipientFile.parse("\(one)\n\(line)") } == .malformedRecipientLine(2))
        }
        #expect(ageFailure { _ = try RecipientFile.parse("# nobody\n") } == .noRecipients)
    }

    @Test("A recipient list may have as many entries as a header, and no more")
    func recipientCount() throws {
        let line = "\(try NativeIdentity.generate(.x25519).recipient)\n"
        #expect(try RecipientFile.parse(String(repeating: line, count: 1_000)).count == 1_000)
        #expect(
            ageFailure { _ = try RecipientFile.parse(String(repeating: line, count: 1_001)) }
                == .headerTooLarge("recipients", allowed: 1_000))
    }
}
