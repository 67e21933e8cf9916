import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing CXF")
struct CXFTests {
    private let item = #"""
        {"id":"aQ","title":"Bank","creationAt":1700000000,"modifiedAt":1700000001,"favorite":true,"tags":["x","y"],
        "scope":{"urls":["https://bank.example/login"],"androidApps":[{"bundleId":"com.bank"}]},"credentials":[
        {"type":"basic-auth","username":{"fieldType":"string","value":"ada"},"password":{"fieldType":"concealed-string","value":"pw\u00e9"}},
        {"type":"totp","secret":"JBSWY3DP","period":30,"digits":6,"algorithm":"sha1","issuer":"Bank"},
        {"type":"note","content":{"fieldType":"string","value":"text"}},
        {"type":"passkey","credentialId":"AQ","rpId":"bank.example","username":"ada","userDisplayName":"Ada","userHandle":"AA","key":"\#(PasskeySample.key)"},
        {"type":"wifi","ssid":{"value":"Net"},"passphrase":{"value":"wpa"}},
        {"type":"ssh-key","keyType":"ssh-ed25519","privateKey":"AAEC_w"},
        {"type":"custom-fields","fields":[{"label":"PIN","fieldType":"concealed-string","value":"1234"}]},
        {"type":"credit-card","number":{"value":"4111"}},{"type":"generated-password","password":"gen"},
        {"type":"file","id":"x","name":"a"},{"type":"item-reference","reference":{"item":"z"}},{"type":"brand-new","x":"y"}]}
        """#

    private func document(_ items: String) -> String {
        #"{"version":{"major":1,"minor":0},"exporterRpId":"e.example","exporterDisplayName":"E","timestamp":1,"accounts":[{"id":"A","username":"","email":"","collections":[{"id":"c","title":"Money","items":[{"item":"aQ"}]}],"items":["#
            + items + "]}]}"
    }

    private static let expected = [
        "genp svce=AirPort acct=Net desc=AirPort network password: wpa",
        "genp svce=Bank acct=PIN (ada) desc=field: 1234",
        "genp svce=Bank acct=ada desc=card: {\"number\":{\"value\":\"4111\"}}",
        "genp svce=Bank acct=generated password (ada) desc=field: gen",
        "genp svce=Bank acct=note (ada) desc=secure note: text",
        "genp svce=Bank import:7cc03fdd acct=ada desc=other: {\"type\":\"brand-new\",\"x\":\"y\"}",
        "genp svce=bank.example acct=one-time password (ada) desc=one-time password: "
            + "otpauth://totp/Bank?secret=JBSWY3DP&issuer=Bank",
        "genp svce=bank.example acct=passkey (ada) desc=passkey: "
            + #"{"credentialId":"AQ","rpId":"bank.example","username":"ada","userDisplayName":"Ada","userHandle":"AA","key":"\#(PasskeySample.key)"}"#,
        "inet srvr=bank.example acct=ada: pwé",
    ]

    @Test("Truncated JSON is reported as damaged if the file name says that it is JSON")
    func cut() throws {
        let bytes = Array(#"{"version":{"major":1},"accounts":["#.utf8)
        let failure = #expect(throws: ForeignFailure.self) {
            try KnownFormats.recognise(ForeignReading.input(bytes, name: "export.json"))
        }
        guard case .damaged = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(throws: ForeignFailure.unknownFormat) { try KnownFormats.recognise(ForeignReading.input(bytes)) }
    }

    @Test("Every kind of credential is imported, and data without a counterpart is counted")
    func kinds() throws {
        let text = document(item)
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == "cxf")
        let contents = try ForeignReading.read(text, as: CXFFormat())
        let listing = try contents.listing
        #expect(listing.filter { !$0.contains("private key") } == Self.expected)
        #expect(listing.count == Self.expected.count + 1)
        #expect(
            contents.leftOut.map(\.kind) == [
                "favorite mark", "file beside the JSON", "reference to another item",
            ])
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        let login = try #require(visitor.items.first { $0.itemClass == .internetPassword })
        #expect(login.created == ForeignDate.seconds(1_700_000_000))
        #expect(login.extra.contains(ExtraAttribute(name: "source.folder", value: "Money")))
        #expect(login.extra.contains(ExtraAttribute(name: "url.2", value: "androidapp://com.bank")))
        #expect(contents.details == "from 'E'")
    }

    @Test("Type names from drafts of the standard, and an account without the enclosing document, are read")
    func drafts() throws {
        let draft = item.replacing("\"basic-auth\"", with: "\"BasicAuth\"").replacing("\"totp\"", with: "\"Totp\"")
            .replacing("\"custom-fields\"", with: "\"CustomFields\"")
        let bare = #"{"id":"A","username":"u","email":"","collections":[],"items":["# + draft + "]}"
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(bare.utf8))).name == "cxf")
        let contents = try ForeignReading.read(bare, as: CXFFormat())
        #expect(try contents.listing.filter { !$0.contains("private key") } == Self.expected)
    }

    @Test("Reading a file twice yields the same UUIDs, and a newer version is refused")
    func stable() throws {
        let one = try ForeignReading.read(document(item), as: CXFFormat()).uuids
        #expect(try ForeignReading.read(document(item), as: CXFFormat()).uuids == one)
        #expect(throws: ForeignFailure.unknownVariant("version 2 of the format")) {
            try ForeignReading.read(document(item).replacing(#""major":1"#, with: #""major":2"#), as: CXFFormat())
        }
        let twice = try ForeignReading.read(document(item + "," + item), as: CXFFormat())
        #expect(try twice.uuids == one)
        #expect(twice.refused.map(\.name) == ["Bank"])
    }

    @Test("A document truncated at any byte is refused, and a changed byte causes no crash")
    func damage() throws {
        let text = Array(document(item).utf8)
        for count in stride(from: 0, to: text.count, by: 3) {
            #expect(throws: ForeignFailure.self) { try ForeignReading.read(Array(text[..<count]), as: CXFFormat()) }
        }
        var random = SeededRandom(seed: 1)
        for place in stride(from: 0, to: text.count, by: 3) {
            var changed = text
            changed[place] = UInt8.random(in: 0x20...0x7e, using: &random)
            do { _ = try ForeignReading.read(changed, as: CXFFormat()).listing } catch is ForeignFailure {}
        }
    }

    @Test("If our own attributes in an export are invalid, its records are read like any others")
    func forged() throws {
        let line = #"{"class":"genp","attributes":{"svce":"Chat","acct":"ada"},"secret":"one"}"#
        let (file, _) = try ExportSample.export(line, to: CXFWriter(date: .reference))
        let text = String(decoding: file, as: UTF8.self)
        for (from, to) in [
            (#""class":"genp""#, #""class":"inet""#), (#""pdmn":"ak""#, #""pdmn":"zz""#),
            (#""uuid":""#, #""uuid":"0"#),
        ] {
            let listing = try ForeignReading.read(text.replacing(from, with: to), as: CXFFormat()).listing
            #expect(listing == ["genp svce=Chat acct=ada: one"], "\(to)")
        }
    }

    @Test("Networks of one name are all imported, with the item's title, and nothing about them disappears")
    func networks() throws {
        func network(_ password: String) -> String {
            #"{"type":"wifi","ssid":{"value":"Net"},"networkSecurityType":{"value":"wpa3"},"hidden":"#
                + #"{"fieldType":"boolean","value":"true"},"passphrase":{"value":"\#(password)"}}"#
        }
        let contents = try ForeignReading.read(
            document(
                #"{"id":"aQ","title":"Home","scope":{"urls":["https://r.example"],"androidApps":[]},"credentials":["#
                    + network("one") + "," + network("two") + "]}"), as: CXFFormat())
        let entries = try contents.entries
        #expect(
            entries.compactMap { $0.secret.map { String(decoding: $0, as: UTF8.self) } }.sorted() == ["one", "two"])
        #expect(entries.allSatisfy { $0.item.attributes.text(.labl) == "Home" })
        #expect(entries.allSatisfy { $0.item.extraValue("networkSecurityType") == "wpa3" })
        #expect(entries.allSatisfy { $0.item.extraValue("url.1") == "https://r.example" })
        #expect(contents.leftOut.isEmpty)
    }

    @Test("Addresses within a login, as in drafts, and members of later versions are kept")
    func loginMembers() throws {
        let contents = try ForeignReading.read(
            document(
                #"{"id":"aQ","title":"T","credentials":[{"type":"basic-auth","urls":["https://u.example"],"#
                    + #""username":{"value":"ada"},"password":{"value":"p"},"later":{"x":1},"none":null}]}"#),
            as: CXFFormat())
        #expect(
            try contents.listing == [
                #"genp svce=T acct=later (ada) desc=field: {"x":1}"#, "inet srvr=u.example acct=ada: p",
            ])
    }

    @Test("Each login of an item keeps its own user, and nothing disappears uncounted")
    func logins() throws {
        func read(_ members: String) throws -> ForeignContents {
            try ForeignReading.read(document(#"{"id":"aQ","title":"T",\#(members)}"#), as: CXFFormat())
        }
        func login(_ user: String, _ password: String) -> String {
            #"{"type":"basic-auth","username":{"value":"\#(user)"},"password":{"value":"\#(password)"}}"#
        }
        let note = #"{"type":"note","content":{"value":"n"}}"#
        let two = try read(#""credentials":[\#(note),\#(login("ada", "1")),\#(login("bob", "2"))]"#)
        #expect(
            try two.listing == [
                "genp svce=T acct=ada: 1", "genp svce=T acct=bob: 2", "genp svce=T acct=note (ada) desc=secure note: n",
            ])
        let seed = try read(
            #""scope":{"urls":["otpauth://totp/x?secret=JBSWY3DP","https://a.example"]},"credentials":[\#(note)]"#)
        #expect(
            try seed.listing == [
                "genp svce=T acct=note desc=secure note: n".replacing(" acct=note", with: ""),
                "genp svce=a.example acct=one-time password desc=one-time password: otpauth://totp/x?secret=JBSWY3DP",
            ])
        #expect(
            try read(#""subtitle":"s","credentials":[]"#).leftOut.map(\.kind) == [
                "subtitle", "record without a secret",
            ])
        let key = try read(
            #""extensions":[{"name":"x"}],"credentials":[{"type":"ssh-key","privateKey":"AAEC","keyComment":"c"}]"#)
        #expect(key.leftOut.map(\.kind) == ["extension of another program", "comment of a key"])
    }

    private static let withFile =
        #"{"version":{"major":1,"minor":0},"exporterRpId":"e","exporterDisplayName":"E","timestamp":1,"accounts":[{"id":"A","items":["#
        + #"{"id":"aQ","title":"T","creationAt":1700000000000,"modifiedAt":1.5,"credentials":[{"type":"basic-auth","#
        + #""username":{"value":"ada"},"password":{"value":"pw"}},{"type":"file","id":"ZmlsZQ","name":"a.pdf","decryptedSize":3,"#
        + #""integrityHash":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"},{"type":"file","id":"b","name":"b.pdf"},"#
        + #"{"type":"file","id":"c","name":"c.pdf","integrityHash":"AAAA"}]}]}]}"#

    @Test("A zip file with the JSON is read; its files are attachments, and those missing or altered are named")
    func zipped() throws {
        for folder in ["", "Export/"] {
            let zip = ZipWriter.zip(
                [
                    ("cxf.json", Self.withFile), ("documents/ZmlsZQ", "abc"), ("documents/c", "changed"),
                    ("documents/other", "x"), ("index.html", "<p>"),
                ].map { (folder + $0.0, Array($0.1.utf8)) })
            #expect(try KnownFormats.recognise(ForeignReading.input(zip)).name == "cxf")
            let contents = try ForeignReading.read(zip, as: CXFFormat())
            #expect(
                try contents.listing == [
                    "genp svce=T acct=a.pdf (ada) desc=attachment: abc", "genp svce=T acct=ada: pw",
                ])
            #expect(contents.refused.map(\.name) == ["T: b.pdf", "T: c.pdf"])
            #expect(
                contents.leftOut.map { "\($0.count) \($0.kind)" }
                    == ["2 unreadable date", "2 file of no imported record"])
            #expect(contents.details == "from 'E'")
        }
        let alone = try ForeignReading.read(Self.withFile, as: CXFFormat())
        #expect(alone.refused == [] && alone.leftOut.map(\.kind) == ["unreadable date", "file beside the JSON"])
        let other = ZipWriter.zip([("cxf.json", Array("{}".utf8))])
        #expect(throws: ForeignFailure.unknownFormat) { try KnownFormats.recognise(ForeignReading.input(other)) }
        let encrypted = ForeignReading.input(ZipWriter.zip([("index.jwe", Array("x".utf8))]))
        #expect(try KnownFormats.refusal(of: encrypted)?.name == "cxp")
    }
}
