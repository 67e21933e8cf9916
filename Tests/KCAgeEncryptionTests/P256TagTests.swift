import KCByteStreams
import KCCryptography
import Testing

@testable import KCAgeEncryption

@Suite("Recipients on a token")
struct P256TagTests {
    /// The recipient and the share of the stanza that C2SP's age.md shows.
    ///
    /// The tag there is that of an older draft; the one below was calculated by the formula of age.md, with Python.
    private static let example = "age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e"
    private static let share =
        "BOqTylUtZFwkMTxd6UENg8kopiMhRJBOUXMv5w2xVOmJu7eezoALGXiNtq5Vka+UQvaYbQvAdwjIJEDaoBaq7So"

    @Test("The tag of a stanza follows the formula of the specification")
    func tag() throws {
        let recipient = try #require(P256TagRecipient(Self.example))
        let share = try #require(Base64.decode(Self.share, padded: false))
        #expect(Base64.encode(try recipient.tag(share), padded: false) == "Dajdvw")
        #expect(recipient.description == Self.example)
    }

    @Test("A file key that another program wrapped is unwrapped")
    func foreign() throws {
        // The stanza is of rage, by pyrage 1.4.0; the key is 04 ‖ X ‖ Y ‖ K, by openssl.
        let key = try #require(
            Hexadecimal.decode(
                "04cffd2c9e65b14a6bd2570f1cdd52b032bb331b10ecfac771638836fb11d2c114"
                    + "46178930215a6f6ce19ea6c211f262d0b6a98ee036d6a2a5f57e8083a29afd95"
                    + "faa3b4155a9a7bce0fe4a601640f85c62b49b18afcf211b21dbcdb33575ce97e"))
        let share = "BGcwsr+dTz8U8AL19W71FrY6e1LmrIOdOqeco9PHYA/Ut1vjuTQjCMXoh/poa0vkumsQQtPFpvDMTkS5uOKh56s"
        let body = try #require(Base64.decode("Va/APC0f7IeX+phgVEoCICE1NlPhmO2i9lKWh3GgBYc", padded: false))
        let recipient = try #require(
            P256TagRecipient("age1tag1q08l6ty7vkc5567j2u83eh2jkqetkvcmzrk043m3vwyrd7c36tq3gv9sm9e"))
        let count = try recipient.unwrap(
            Stanza(type: "p256tag", arguments: ["OWJmDw", share], body: body),
            with: PrivateKey(externalRepresentation: SecretBytes(copying: key), kind: .ec))?.count
        #expect(count == 16)
    }

    @Test("A file key wrapped for a token is unwrapped with its private key, and with no other")
    func roundTrip() throws {
        let key = try PrivateKey.generate(.ec, sizeInBits: 256)
        let recipient = try Self.recipient(of: key)
        let fileKey = SecretBytes(copying: 1...16)
        let stanza = try #require(try recipient.wrap(fileKey: fileKey).stanzas.first)
        #expect(stanza.type == "p256tag" && stanza.arguments.count == 2 && stanza.body.count == 32)
        guard let opened = try recipient.unwrap(stanza, with: key) else {
            Issue.record("the stanza is for this key")
            return
        }
        let isSame = constantTimeEqual(opened, fileKey)
        #expect(isSame)
        let again = try #require(try recipient.wrap(fileKey: fileKey).stanzas.first)
        #expect(again != stanza)
        let other = try Self.recipient(of: PrivateKey.generate(.ec, sizeInBits: 256))
        let isOthers = try other.unwrap(stanza, with: key) != nil
        #expect(!isOthers)
        var body = stanza.body
        body[0] ^= 1
        #expect(throws: CryptographyFailure.authentication) {
            _ = try recipient.unwrap(Stanza(type: stanza.type, arguments: stanza.arguments, body: body), with: key)
        }
    }

    @Test(
        "What is no point of the curve, or not written as age writes it, is no recipient",
        arguments: [
            [UInt8](repeating: 2, count: 32), [UInt8](repeating: 2, count: 34), [0] + [UInt8](repeating: 1, count: 32),
            // x = 1 has no point, and x must be below p.
            [2] + [UInt8](repeating: 0, count: 31) + [1], [2] + [UInt8](repeating: 0xff, count: 32),
            [4] + [UInt8](repeating: 1, count: 64), [],
        ])
    func malformed(point: [UInt8]) {
        var text: [UInt8] = []
        Bech32.encode(prefix: "age1tag", point.span, uppercase: false, into: &text)
        #expect(P256TagRecipient(String(decoding: text, as: UTF8.self)) == nil)
        #expect(P256TagRecipient(Self.example.uppercased()) == nil)
        #expect(P256TagRecipient(Self.example + "q") == nil)
    }

    @Test(
        "A stanza that breaks a rule is refused",
        arguments: [
            Stanza(type: "p256tag", arguments: ["CXBuUw"], body: [UInt8](repeating: 0, count: 32)),
            Stanza(type: "p256tag", arguments: ["CXBuUw", Self.share, "x"], body: [UInt8](repeating: 0, count: 32)),
            Stanza(type: "p256tag", arguments: ["CXBuUw==", Self.share], body: [UInt8](repeating: 0, count: 32)),
            Stanza(type: "p256tag", arguments: ["CXBu", Self.share], body: [UInt8](repeating: 0, count: 32)),
            Stanza(type: "p256tag", arguments: ["CXBuUw", "BOqT"], body: [UInt8](repeating: 0, count: 32)),
            Stanza(type: "p256tag", arguments: ["CXBuUw", Self.share], body: [UInt8](repeating: 0, count: 31)),
        ])
    func badStanza(stanza: Stanza) {
        #expect(throws: AgeFailure.self) { try P256TagRecipient.parts(of: stanza) }
    }

    private static func recipient(of key: PrivateKey) throws -> P256TagRecipient {
        let point = key.publicKey.externalRepresentation
        let compressed = [point[64] & 1 == 0 ? 2 : 3] + point[1...32]
        var text: [UInt8] = []
        Bech32.encode(prefix: "age1tag", compressed.span, uppercase: false, into: &text)
        return try #require(P256TagRecipient(String(decoding: text, as: UTF8.self)))
    }
}
