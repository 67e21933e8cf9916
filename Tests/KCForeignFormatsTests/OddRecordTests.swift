import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Records that cannot be read, among others that can")
struct OddRecordTests {
    /// A format, what is around its records, a good record with the ID and the title in place of `#` and `@`, and
    /// damaged ones: as a whole, or in one part.
    private struct Case {
        let format: any ForeignFormat
        let start: String
        let end: String
        let record: String
        let odd: [(String, String)]
        var parts: [(String, String)] = []
    }

    private static let cases = [
        Case(
            format: BitwardenFormat(), start: #"{"encrypted":false,"folders":[],"items":["#, end: "]}",
            record: ##"{"id":"#","type":1,"name":"@","login":{"username":"u","password":"p"},"notes":"n"}"##,
            odd: [
                (##""id":"#""##, #""id":"good""#), (#""type":1"#, #""type":"x""#),
                (#""password":"p""#, #""password":1"#),
                (#""notes":"n""#, #""notes":{}"#), (#""notes":"n""#, #""notes":"n","fields":{}"#),
                (#""notes":"n""#, #""notes":"n","passwordHistory":7"#),
            ]),
        Case(
            format: ProtonPassFormat(), start: #"{"encrypted":false,"vaults":{"v":{"name":"V","items":["#, end: "]}}}",
            record: ##"{"itemId":"#","data":{"metadata":{"name":"@","note":"n"},"type":"login","content":{"##
                + #""itemUsername":"u","password":"p","urls":[]}}}"#,
            odd: [
                (##""itemId":"#""##, #""itemId":"good""#), (##""itemId":"#","##, ""),
                (#""password":"p""#, #""password":1"#),
                (#""urls":[]"#, #""urls":[7]"#), (#""note":"n""#, #""note":[]"#),
            ],
            parts: [
                (#""urls":[]"#, #""urls":[],"passkeys":[{"userName":"u"}]"#),
                (#""type":"login""#, #""extraFields":[{"fieldName":"f","data":{"content":7}}],"type":"login""#),
            ]),
        Case(
            format: OnePasswordFormat(), start: #"{"accounts":[{"vaults":[{"attrs":{"name":"V"},"items":["#,
            end: "]}]}]}",
            record: ##"{"uuid":"#","state":"active","categoryUuid":"001","details":{"loginFields":["##
                + #"{"value":"u","designation":"username"},{"value":"p","designation":"password"}],"notesPlain":"n","#
                + #""sections":[]},"overview":{"title":"@"}}"#,
            odd: [
                (##""uuid":"#""##, #""uuid":"good""#), (##""uuid":"#","##, ""),
                (#""overview":{"#, #""overview":{"urls":7,"#),
            ],
            parts: [
                (#""sections":[]"#, #""sections":[{"fields":[{"value":7}]}]"#),
                (#""sections":[]"#, #""sections":[{"fields":[{"title":"k","value":{"sshKey":{}}}]}]"#),
                (#""sections":[]"#, #""sections":[],"documentAttributes":{"fileName":"a","documentId":"b"}"#),
                (#""sections":[]"#, #""sections":[],"documentAttributes":{"documentId":"b"}"#),
            ]),
        Case(
            format: CXFFormat(),
            start: #"{"version":{"major":1,"minor":0},"exporterRpId":"e","accounts":[{"id":"A","items":["#, end: "]}]}",
            record: ##"{"id":"#","title":"@","credentials":[{"type":"basic-auth","username":{"value":"u"},"##
                + #""password":{"value":"p"}},{"type":"note","content":{"value":"n"}}]}"#,
            odd: [
                (##""id":"#""##, #""id":"good""#), (##""id":"#","##, ""),
                (#""credentials":["#, #""credentials":7,"x":["#),
            ],
            parts: [
                (#"{"value":"n"}"#, "7"), (#""type":"note""#, #""type":"totp""#),
                (#""type":"note""#, #""type":"passkey""#), (#""type":"note""#, #""type":"ssh-key""#),
                (#""type":"note""#, #""type":"generated-password""#),
            ]),
        Case(
            format: KeeperFormat(), start: #"{"shared_folders":[],"records":["#, end: "]}",
            record: ##"{"uid":"#","title":"@","$type":"login","login":"u","password":"p","notes":"n","##
                + #""custom_fields":{"PIN":"1"},"folders":[]}"#,
            odd: [
                (##""uid":"#""##, #""uid":"good""#), (##""uid":"#""##, #""uid":{}"#), (#""login":"u""#, #""login":1"#),
                (#""password":"p""#, #""password":[]"#), (#""folders":[]"#, #""folders":{}"#),
                (#""folders":[]"#, #""folders":[7]"#), (#"{"PIN":"1"}"#, "7"), (#""notes":"n""#, #""notes":7"#),
            ],
            parts: [
                (#"{"PIN":"1"}"#, #"{"$passkey::1":{"username":"u"}}"#),
                (#"{"PIN":"1"}"#, #"{"$oneTimeCode::1":"see phone 1"}"#),
            ]),
        Case(
            format: EnpassFormat(), start: #"{"folders":[{"parent_uuid":"","uuid":"f","title":"F"}],"items":["#,
            end: "]}",
            record:
                ##"{"uuid":"#","title":"@","category":"login","template_type":"login.default","note":"n","fields":["##
                + #"{"type":"username","label":"U","value":"u"},{"type":"password","label":"P","value":"p"}]}"#,
            odd: [
                (##""uuid":"#""##, #""uuid":"good""#), (##""uuid":"#","##, ""), (#""note":"n""#, #""note":7"#),
                (#""value":"p""#, #""value":1"#), (#""value":"p""#, #""value":"p","history":{}"#),
                (#""fields":["#, #""fields":["x","#), (#""label":"P""#, #""label":7"#),
                (#""note":"n""#, #""folders":"f""#),
            ],
            parts: [
                (#""note":"n""#, #""attachments":[{"data":"*"}]"#), (#""note":"n""#, #""attachments":[{}]"#),
                (#""note":"n""#, #""attachments":[7]"#),
            ]),
        Case(
            format: AegisFormat(), start: #"{"version":1,"header":{},"db":{"version":3,"entries":["#, end: "]}}",
            record: ##"{"type":"totp","uuid":"#","name":"ada","issuer":"@","note":"n","info":{"secret":"MZXW6YTB","##
                + #""algo":"SHA1","digits":6,"period":30},"groups":[]}"#,
            odd: [
                (##""uuid":"#""##, #""uuid":"good""#), (##""uuid":"#","##, ""), (#""type":"totp","#, ""),
                (#""info":{"#, #""info":7,"x":{"#), (#""note":"n""#, #""note":7"#),
                (#""period":30"#, #""period":30.5"#), (#""groups":[]"#, #""groups":["g"]"#),
            ],
            parts: [
                (#"MZXW6YTB"#, "0189"), (#"MZXW6YTB"#, ""), (#""SHA1""#, #""CRC""#), (#""digits":6"#, #""digits":99"#),
                (#""period":30"#, #""period":0"#),
            ]),
        Case(
            format: TwoFASFormat(), start: #"{"schemaVersion":4,"services":["#, end: "]}",
            record:
                ##"{"name":"@","secret":"MZXW6YTB","otp":{"account":"#","digits":6,"period":30,"tokenType":"TOTP"}}"##,
            odd: [
                (#""otp":{"#, #""otp":[],"x":{"#), (#""secret""#, #""other""#), (#""digits":6"#, #""digits":"6""#),
            ],
            parts: [
                (#"MZXW6YTB"#, "0189"), (#""period":30"#, #""period":86401"#), (#""TOTP""#, #""HOTP","counter":-1"#),
            ]),
        Case(
            format: AndOTPFormat(), start: "[", end: "]",
            record: ##"{"secret":"MZXW6YTB","issuer":"@","label":"#","type":"TOTP","algorithm":"SHA1","digits":6,"##
                + #""period":30,"tags":[]}"#,
            odd: [
                (#""secret":"MZXW6YTB""#, #""secret":7"#), (#""type":"TOTP","#, ""), (#""tags":[]"#, #""tags":{}"#),
            ], parts: [(#""SHA1""#, #""""#), (#""digits":6"#, #""digits":-6"#)]),
        Case(
            format: FreeOTPPlusFormat(), start: #"{"tokenOrder":[],"tokens":["#, end: "]}",
            record:
                ##"{"algo":"SHA1","digits":6,"issuerExt":"@","label":"#","period":30,"secret":[1,-2,3],"type":"TOTP"}"##,
            odd: [
                ("[1,-2,3]", "[1,-129]"), ("[1,-2,3]", #"["1"]"#), ("[1,-2,3]", "[]"), ("[1,-2,3]", "7"),
                (#""type":"TOTP""#, #""type":7"#),
            ]),
        Case(
            format: StratumFormat(), start: #"{"Categories":[],"Authenticators":["#, end: "]}",
            record:
                ##"{"Type":2,"Issuer":"@","Username":"#","Secret":"MZXW6YTB","Algorithm":0,"Digits":6,"Period":30}"##,
            odd: [
                (#""Type":2,"#, ""), (#""Type":2"#, #""Type":"2""#), (#""Secret""#, #""Sacred""#),
            ], parts: [(#""Algorithm":0"#, #""Algorithm":3"#), (#""Algorithm":0"#, #""Algorithm":-1"#)]),
        Case(
            format: TwoFAuthFormat(), start: #"{"app":"2fauth_v5","datetime":"","data":["#, end: "]}",
            record: ##"{"otp_type":"totp","account":"#","service":"@","secret":"MZXW6YTB","digits":6,"##
                + #""algorithm":"sha1","period":30,"counter":null}"#,
            odd: [(#""otp_type":"totp","#, ""), (#""digits":6"#, #""digits":"6""#), (#""secret""#, #""other""#)],
            parts: [(#""sha1""#, #""crc""#), ("MZXW6YTB", "0189")]),
        Case(
            format: ProtonAuthenticatorFormat(), start: #"{"version":1,"entries":["#, end: "]}",
            record: ##"{"id":"#","note":"n","content":{"uri":"otpauth://totp/@?secret=MZXW6YTB","name":"@","##
                + #""entry_type":"Totp"}}"#,
            odd: [
                (##""id":"#""##, #""id":"good""#), (##""id":"#","##, ""), (#""uri""#, #""other""#),
                (#""note":"n""#, #""note":7"#),
            ],
            parts: [("MZXW6YTB", "0189"), ("otpauth://totp/@?secret=MZXW6YTB", "steam://*")]),
    ]

    /// The names of the formats.
    static let formats = cases.map(\.format.name)

    private func read(_ records: [String], _ index: Int) throws -> ForeignContents {
        let it = Self.cases[index]
        let text = it.start + records.joined(separator: ",") + it.end
        guard it.format is OnePasswordFormat else { return try ForeignReading.read(text, as: it.format) }
        let members = [("export.attributes", #"{"version":3}"#), ("export.data", text)]
        return try ForeignReading.read(ZipWriter.zip(members.map { ($0.0, Array($0.1.utf8)) }), as: it.format)
    }

    private func record(_ id: String, _ title: String, _ index: Int) -> String {
        Self.cases[index].record.replacing("#", with: id).replacing("@", with: title)
    }

    @Test("A damaged record is left out as a whole and named; the others are imported", arguments: 0..<cases.count)
    func odd(index: Int) throws {
        let (good, last) = (record("good", "Good", index), record("last", "Last", index))
        let whole = try read([good, last], index)
        #expect(whole.refused == [])
        for (from, to) in Self.cases[index].odd {
            try #require(Self.cases[index].record.contains(from), "\(from)")
            let odd = Self.cases[index].record.replacing(from, with: to, maxReplacements: 1)
                .replacing("#", with: "odd").replacing("@", with: "Odd")
            let contents = try read([good, odd, last], index)
            #expect(try contents.listing == whole.listing, "\(to)")
            #expect(contents.refused.map(\.name) == ["Odd"], "\(to)")
            #expect(contents.leftOut.map(\.kind) == whole.leftOut.map(\.kind), "\(to)")
            #expect(contents.parts.map(\.count) == whole.parts.map(\.count), "\(to)")
        }
        // Something else than an object has no name.
        #expect(try read([good, "7", last], index).refused.map(\.name) == ["record 2"])
    }

    @Test("A damaged part is named, and its record keeps the others", arguments: 0..<cases.count)
    func oddPart(index: Int) throws {
        let (good, last) = (record("good", "Good", index), record("last", "Last", index))
        let whole = try read([good, last], index)
        for (from, to) in Self.cases[index].parts {
            try #require(Self.cases[index].record.contains(from), "\(from)")
            let odd = Self.cases[index].record.replacing(from, with: to, maxReplacements: 1)
                .replacing("#", with: "odd").replacing("@", with: "Odd")
            let contents = try read([good, odd, last], index)
            #expect(try Set(contents.listing).isSuperset(of: whole.listing), "\(to)")
            #expect(contents.items.count > whole.items.count, "\(to)")
            // Each record of Keeper has a passkey in a form of its own, which is named too.
            let parts = contents.refused.filter { $0.name.contains(": ") }
            #expect(parts.count == 1, "\(contents.refused)")
            #expect(parts.count == 1 && parts[0].name.hasPrefix("Odd: "), "\(to)")
        }
    }

    @Test("A file in which no record can be read is damaged, and not an empty one", arguments: 0..<cases.count)
    func allOdd(index: Int) throws {
        let failure = #expect(throws: ForeignFailure.self) { try read(["7", "8"], index) }
        guard case .damaged = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }

    @Test("What a damaged record adds before its damage is found is taken back, and its name is free again")
    func takenBack() throws {
        func part(_ account: String, _ secret: String, record: String) -> RecordPart {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text("s")
            draft.attributes[.acct] = .text(account)
            return RecordPart(
                "password", draft, secret: SecretBytes(copying: secret.utf8), record: record, name: account)
        }
        let collector = RecordCollector(format: "test", date: .reference)
        try collector.record("one") { () throws(ForeignFailure) in
            try collector.add(part("a", "1", record: "1"))
        }
        let isRead = try collector.record("two") { () throws(ForeignFailure) in
            try collector.add(part("a", "other", record: "2"))
            try collector.add(part("b", "2", record: "2"))
            collector.leaveOut("thing")
            collector.refuse("b", .sameKey)
            collector.remark("remark")
            throw .damaged("rule")
        }
        #expect(!isRead)
        try collector.record("three") { () throws(ForeignFailure) in
            try collector.add(part("b", "3", record: "3"))
        }
        #expect(throws: ForeignFailure.empty) {
            try collector.record("four") { () throws(ForeignFailure) in throw .empty }
        }
        let contents = try collector.finish(details: "", isPlaintext: true)
        #expect(try contents.listing == ["genp svce=s acct=a: 1", "genp svce=s acct=b: 3"])
        #expect(contents.refused.map(\.name) == ["two"])
        #expect(contents.refused.map(\.problem) == [.damaged("rule")])
        #expect(contents.leftOut.isEmpty)
        #expect(contents.marked.isEmpty)
        #expect(contents.remarks.isEmpty)
        #expect(contents.parts.map(\.count) == [2])
    }
}

@Suite("Fields of several sections")
struct SectionTests {
    @Test("Fields of the same name in two sections stay two, named after their sections")
    func onePassword() throws {
        let section = { (title: String) in
            #"{"title":"\#(title)","fields":[{"title":"PIN","value":{"concealed":"1234"}},{"title":"","value":{"string":"x"}}]}"#
        }
        let text =
            #"{"accounts":[{"vaults":[{"items":[{"uuid":"a","categoryUuid":"110","details":{"sections":["#
            + section("Door") + "," + section("Safe") + "," + section("") + #"]},"overview":{"title":"T"}}]}]}]}"#
        let members = [("export.attributes", #"{"version":3}"#), ("export.data", text)]
        let contents = try ForeignReading.read(
            ZipWriter.zip(members.map { ($0.0, Array($0.1.utf8)) }), as: OnePasswordFormat())
        #expect(
            try contents.listing == [
                "genp svce=T acct=Door desc=field: x", "genp svce=T acct=Door: PIN desc=field: 1234",
                "genp svce=T acct=PIN desc=field: 1234", "genp svce=T acct=Safe desc=field: x",
                "genp svce=T acct=Safe: PIN desc=field: 1234", "genp svce=T acct=field desc=field: x",
            ])
        #expect(contents.duplicates == 0)
        #expect(contents.marked.isEmpty)
    }

    @Test("Groups of custom fields in CXF, and sections of Proton's SSH keys, name their fields")
    func others() throws {
        let cxf =
            #"{"version":{"major":1,"minor":0},"exporterRpId":"e","accounts":[{"id":"A","items":[{"id":"aQ","title":"T","#
            + #""credentials":[{"type":"custom-fields","id":"x","label":"Door","fields":[{"label":"PIN","value":"1"}]},"#
            + #"{"type":"custom-fields","label":"Safe","fields":[{"label":"PIN","value":"1"},{"value":"2"}]}]}]}]}"#
        var contents = try ForeignReading.read(cxf, as: CXFFormat())
        #expect(
            try contents.listing == [
                "genp svce=T acct=Door: PIN desc=field: 1", "genp svce=T acct=Safe desc=field: 2",
                "genp svce=T acct=Safe: PIN desc=field: 1",
            ])
        #expect(contents.leftOut.isEmpty)
        let proton =
            #"{"encrypted":false,"vaults":{"v":{"name":"V","items":[{"itemId":"a","data":{"metadata":{"name":"T"},"#
            + #""type":"sshKey","content":{"privateKey":"K","sections":[{"sectionName":"Door","sectionFields":["#
            + #"{"fieldName":"PIN","type":"text","data":{"content":"1"}}]}]}}}]}}}"#
        contents = try ForeignReading.read(proton, as: ProtonPassFormat())
        #expect(try contents.listing.contains("genp svce=T acct=Door: PIN desc=field: 1"))
        #expect(contents.leftOut.isEmpty)
    }
}
