import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing exports that are zip files")
struct ZippedExportTests {
    private static func zip(_ members: [(String, String)]) -> [UInt8] {
        ZipWriter.zip(members.map { ($0.0, Array($0.1.utf8)) })
    }

    static let onePasswordData = #"""
        {"accounts":[{"attrs":{"accountName":"Ada"},"vaults":[{"attrs":{"name":"Private"},"items":[
          {"uuid":"a","favIndex":1,"createdAt":1700000000,"updatedAt":1700000001,"state":"active","categoryUuid":"001",
           "details":{"loginFields":[{"value":"ada","name":"user","designation":"username","fieldType":"T"},
                                     {"value":"p\u0000w","name":"pass","designation":"password","fieldType":"P"},
                                     {"value":"extra","name":"token","fieldType":"T"}],
                      "notesPlain":"note","passwordHistory":[{"value":"x","time":1}],
                      "sections":[{"title":"s","fields":[{"title":"one-time","id":"i","value":{"totp":"JBSWY3DP"}},
                        {"title":"PIN","id":"p","value":{"concealed":"1234"}},{"title":"mail","value":{"email":{"email_address":"a@b"}}},
                        {"title":"since","value":{"date":1700000000}},{"title":"scan","value":{"file":{"fileName":"s.pdf","documentId":"d1","decryptedSize":3}}},
                        {"title":"see","value":{"reference":"z"}},{"title":"none","value":{"string":""}}]}]},
           "overview":{"title":"Bank","url":"https://bank.example","urls":[{"label":"w","url":"https://bank.example"},{"url":"https://b.example"}],"tags":["t"]}},
          {"uuid":"b","state":"active","categoryUuid":"005","details":{"password":"alone","sections":[]},"overview":{"title":"Alone"}},
          {"uuid":"c","state":"active","categoryUuid":"003","details":{"notesPlain":"text"},"overview":{"title":"Note"}},
          {"uuid":"d","state":"active","categoryUuid":"002","details":{"sections":[{"fields":[{"value":{"creditCardNumber":"4"}}]}]},"overview":{"title":"Card"}},
          {"uuid":"e","state":"archived","categoryUuid":"001","details":{},"overview":{"title":"Old"}},
          {"uuid":"f","state":"active","categoryUuid":"006","details":{"documentAttributes":{"fileName":"missing","documentId":"d9"}},"overview":{"title":"Doc"}},
          {"uuid":"g","state":"active","categoryUuid":"114","details":{"sections":[{"fields":[{"value":{"sshKey":{"privateKey":"KEY","metadata":{}}}}]}]},"overview":{"title":"Key"}}
        ]}]},{"vaults":[{"attrs":{"name":"Other"},"items":[
          {"uuid":"h","state":"active","categoryUuid":"001","details":{"loginFields":[{"value":"q","designation":"password"}],"new":{"x":1}},"overview":{"title":"Second account"}}]}]}]}
        """#

    static let onePassword = zip([
        ("export.attributes", #"{"version":3,"description":"1Password Unencrypted Export","createdAt":1}"#),
        ("export.data", onePasswordData), ("files/d1__s.pdf", "PDF"), ("files/d2__lost", "x"),
    ])

    @Test("1PUX: every account, kind of field and attachment is read, and data without a counterpart is counted")
    func onePUX() throws {
        #expect(try KnownFormats.recognise(ForeignReading.input(Self.onePassword)).name == "1pux")
        let contents = try ForeignReading.read(Self.onePassword, as: OnePasswordFormat())
        #expect(
            try contents.listing
                == [
                    "genp svce=Alone: alone", "genp svce=Bank acct=s: PIN (ada) desc=field: 1234",
                    "genp svce=Bank acct=s: mail (ada) desc=field: a@b",
                    "genp svce=Bank acct=note (ada) desc=secure note: note",
                    "genp svce=Bank acct=s.pdf (ada) desc=attachment: PDF",
                    "genp svce=Bank acct=s: since (ada) desc=field: 1700000000",
                    "genp svce=Bank acct=token (ada) desc=field: extra",
                    #"genp svce=Card desc=card: {"sections":[{"fields":[{"value":{"creditCardNumber":"4"}}]}]}"#,
                    "genp svce=Key acct=private key desc=private key: KEY", "genp svce=Note desc=secure note: text",
                    "genp svce=Second account acct=new desc=field: {\"x\":1}", "genp svce=Second account: q",
                    "genp svce=bank.example acct=one-time password (ada) desc=one-time password: otpauth://totp/Bank:ada?secret=JBSWY3DP&issuer=Bank",
                    "inet srvr=bank.example acct=ada: p\0w",
                ].sorted())
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 favorite mark", "1 earlier password", "1 label of an address", "1 reference to another record",
                "1 archived record", "1 file of no imported record",
            ])
        #expect(contents.refused.map(\.name) == ["Doc: missing"])
        #expect(contents.details == "2 accounts")
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        let bank = try #require(visitor.items.first { $0.itemClass == .internetPassword })
        #expect(bank.created.seconds == 1_700_000_000)
        #expect(bank.extra.contains { $0.name == "url.2" && $0.value == "https://b.example" })
        #expect(bank.extra.contains { $0.name == "source.folder" && $0.value == "Private" })
    }

    @Test("A truncated zip file is reported as a damaged zip file")
    func damagedZip() throws {
        for bytes in [Array(Self.onePassword.dropLast(40)), Array(Self.onePassword.prefix(30))] {
            let failure = #expect(throws: ForeignFailure.self) {
                try KnownFormats.recognise(ForeignReading.input(bytes))
            }
            guard case .damaged(let rule) = failure else {
                Issue.record("another failure: \(String(describing: failure))")
                return
            }
            #expect(rule.contains("zip file"))
        }
        let other = Self.zip([("notes.txt", "x")])
        #expect(throws: ForeignFailure.unknownFormat) { try KnownFormats.recognise(ForeignReading.input(other)) }
    }

    @Test("Dashlane: logins and notes are read as in its CSV files, and every other row becomes one item")
    func dashlane() throws {
        let bytes = Self.zip([
            (
                "credentials.csv",
                "username,username2,username3,title,password,note,url,category,otpSecret\nada,,,D,p,n,https://d.example,Work,\n"
            ), ("securenotes.csv", "title,note\nN,text\n"),
            ("payments.csv", "type,account_name,cc_number,code\npayment_card,Visa,4111,123\n"),
            ("new.csv", "a,b\n1,2\n"), ("read.txt", "x"), ("folder/", ""),
        ])
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "dashlane")
        let contents = try ForeignReading.read(bytes, as: DashlaneFormat())
        #expect(
            try contents.listing == [
                "genp svce=D acct=note (ada) desc=secure note: n", "genp svce=N desc=secure note: text",
                #"genp svce=Visa desc=card: {"type":"payment_card","account_name":"Visa","cc_number":"4111","code":"123"}"#,
                #"genp svce=row of a table that is not known desc=row of a table that is not known: {"a":"1","b":"2"}"#,
                "inet srvr=d.example acct=ada: p",
            ])
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 file of no imported record"])
    }

    @Test("Dashlane: an error names the table in the zip file")
    func dashlaneTables() throws {
        func read(_ name: String, _ text: String) throws -> ForeignContents {
            let header = "username,username2,username3,title,password,note,url,category,otpSecret\n"
            return try ForeignReading.read(Self.zip([("credentials.csv", header), (name, text)]), as: DashlaneFormat())
        }
        #expect(throws: ForeignFailure.damaged("line 1 of 'ids.csv' in it: two columns have the same name")) {
            try read("ids.csv", "a,a\n")
        }
        #expect(throws: ForeignFailure.damaged("line 1 of a table in it: two columns have the same name")) {
            try read("new.csv", "a,a\n")
        }
    }

    @Test("Proton Pass: fields of unknown kinds, sections of keys and users of passkeys are kept")
    func protonRest() throws {
        let text = #"""
            {"version":"1.29","encrypted":false,"vaults":{"v1":{"name":"P","items":[
              {"itemId":"a","data":{"metadata":{"name":"S"},"extraFields":[
               {"fieldName":"when","type":"timestamp","data":{"timestamp":"2024"}},{"fieldName":"none","data":{"content":""}},
               {"fieldName":"both","data":{"content":"c","totpUri":"JBSWY3DP"}},{"fieldName":"odd"}],"type":"sshKey",
               "content":{"privateKey":"KEY","publicKey":"ssh-x","new":"N","sections":[{"sectionName":"s","sectionFields":[
                {"fieldName":"PIN","type":"hidden","data":{"content":"42"}}]}]}}},
              {"itemId":"b","data":{"metadata":{"name":"W"},"type":"login","content":{"itemUsername":"ada","password":"",
               "urls":["https://w.example"],"passkeys":[{"rpId":"w.example"}],"later":[1]}}}]}}}
            """#
        let contents = try ForeignReading.read(text, as: ProtonPassFormat())
        #expect(
            try contents.listing == [
                "genp svce=S acct=both desc=field: c", "genp svce=S acct=new desc=field: N",
                "genp svce=S acct=one-time password desc=one-time password: otpauth://totp/S?secret=JBSWY3DP&issuer=S",
                "genp svce=S acct=private key desc=private key: KEY", "genp svce=S acct=s: PIN desc=field: 42",
                #"genp svce=S acct=when desc=field: {"timestamp":"2024"}"#,
                "genp svce=W acct=later (ada) desc=field: [1]",
                #"genp svce=w.example acct=passkey desc=passkey: {"rpId":"w.example"}"#,
                "inet srvr=w.example acct=ada: no secret",
            ])
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["2 field without a value"])
        let keys = try contents.entries.filter { $0.item.attributes.text(.desc) == "private key" }
        #expect(keys.map { $0.item.extraValue("publicKey") } == ["ssh-x"])
    }

    static let protonData = #"""
        {"version":"1.29","encrypted":false,"vaults":{"v1":{"name":"Personal","items":[
          {"itemId":"a","state":1,"createTime":1700000000,"modifyTime":1700000001,"data":{"metadata":{"name":"P","note":"n"},
           "extraFields":[{"fieldName":"PIN","type":"hidden","data":{"content":"1"}},{"fieldName":"2","type":"totp","data":{"totpUri":"JBSWY3DP"}}],
           "type":"login","content":{"itemEmail":"a@p","itemUsername":"ada","password":"p","urls":["https://p.example"],"totpUri":"","passkeys":[{"rpId":"p.example","userName":"ada","content":"K"}]}}},
          {"itemId":"b","state":2,"data":{"metadata":{"name":"T"},"type":"note","content":{}}},
          {"itemId":"c","state":1,"data":{"metadata":{"name":"C","note":""},"type":"creditCard","content":{"number":"4"}}},
          {"itemId":"d","state":1,"aliasEmail":"x@y","data":{"metadata":{"name":"A","note":"z"},"type":"alias","content":{}}}]}}}
        """#

    static let proton = zip([("Proton Pass/data.json", protonData)])

    @Test("Proton Pass: logins, passkeys and cards are read, and records in the trash are counted")
    func protonPass() throws {
        #expect(try KnownFormats.recognise(ForeignReading.input(Self.proton)).name == "proton-pass")
        let contents = try ForeignReading.read(Self.proton, as: ProtonPassFormat())
        #expect(
            try contents.listing == [
                "genp svce=A acct=note desc=secure note: z", #"genp svce=C desc=card: {"number":"4"}"#,
                "genp svce=P acct=PIN (ada) desc=field: 1", "genp svce=P acct=note (ada) desc=secure note: n",
                "genp svce=p.example acct=one-time password (ada) desc=one-time password: otpauth://totp/P:ada?secret=JBSWY3DP&issuer=P",
                #"genp svce=p.example acct=passkey (ada) desc=passkey: {"rpId":"p.example","userName":"ada","content":"K"}"#,
                "inet srvr=p.example acct=ada: p",
            ])
        #expect(contents.leftOut.map(\.kind) == ["record in the trash", "alias of an address"])
        // The JSON file alone, outside the zip file.
        let bytes = Array(Self.protonData.utf8)
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "proton-pass")
        #expect(try ForeignReading.read(bytes, as: ProtonPassFormat()).uuids == contents.uuids)
    }

    @Test("A truncated file is refused, and an altered one is refused or yields the original items")
    func damaged() throws {
        let format = ProtonPassFormat()
        let right = try ForeignReading.read(Self.proton, as: format).listing
        for length in stride(from: 0, to: Self.proton.count, by: 3) {
            #expect(throws: ForeignFailure.self) {
                try ForeignReading.read(Array(Self.proton.prefix(length)), as: format)
            }
        }
        for index in Self.proton.indices {
            var altered = Self.proton
            altered[index] ^= UInt8(1 << (index % 8))
            do {
                #expect(try ForeignReading.read(altered, as: format).listing == right)
            } catch is ForeignFailure {
                // Refused.
            } catch let failure as StreamFailure where failure == .outOfMemory(.readingContainer) {
                // Refused, too: other tests of this process may take the memory for a moment.
            }
        }
    }

    @Test("An export with randomly altered members is read or refused, and never crashes the program")
    func fuzzed() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<800 {
            var data = Array(Self.onePasswordData.utf8)
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<data.count, using: &random)
                if Bool.random(using: &random) {
                    data.remove(at: index)
                } else {
                    data.insert(Array("{}[]\",:0n".utf8).randomElement(using: &random) ?? 0, at: index)
                }
            }
            let bytes = ZipWriter.zip([("export.attributes", Array(#"{"version":3}"#.utf8)), ("export.data", data)])
            do {
                _ = try ForeignReading.read(bytes, as: OnePasswordFormat()).listing
            } catch is ForeignFailure {
                // Refused.
            } catch {
                Issue.record("another failure: \(error)")
            }
        }
    }

    @Test(
        "1PUX: each password is beside its user name, and what has no counterpart becomes a field",
        arguments: [
            ("u:ada p:1 u:bob p:2", ["acct=ada: 1", "acct=bob: 2"]),
            ("p:1 u:ada p:2 u:bob", ["acct=ada: 1", "acct=bob: 2"]),
            ("u:ada u:bob p:2", ["acct=bob: 2", "acct=user (bob) desc=field: ada"]),
            ("u:ada p:1 p:2", [": 2", "acct=ada: 1"]), ("p:1 u:ada", ["acct=ada: 1"]),
            ("u:ada", ["acct=ada: no secret"]),
        ])
    func onePUXLogins(fields: String, expected: [String]) throws {
        let members = fields.split(separator: " ").map { field in
            let designation = field.hasPrefix("u") ? "username" : "password"
            return #"{"designation":"\#(designation)","name":"user","value":"\#(field.dropFirst(2))"}"#
        }
        let contents = try ForeignReading.read(
            Self.onePUX(#""categoryUuid":"001","details":{"loginFields":[\#(members.joined(separator: ","))]}"#),
            as: OnePasswordFormat())
        #expect(
            try contents.listing.sorted()
                == expected.map { ($0.hasPrefix(":") ? "genp svce=T" : "genp svce=T ") + $0 }.sorted())
    }

    @Test("1PUX: the seed among the addresses of a note becomes a one-time password")
    func onePUXSeed() throws {
        let contents = try ForeignReading.read(
            Self.onePUX(
                #""categoryUuid":"003","details":{}"#,
                overview: #","urls":[{"url":"otpauth://totp/x?secret=JBSWY3DP"}]"#),
            as: OnePasswordFormat())
        #expect(
            try contents.listing
                == ["genp svce=T acct=one-time password desc=one-time password: otpauth://totp/x?secret=JBSWY3DP"])
    }

    private static func onePUX(_ members: String, overview: String = "") -> [UInt8] {
        zip([
            ("export.attributes", #"{"version":3,"description":"1Password Unencrypted Export","createdAt":1}"#),
            (
                "export.data",
                #"{"accounts":[{"vaults":[{"attrs":{},"items":[{"uuid":"a","state":"active","overview":{"title":"T"\#(overview)},\#(members)}]}]}]}"#
            ),
        ])
    }
}
