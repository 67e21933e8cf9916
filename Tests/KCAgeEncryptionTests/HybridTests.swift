import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCAgeEncryption

@Suite("Post-quantum recipients")
struct HybridTests {
    @Test("The example of the specification is read and written: identity, recipient, stanza")
    func example() throws {
        let text = try Self.example()
        let identity = try #require(try HybridIdentity.parse(Self.exampleIdentity.utf8.span))
        #expect(identity.recipient.description == text.recipient)
        #expect(text.recipient.utf8.count == 1_959)
        #expect(HybridRecipient(text.recipient) == identity.recipient)
        var encoded = SecretBytes(capacity: 128)
        identity.encode(into: &encoded)
        #expect(encoded.bytesForTest() == Array(Self.exampleIdentity.utf8))
        let count = try identity.unwrap([text.stanza])?.count
        #expect(count == 16)
    }

    /// The tag that age.md shows is that of an older draft; the one below was calculated by the formula of age.md, with
    /// Python.
    @Test("The tag of a stanza for a token follows the formula of the specification")
    func exampleTag() throws {
        let lines = try Self.lines("tag-example")
        let recipient = try #require(HybridTagRecipient(lines[0]))
        #expect(recipient.description == lines[0])
        let arguments = lines[1].split(separator: " ").map(String.init)
        let share = try #require(Base64.decode(arguments[3], padded: false))
        #expect(Base64.encode(try recipient.tag(share), padded: false) == "gziBeQ")
        let body = try #require(Base64.decode(lines[2], padded: false))
        try HybridTagRecipient.check(Stanza(type: arguments[1], arguments: Array(arguments[2...]), body: body))
    }

    @Test("Each recipient opens the file, and no other identity does")
    func roundTrip() throws {
        let identities = try (0..<3).map { _ in try HybridIdentity.generate() }
        let stranger = try HybridIdentity.generate()
        let file = try encrypt([1, 2, 3], to: identities.map(\.recipient))
        for identity in identities { #expect(try decrypt(file, with: [stranger, identity]) == [1, 2, 3]) }
        #expect(
            ageFailure { _ = try decrypt(file, with: [stranger, X25519Identity.generate()]) }
                == .noMatchingIdentity(Array(repeating: "mlkem768x25519", count: 3)))
    }

    @Test("Post-quantum recipients and others cannot share a file, in any order")
    func mixing() throws {
        let hybrid = try HybridIdentity.generate().recipient
        let classic = try X25519Identity.generate().recipient
        let token = try #require(
            P256TagRecipient("age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e"))
        let hybridToken = try #require(HybridTagRecipient(try Self.lines("tag-example")[0]))
        for recipients: [any Recipient] in [
            [hybrid, classic], [classic, hybrid], [hybrid, token], [token, hybridToken], [hybridToken, classic],
        ] {
            #expect(ageFailure { _ = try encrypt([], to: recipients) } == .incompatibleRecipients)
        }
        _ = try encrypt([], to: [hybrid, hybridToken, hybrid])
        let passphrase = ScryptRecipient(
            passphrase: secretText("p"), cost: try #require(ScryptCost(logN: quickCost)))
        #expect(ageFailure { _ = try encrypt([], to: [passphrase, hybrid]) } == .incompatibleRecipients)
    }

    @Test("What is not written as age writes it is no key, and a point of low order is not encrypted to")
    func malformed() throws {
        let identity = try HybridIdentity.generate()
        let text = identity.recipient.description
        #expect(HybridRecipient(text.uppercased()) == nil)
        #expect(HybridRecipient(String(text.dropLast())) == nil)
        #expect(HybridRecipient(text + "q") == nil)
        #expect(HybridRecipient("age1pq1qqqq") == nil)
        #expect(try HybridIdentity.parse(Self.exampleIdentity.lowercased().utf8.span) == nil)
        var classic = SecretBytes(capacity: 128)
        try X25519Identity.generate().encode(into: &classic)
        #expect(try HybridIdentity.parse(classic.bytesForTest().span) == nil)
        #expect(try X25519Identity.parse(Self.exampleIdentity.utf8.span) == nil)
        let short = try HybridIdentity.of(SecretBytes(copying: 0..<31))
        #expect(short == nil)
        var bytes: [UInt8] = []
        let isDecoded = Bech32.decode(Array(text.utf8).span, prefix: "age1pq", uppercase: false, into: &bytes)
        #expect(isDecoded)
        var low: [UInt8] = []
        let changed = bytes.prefix(1_184) + [UInt8](repeating: 0, count: 32)
        Bech32.encode(prefix: "age1pq", Array(changed).span, uppercase: false, into: &low)
        let recipient = try #require(HybridRecipient(String(decoding: low, as: UTF8.self)))
        #expect(ageFailure { _ = try encrypt([], to: [recipient]) } == .malformedRecipient)
    }

    @Test("A thousand recipients fit into a header")
    func many() throws {
        let recipient = try HybridIdentity.generate().recipient
        let file = try encrypt([1], to: [HybridRecipient](repeating: recipient, count: 1_000))
        #expect(try AgeHeader.read(from: MemorySource(copying: file)).stanzas.count == 1_000)
    }

    @Test("The header of an archive has recipients of one strength, each well-formed")
    func native() throws {
        let fileKey = SecretBytes(copying: 0..<16)
        let hybrid = try HybridIdentity.generate().recipient.wrap(fileKey: fileKey).stanzas[0]
        let classic = try X25519Identity.generate().recipient.wrap(fileKey: fileKey).stanzas[0]
        let tag = try #require(HybridTagRecipient(try Self.lines("tag-example")[0])).wrap(fileKey: fileKey).stanzas[0]
        try AgeHeader(stanzas: [hybrid, tag], fileKey: fileKey).requirePublicKeys()
        for stanzas in [[hybrid, classic], [classic, tag]] {
            let header = try AgeHeader(stanzas: stanzas, fileKey: fileKey)
            #expect(
                ageFailure { try header.requirePublicKeys() }
                    == .malformedHeader("post-quantum recipients are mixed with others"))
        }
        for broken in [
            Stanza(type: hybrid.type, arguments: hybrid.arguments + ["x"], body: hybrid.body),
            Stanza(type: hybrid.type, arguments: classic.arguments, body: hybrid.body),
            Stanza(type: hybrid.type, arguments: hybrid.arguments, body: [1]),
            Stanza(type: tag.type, arguments: [tag.arguments[1]], body: tag.body),
            Stanza(type: tag.type, arguments: ["AAAA", tag.arguments[1]], body: tag.body),
            Stanza(type: tag.type, arguments: [tag.arguments[0], "AAAA"], body: tag.body),
            Stanza(type: tag.type, arguments: tag.arguments, body: tag.body + [0]),
        ] {
            let header = try AgeHeader(stanzas: [broken], fileKey: fileKey)
            #expect(throws: AgeFailure.self) { try header.requirePublicKeys() }
        }
    }

    private static let exampleIdentity = "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR"

    /// The recipient and the stanza that C2SP's age.md shows for `exampleIdentity`.
    private static func example() throws -> (recipient: String, stanza: Stanza) {
        let lines = try lines("example")
        let arguments = lines[1].split(separator: " ").map(String.init)
        return (
            lines[0],
            Stanza(
                type: arguments[1], arguments: Array(arguments[2...]),
                body: try #require(Base64.decode(lines[2], padded: false)))
        )
    }

    private static func lines(_ name: String) throws -> [String] {
        let path = Project.path("Tests/KCAgeEncryptionTests/Examples/\(name).txt")
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
