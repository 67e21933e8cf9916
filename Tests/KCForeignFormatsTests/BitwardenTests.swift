import KCByteStreams
import KCCryptography
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a Bitwarden export")
struct BitwardenTests {
    static let plain = #"""
        {
          "encrypted": false,
          "folders": [{"id": "f1", "name": "Work"}],
          "items": [
            {"id": "i1", "folderId": "f1", "type": 1, "name": "Bank", "notes": "line\nline", "favorite": true,
             "fields": [{"name": "PIN", "value": "1234", "type": 1}, {"name": "on", "value": "true", "type": 2},
                        {"name": "linked", "value": null, "type": 3}, {"name": "none", "value": null, "type": 0}],
             "login": {"uris": [{"match": null, "uri": "https://bank.example/in"}, {"uri": "https://b.example"}],
                       "username": "ada", "password": " p\u00e9 ", "totp": "JBSWY3DP",
                       "fido2Credentials": [{"credentialId": "0b1b25a8-d837-4f51-a693-4442d2b04834", "keyType": "public-key",
                         "keyValue": "\#(PasskeySample.key)", "rpId": "bank.example", "userHandle": "dQ", "userName": "ada", "counter": "0",
                         "userDisplayName": "Ada", "discoverable": "true", "creationDate": "2024-01-01T00:00:00.000Z"}]},
             "passwordHistory": [{"lastUsedDate": "2024-01-01T00:00:00.000Z", "password": "0lder"}],
             "creationDate": "2024-01-02T03:04:05.678Z", "revisionDate": "2024-02-02T03:04:05.678Z", "deletedDate": null},
            {"id": "i2", "type": 2, "name": "Note", "notes": "text", "secureNote": {"type": 0}},
            {"id": "i3", "type": 3, "name": "Card", "card": {"number": "4111", "code": "123"}},
            {"id": "i4", "type": 4, "name": "Me", "identity": {"ssn": "1"}},
            {"id": "i5", "type": 5, "name": "Key", "sshKey": {"privateKey": "-----BEGIN", "publicKey": "ssh-ed25519 A", "keyFingerprint": "SHA256:x"}},
            {"id": "i6", "type": 9, "name": "New", "bank": {"iban": "x"}},
            {"id": "i7", "type": 1, "name": "Gone", "login": {"password": "x"}, "deletedDate": "2024-01-01T00:00:00.000Z"},
            {"id": "i8", "type": 1, "name": "Nothing", "login": {"username": "bob", "password": null}},
            {"id": "i9", "type": 1, "name": "Empty", "login": {"username": "bob", "password": ""}}
          ]
        }
        """#

    static let items = [
        "genp svce=Bank acct=PIN (ada) desc=field: 1234", "genp svce=Bank acct=note (ada) desc=secure note: line\nline",
        "genp svce=Bank acct=on (ada) desc=field: true",
        "genp svce=Card desc=card: {\"number\": \"4111\", \"code\": \"123\"}",
        "genp svce=Empty acct=bob: ", "genp svce=Key acct=private key desc=private key: -----BEGIN",
        "genp svce=Me desc=identity: {\"ssn\": \"1\"}",
        "genp svce=New desc=record of another type: {\"id\": \"i6\", \"type\": 9, \"name\": \"New\", \"bank\": {\"iban\": \"x\"}}",
        "genp svce=Note desc=secure note: text", "genp svce=Nothing acct=bob: no secret",
        "genp svce=bank.example acct=one-time password (ada) desc=one-time password: otpauth://totp/Bank:ada?secret=JBSWY3DP&issuer=Bank",
        "genp svce=bank.example acct=passkey (ada) desc=passkey: {\"credentialId\":\"CxslqNg3T1Gmk0RC0rBINA\",\"rpId\":\"bank.example\",\"username\":\"ada\",\"userDisplayName\":\"Ada\",\"userHandle\":\"dQ\",\"key\":\"\(PasskeySample.key)\",\"discoverable\":\"true\",\"creationDate\":\"2024-01-01T00:00:00.000Z\"}",
        "inet srvr=bank.example acct=ada:  pé ",
    ]

    @Test("A folder may have the name of a key in another program's format")
    func recognition() throws {
        let text =
            #"{"encrypted":false,"folders":[{"id":"f","name":"vaults"},{"id":"g","name":"parent_uuid"}],"items":[]}"#
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == "bitwarden")
    }

    @Test("Each secret becomes an item, and data without a counterpart is counted")
    func vault() throws {
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(Self.plain.utf8))).name == "bitwarden")
        let contents = try ForeignReading.read(Self.plain, as: BitwardenFormat())
        #expect(try contents.listing == Self.items.sorted())
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 favorite mark", "1 earlier password", "1 linked field", "1 field without a value",
                "1 record in the trash",
            ])
        #expect(contents.isPlaintext)
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        let bank = try #require(visitor.items.first { $0.itemClass == .internetPassword })
        #expect(bank.created.description == "2024-01-02T03:04:05.678000Z")
        #expect(bank.modified.description == "2024-02-02T03:04:05.678000Z")
        #expect(bank.extra.contains { $0.name == "source.folder" && $0.value == "Work" })
        #expect(bank.extra.contains { $0.name == "url.2" && $0.value == "https://b.example" })
        // No secret is in the attributes, which can be read without a key.
        for item in visitor.items {
            let readable = String(describing: item)
            for secret in ["1234", "4111", "JBSWY3DP", PasskeySample.key, "0lder"] {
                #expect(!readable.contains(secret))
            }
        }
    }

    /// A password-protected export, with the cheapest key derivation that Bitwarden accepts.
    static func protected(_ text: String, password: String, argon2: Bool = false) throws -> String {
        let salt = "c2FsdHNhbHRzYWx0c2FsdA=="
        let key: SecretBytes
        if argon2 {
            key = try Argon2.derive(
                password: SecretBytes(copying: password.utf8), salt: SHA256.hash(Array(salt.utf8).span).bytes, .id,
                Argon2.Cost(iterations: 2, memoryInKiB: 16 << 10, lanes: 1), count: 32)
        } else {
            key = try PBKDF2.derive(
                password: SecretBytes(copying: password.utf8), salt: Array(salt.utf8).span, rounds: 5_000,
                hash: .sha256,
                count: 32)
        }
        let cipherKey = try HKDF.expand(pseudoRandomKey: key, info: Array("enc".utf8), count: 32)
        let macKey = try HKDF.expand(pseudoRandomKey: key, info: Array("mac".utf8), count: 32)
        func sealed(_ text: String) throws -> String {
            let iv = [UInt8](repeating: 7, count: 16)
            let padding = 16 - text.utf8.count % 16
            let padded = Array(text.utf8) + [UInt8](repeating: UInt8(padding), count: padding)
            var cipher = try BlockCipher(.aes256CBC, .encrypt, key: cipherKey, iv: iv.span)
            var output = SecretBytes(capacity: padded.count)
            try cipher.process(padded.span, into: &output)
            let ciphertext = output.withBytes { span in span.indices.map { span[$0] } }
            var hmac = try HMAC(key: macKey)
            let mac = try hmac.authenticate((iv + ciphertext).span)
            return "2." + [iv, ciphertext, mac].map { Base64.encode($0) }.joined(separator: "|")
        }
        let costs =
            argon2
            ? #""kdfType":1,"kdfIterations":2,"kdfMemory":16,"kdfParallelism":1"# : #""kdfType":0,"kdfIterations":5000"#
        return
            #"{"encrypted":true,"passwordProtected":true,"salt":"\#(salt)",\#(costs),"encKeyValidation_DO_NOT_EDIT":"\#(try sealed("0b1b"))","data":"\#(try sealed(text))"}"#
    }

    @Test("A protected export opens only with its password, with either key derivation", arguments: [false, true])
    func protected(argon2: Bool) throws {
        let text = try Self.protected(Self.plain, password: "päss", argon2: argon2)
        let contents = try ForeignReading.read(text, as: BitwardenFormat(), password: "päss")
        #expect(try contents.listing == Self.items.sorted())
        #expect(!contents.isPlaintext)
        #expect(throws: ForeignFailure.wrongPassword) {
            try ForeignReading.read(text, as: BitwardenFormat(), password: "pass")
        }
    }

    private static let small =
        #"{"encrypted":false,"folders":[],"items":[{"id":"a","type":2,"name":"N","notes":"secret"}]}"#
    private static let withTrash = small.replacing(
        "]}", with: #",{"id":"t","type":2,"name":"T","notes":"x","deletedDate":"2024-01-01T00:00:00Z"}]}"#)

    @Test("An export with attachments is a zip file, and each attachment is linked to its record")
    func attachments() throws {
        let bytes = ZipWriter.zip([
            ("data.json", Array(Self.withTrash.utf8)), ("attachments/a/é.pdf", Array("PDF".utf8)),
            ("attachments/z/lost", Array("x".utf8)), ("attachments/short", Array("x".utf8)),
            ("attachments/", []), ("other.txt", Array("x".utf8)), ("attachments/t/of trash", Array("x".utf8)),
        ])
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "bitwarden")
        let contents = try ForeignReading.read(bytes, as: BitwardenFormat())
        #expect(
            try contents.listing == [
                "genp svce=N acct=é.pdf desc=attachment: PDF", "genp svce=N desc=secure note: secret",
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 record in the trash", "4 file of no imported record",
            ])
    }

    @Test("The user of a login with a passkey and no password is kept")
    func passkeyUser() throws {
        let text =
            #"{"encrypted":false,"folders":[],"items":[{"id":"a","type":1,"name":"N","login":{"username":"ada","password":null,"#
            + #""uris":[{"uri":"https://n.example"}],"fido2Credentials":[{"rpId":"n.example","keyValue":"K"}]}}]}"#
        let listing = try ForeignReading.read(text, as: BitwardenFormat()).listing
        #expect(listing.contains("inet srvr=n.example acct=ada: no secret"))
        #expect(listing.count == 2)
    }

    @Test("A truncated or altered protected export is refused or yields exactly the original items")
    func damaged() throws {
        let whole = Array(try Self.protected(Self.small, password: "p").utf8)
        let right = ["genp svce=N desc=secure note: secret"]
        #expect(try ForeignReading.read(whole, as: BitwardenFormat(), password: "p").listing == right)
        for length in 0..<whole.count {
            #expect(throws: ForeignFailure.self) {
                try ForeignReading.read(Array(whole.prefix(length)), as: BitwardenFormat(), password: "p")
            }
        }
        for index in whole.indices {
            var altered = whole
            altered[index] ^= UInt8(1 << (index % 7))
            do {
                #expect(try ForeignReading.read(altered, as: BitwardenFormat(), password: "p").listing == right)
            } catch is ForeignFailure {
                // Refused.
            }
        }
    }

    @Test(
        "Key derivation parameters beyond Bitwarden's limits are refused before any derivation",
        arguments: [
            (#""kdfIterations":5000"#, #""kdfIterations":2000001"#),
            (#""kdfIterations":5000"#, #""kdfIterations":4999"#),
            (#""kdfIterations":5000"#, #""kdfIterations":99999999999999999999"#), (#""kdfType":0"#, #""kdfType":2"#),
            (#""kdfType":0"#, #""kdfType":1"#),
            (#""kdfType":0"#, #""kdfType":1,"kdfMemory":1048576,"kdfParallelism":1"#),
            ("2.BwcH", "3.BwcH"), (#""salt""#, #""tlas""#),
        ])
    func costs(old: String, new: String) throws {
        let text = try Self.protected(Self.small, password: "p").replacing(old, with: new)
        #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: BitwardenFormat()) }
    }

    @Test("An account-restricted export is refused, with a hint on how to export instead")
    func restricted() throws {
        let text = #"{"encrypted":true,"encKeyValidation_DO_NOT_EDIT":"2.a|b|c","folders":[],"items":[]}"#
        let format = try KnownFormats.recognise(ForeignReading.input(Array(text.utf8)))
        let failure = #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: format) }
        guard case .refused(_, let hint) = failure else {
            Issue.record("another failure")
            return
        }
        #expect(hint.contains("Password protected"))
    }

    @Test(
        "A malformed document is refused",
        arguments: [
            #"{"encrypted":false}"#, #"{"encrypted":false,"items":{}}"#, #"{"encrypted":false,"items":[1]}"#,
            #"{"items":[{"name":"x"}],"folders":[]}"#, #"{"items":[{"type":1,"name":1,"login":{}}],"folders":[]}"#,
            #"{"items":[{"type":1,"name":"x"}],"folders":[]}"#, #"{"items":[{"type":3,"name":"x"}],"folders":[]}"#,
            #"{"items":[{"type":1,"name":"x","login":{"password":["p"]}}],"folders":[]}"#,
        ])
    func malformed(text: String) {
        #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: BitwardenFormat()) }
    }

    @Test("A randomly altered export is read or refused, and never crashes the program")
    func fuzzed() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<1_500 {
            var bytes = Array(Self.plain.utf8)
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(Array("{}[]\",:0n".utf8).randomElement(using: &random) ?? 0, at: index)
                }
            }
            do {
                _ = try ForeignReading.read(bytes, as: BitwardenFormat()).listing
            } catch is ForeignFailure {
                // Refused.
            } catch {
                Issue.record("another failure: \(error)")
            }
        }
    }

    @Test(
        "A record without an ID gets a UUID that depends on no secret in its address, and what it cannot keep is counted"
    )
    func counted() throws {
        func read(_ item: String) throws -> ForeignContents {
            try ForeignReading.read(#"{"encrypted":false,"items":[\#(item)]}"#, as: BitwardenFormat())
        }
        let login =
            #"{"type":1,"name":"A","reprompt":1,"login":{"uris":[{"match":3,"uri":"https://u:SECRET@a.example"}],"password":"p"}}"#
        let contents = try read(login)
        #expect(try contents.uuids == read(login.replacing("SECRET", with: "other")).uuids)
        #expect(contents.leftOut.map(\.kind) == ["reprompt mark", "rule for matching an address"])
        #expect(
            try read(#"{"type":1,"name":"A","login":{"password":null}}"#).leftOut.map(\.kind) == [
                "record without a secret"
            ])
    }

    @Test("A record with half a character is left out and named, and the others are imported")
    func halfCharacter() throws {
        let text =
            #"{"encrypted":false,"items":[{"type":1,"name":"A","login":{"username":"u","password":"p\ud800"}},"#
            + #"{"type":1,"name":"B","login":{"username":"u","password":"q"}}]}"#
        let contents = try ForeignReading.read(text, as: BitwardenFormat())
        #expect(try contents.listing == ["genp svce=B acct=u: q"])
        #expect(contents.refused.map(\.name) == ["A"])
    }

    @Test("A passkey without a password keeps the seed and the addresses of its record")
    func passkeyAlone() throws {
        let text = #"""
            {"encrypted":false,"items":[{"id":"i","type":1,"name":"Bank","login":{"password":null,
            "uris":[{"uri":"otpauth://totp/x?secret=JBSWY3DP"},{"uri":"https://bank.example"}],
            "fido2Credentials":[{"rpId":"bank.example","keyValue":"\#(PasskeySample.key)"}]}}]}
            """#
        let items = try ForeignReading.read(text, as: BitwardenFormat()).entries.map(\.item)
        #expect(Set(items.map { $0.attributes.text(.desc) }) == ["one-time password", "passkey"])
        #expect(items.allSatisfy { $0.extraValue("url.1") == "https://bank.example" })
    }
}
