import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@Suite struct RecipientTests {
    private func cost(_ logN: Int = quickCost) throws -> ScryptCost {
        try #require(ScryptCost(logN: logN))
    }

    @Test("The identity in the specification derives the recipient in the specification")
    func published() throws {
        let text = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
        let identity = try #require(try parseIdentity(text))
        let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
        #expect(identity.recipient.description == recipient)
        #expect(NativeRecipient(recipient) == identity.recipient)
        var written = SecretBytes(capacity: 80)
        identity.encode(into: &written)
        #expect(written.bytesForTest() == Array(text.utf8))
    }

    @Test(
        "Malformed recipients are refused",
        arguments: [
            "", "age1", "AGE1ZVKYG2LQZRAA2LNJVQEJ32NKUU0UES2S82HZRYE869XEEXVN73EQUNUJWJ",
            "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwk",
            "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj ", "age10a4az2e3",
        ])
    func notARecipient(_ text: String) {
        #expect(X25519Recipient(text) == nil)
    }

    @Test("Each of several recipients can open the file, and no other key can")
    func manyRecipients() throws {
        let identities = try (0..<5).map { _ in try X25519Identity.generate() }
        let stranger = try X25519Identity.generate()
        let file = try encrypt([1, 2, 3], to: identities.map(\.recipient))
        for identity in identities {
            #expect(try decrypt(file, with: [stranger, identity]) == [1, 2, 3])
        }
        #expect(
            ageFailure { _ = try decrypt(file, with: [stranger]) }
                == .noMatchingIdentity(Array(repeating: "X25519", count: 5)))
        #expect(ageFailure { _ = try decrypt(file, with: []) } != nil)
    }

    @Test("The passphrase opens the file, and a wrong one is reported as wrong")
    func passphrase() throws {
        let file = try encrypt([1, 2], to: [ScryptRecipient(passphrase: secretText("pass"), cost: cost())])
        #expect(try decrypt(file, with: [ScryptIdentity(passphrase: secretText("pass"))]) == [1, 2])
        for wrong in ["", "Pass", "pass\n", "pass "] {
            #expect(
                ageFailure { _ = try decrypt(file, with: [ScryptIdentity(passphrase: secretText(wrong))]) }
                    == .wrongPassphrase)
        }
        let key = try X25519Identity.generate()
        #expect(ageFailure { _ = try decrypt(file, with: [key]) } == .noMatchingIdentity(["scrypt"]))
    }

    @Test("Every passphrase is tried before the passphrase is reported as wrong")
    func severalPassphrases() throws {
        let file = try encrypt([1, 2], to: [ScryptRecipient(passphrase: secretText("pass"), cost: cost())])
        let wrong = ScryptIdentity(passphrase: secretText("wrong"))
        let right = ScryptIdentity(passphrase: secretText("pass"))
        #expect(try decrypt(file, with: [X25519Identity.generate(), wrong, right]) == [1, 2])
        #expect(ageFailure { _ = try decrypt(file, with: [wrong, wrong]) } == .wrongPassphrase)
    }

    @Test("A work factor above the limit is refused before any work is done")
    func workFactor() throws {
        let file = try encrypt([1], to: [ScryptRecipient(passphrase: secretText("p"), cost: cost(5))])
        let strict = ScryptIdentity(passphrase: secretText("p"), highestCost: 4)
        #expect(ageFailure { _ = try decrypt(file, with: [strict]) } == .workFactorTooHigh(found: 5, allowed: 4))
        let exact = ScryptIdentity(passphrase: secretText("p"), highestCost: 5)
        #expect(try decrypt(file, with: [exact]) == [1])
        let limitless = ScryptIdentity(passphrase: secretText("p"), highestCost: 64)
        let salt = String(repeating: "A", count: 22)
        let stanza = Stanza(type: "scrypt", arguments: [salt, "23"], body: [UInt8](repeating: 0, count: 32))
        #expect(
            ageFailure { _ = try limitless.unwrap([stanza]) } == .workFactorTooHigh(found: 23, allowed: 22))
    }

    @Test("A passphrase cannot be combined with other recipients, when writing or when reading")
    func alone() throws {
        let passphrase = try ScryptRecipient(passphrase: secretText("p"), cost: cost())
        let key = try X25519Identity.generate()
        for recipients: [any Recipient] in [
            [passphrase, key.recipient], [key.recipient, passphrase],
            [passphrase, passphrase],
        ] {
            #expect(ageFailure { _ = try encrypt([], to: recipients) } == .mixedPassphrase)
        }
        let fileKey = SecretBytes(copying: 0..<16)
        let stanzas = try passphrase.wrap(fileKey: fileKey).stanzas + key.recipient.wrap(fileKey: fileKey).stanzas
        let identity = ScryptIdentity(passphrase: secretText("p"))
        #expect(ageFailure { _ = try identity.unwrap(stanzas) } == .mixedPassphrase)
    }

    @Test("An empty recipient list and one of more than a thousand are refused")
    func counts() throws {
        let recipient = try X25519Identity.generate().recipient
        #expect(ageFailure { _ = try encrypt([], to: []) } == .noRecipients)
        let many = [X25519Recipient](repeating: recipient, count: 1_001)
        #expect(ageFailure { _ = try encrypt([], to: many) } == .headerTooLarge("recipients", allowed: 1_000))
    }

    @Test("A header too large for any reader is not written")
    func headerSize() throws {
        struct Large: Recipient {
            func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
                WrappedFileKey([Stanza(type: "large", arguments: [], body: [UInt8](repeating: 1, count: 2 << 20))])
            }
        }
        #expect(ageFailure { _ = try encrypt([], to: [Large()]) } == .headerTooLarge("header bytes", allowed: 2 << 20))
    }

    @Test("A scrypt stanza cannot be combined with others, regardless of which recipient type creates it")
    func foreignPassphraseRecipient() throws {
        struct Disguised: Recipient {
            func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
                WrappedFileKey([Stanza(type: "scrypt", arguments: ["a", "1"], body: [UInt8](repeating: 1, count: 32))])
            }
        }
        let key = try X25519Identity.generate()
        #expect(ageFailure { _ = try encrypt([], to: [key.recipient, Disguised()]) } == .mixedPassphrase)
    }

    @Test("An identity that returns a file key of the wrong size is refused")
    func identityWithAWrongFileKey() throws {
        struct Broken: Identity {
            func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? { SecretBytes(copying: 0..<15) }
        }
        let file = try encrypt([], to: [X25519Identity.generate().recipient])
        #expect(
            ageFailure { _ = try decrypt(file, with: [Broken()]) }
                == .malformedHeader("the file key has a wrong size"))
    }

    @Test("Unknown stanzas are skipped and reported as unknown")
    func unknownStanzas() throws {
        struct Other: Recipient {
            func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
                WrappedFileKey([
                    Stanza(type: "example.com/other", arguments: ["a", "b"], body: [UInt8](repeating: 1, count: 100))
                ])
            }
        }
        let key = try X25519Identity.generate()
        let file = try encrypt([9], to: [Other(), key.recipient])
        #expect(try decrypt(file, with: [key]) == [9])
        #expect(
            ageFailure { _ = try decrypt(file, with: [X25519Identity.generate()]) }
                == .noMatchingIdentity(["unknown", "X25519"]))
    }

    @Test("A recipient may have several stanzas, and only recipients with equal labels can share a file")
    func labels() throws {
        struct Group: Recipient {
            let members: [X25519Recipient]
            var labels: Set<ExactText> = []
            func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
                var stanzas: [Stanza] = []
                for member in members { stanzas += try member.wrap(fileKey: fileKey).stanzas }
                return WrappedFileKey(stanzas, labels: labels)
            }
        }
        let keys = try (0..<3).map { _ in try X25519Identity.generate() }
        let group = Group(members: [keys[0].recipient, keys[1].recipient])
        let file = try encrypt([9], to: [group, keys[2].recipient])
        for key in keys { #expect(try decrypt(file, with: [key]) == [9]) }

        let strict = Group(members: group.members, labels: ["postquantum"])
        #expect(try decrypt(encrypt([9], to: [strict, strict]), with: [keys[1]]) == [9])
        for recipients: [any Recipient] in [[strict, keys[2].recipient], [group, strict]] {
            #expect(ageFailure { _ = try encrypt([], to: recipients) } == .incompatibleRecipients)
        }
        let many = Group(members: [X25519Recipient](repeating: keys[0].recipient, count: 501))
        #expect(ageFailure { _ = try encrypt([], to: [many, many]) } == .headerTooLarge("recipients", allowed: 1_000))
    }

    @Test("Encrypting to a low-order point is refused")
    func smallOrder() throws {
        var text = SecretBytes(capacity: 80)
        Bech32.encode(prefix: "age", [UInt8](repeating: 0, count: 32).span, uppercase: false, into: &text)
        let recipient = try #require(X25519Recipient(String(decoding: text.bytesForTest(), as: UTF8.self)))
        #expect(ageFailure { _ = try encrypt([], to: [recipient]) } == .malformedRecipient)
    }

    @Test("A share of low order is refused before a reader's own stanza, and behind it only its form is checked")
    func smallOrderShare() throws {
        let identity = try X25519Identity.generate()
        let own = try identity.recipient.wrap(fileKey: SecretBytes(copying: repeatElement(1, count: 16))).stanzas[0]
        let low = Stanza(
            type: own.type, arguments: [Base64.encode([UInt8](repeating: 0, count: 32), padded: false)], body: own.body)
        #expect(try identity.unwrap([own, low]) != nil)
        #expect(
            ageFailure { _ = try identity.unwrap([low, own]) } == .malformedHeader("an X25519 share is of low order"))
    }

    /// A plugin that returns the same stanza for every key.
    private struct Wrapper: PluginHost {
        let stanzas: [Stanza]

        func wrap(_ fileKeys: [FileKey], for recipients: [PluginRecipient]) -> [WrappedFileKey] {
            fileKeys.map { _ in WrappedFileKey(stanzas) }
        }
        func unwrap(_ headers: [AgeHeader], with identities: [PluginIdentity]) -> [FileKey?] {
            headers.map { _ in nil }
        }
    }

    /// A file for a plugin that returns a stanza, and for another key.
    private func file(for stanza: Stanza, beside other: any Recipient) throws -> [UInt8] {
        let plugin = try #require(PluginRecipient(ScriptedPlugin.recipient(), host: Wrapper(stanzas: [stanza])))
        return try encrypt([1], to: [plugin, other])
    }

    @Test("A plugin that returns what would keep another key from opening the file is refused")
    func harmfulPlugins() throws {
        let key = try X25519Identity.generate()
        let fileKey = SecretBytes(copying: repeatElement(1, count: 16))
        let good = try X25519Identity.generate().recipient.wrap(fileKey: fileKey).stanzas[0]
        let hybrid = try HybridIdentity.generate().recipient.wrap(fileKey: fileKey).stanzas[0]
        let low = Base64.encode([UInt8](repeating: 0, count: 32), padded: false)
        for harmful in [
            Stanza(type: good.type, arguments: [], body: good.body),
            Stanza(type: good.type, arguments: ["AAAA"], body: good.body),
            Stanza(type: good.type, arguments: good.arguments, body: good.body + [0]),
            Stanza(type: good.type, arguments: [low], body: good.body),
            Stanza(type: hybrid.type, arguments: good.arguments, body: hybrid.body),
            Stanza(type: "p256tag", arguments: good.arguments, body: good.body),
            Stanza(type: "mlkem768p256tag", arguments: good.arguments, body: good.body),
        ] {
            let failure = ageFailure { _ = try file(for: harmful, beside: key.recipient) }
            guard case .plugin(_, .misbehaved) = failure else {
                Issue.record("\(harmful.type) \(harmful.arguments): \(String(describing: failure))")
                continue
            }
        }
        // Without its label, a post-quantum key would be beside one that is none, which no archive may have.
        #expect(ageFailure { _ = try file(for: hybrid, beside: key.recipient) } == .incompatibleRecipients)
        for harmless in [good, Stanza(type: "card", arguments: ["x"], body: [1])] {
            #expect(try decrypt(file(for: harmless, beside: key.recipient), with: [key]) == [1])
        }
    }

    @Test(
        "A wrapped file key that is not 16 bytes long is refused before it is decrypted", arguments: [0, 15, 17, 32])
    func fileKeyLength(_ length: Int) throws {
        let fileKey = SecretBytes(copying: repeatElement(1, count: length))
        let key = try X25519Identity.generate()
        let passphrase = try ScryptRecipient(passphrase: secretText("p"), cost: cost())
        let byKey = try key.recipient.wrap(fileKey: fileKey)
        let byPassphrase = try passphrase.wrap(fileKey: fileKey)
        let expected = AgeFailure.malformedHeader("a wrapped file key has a wrong size")
        #expect(ageFailure { _ = try key.unwrap(byKey.stanzas) } == expected)
        let identity = ScryptIdentity(passphrase: secretText("p"))
        #expect(ageFailure { _ = try identity.unwrap(byPassphrase.stanzas) } == expected)
    }
}
