import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("A record that is imported and exported stays a record", .waitsForPrograms)
struct RecordTests {
    /// A KeePass entry with all that one can have.
    private static func shop(_ extra: [(String, String)] = []) throws -> ForeignContents {
        var forge = KDBXForge()
        forge.binaries = [Array("ATT".utf8)]
        let entry = KDBXForge.entry(
            1,
            [
                ("Title", "Shop"), ("UserName", "zoe"), ("Password", "{{pw}}"), ("URL", "https://shop.example/in"),
                ("Notes", "a note"), ("otp", "{{otpauth://totp/Shop:zoe?secret=JBSWY3DPEHPK3PXP&issuer=Shop}}"),
                ("PIN", "{{1234}}"),
            ] + extra,
            more: #"<Tags>work;shop</Tags><Binary><Key>a.txt</Key><Value Ref="0"/></Binary>"#)
        return try ForeignReading.read(try forge.file(KDBXForge.xml(entry)), as: KeePassFormat(), password: "pw")
    }

    /// Exports items that were imported.
    static func export(
        _ contents: ForeignContents, to writer: any ExportWriter
    ) throws -> (file: [UInt8], export: ItemExport) {
        var export = ItemExport(to: writer, filter: nil, spoolingIn: "/nowhere")
        try contents.items.visitItems(&export)
        try export.joinRecords()
        var file: [UInt8] = []
        if let writer = writer as? any ProtectedExportWriter {
            try writer.finish(password: SecretBytes(copying: "correct horse".utf8)) { file.append($0) }
        } else {
            try #require(writer as? any PlainExportWriter).finish { file.append($0) }
        }
        return (file, export)
    }

    static func read(_ file: [UInt8], _ format: ExportFormat) throws -> ForeignContents {
        let readers: [ExportFormat: any ForeignFormat] = [
            .bitwarden: BitwardenFormat(), .cxf: CXFFormat(), .kdbx: KeePassFormat(), .csv: CSVFormat(),
        ]
        return try ForeignReading.read(file, as: try #require(readers[format]), password: "correct horse")
    }

    private static func writer(_ format: ExportFormat) throws -> any ExportWriter {
        try #require(ExportSample.writers().first { $0.0 == format }?.1)
    }

    @Test("An entry of KeePass leaves as one entry, with its fields, tags, code and attachment")
    func keepass() throws {
        let before = try Self.shop()
        let (file, export) = try Self.export(before, to: Self.writer(.kdbx))
        #expect(export.isComplete)
        let header = try KDBXHeader(file.span)
        var key = KDBXCompositeKey()
        try key.add(password: SecretBytes(copying: "correct horse".utf8))
        let input = try #require(ForeignReading.input(file).file)
        let database = try KDBXDatabase(KDBXOpening(input, header, key: key.bytes()), header, of: input)
        let records = KeePassRecords(database, RecordCollector(format: "keepass", date: .reference))
        let after = try records.read(.kdbx4)
        let entry = try #require(records.entries.first)
        #expect(records.entries.count == 1)
        let strings = entry.strings.map {
            "\($0.key)=\(String(decoding: database.value($0.value).bytesForTest(), as: UTF8.self))"
        }.sorted()
        #expect(
            strings == [
                "Notes=a note", "PIN=1234", "Password=pw", "Title=Shop", "URL=https://shop.example/in", "UserName=zoe",
                "otp=otpauth://totp/Shop:zoe?secret=JBSWY3DPEHPK3PXP&issuer=Shop",
            ])
        #expect(entry.tags == "work;shop")
        #expect(entry.binaries.map(\.name) == ["a.txt"])
        #expect(entry.digits == String(repeating: "0", count: 31) + "1")
        #expect(try after.listing == before.listing)
    }

    @Test("Bitwarden gets one item, and the attachment, for which it has no place, is named")
    func bitwarden() throws {
        let (file, export) = try Self.export(Self.shop(), to: Self.writer(.bitwarden))
        let unheld = try export.lists().unheldItems().map { ($0.item.attributes.text(.acct), $0.problem) }
        #expect(unheld.map(\.0) == ["a.txt (zoe)"] && unheld.map(\.1) == [.noPlace])
        let after = try Self.read(file, .bitwarden)
        #expect(
            try after.listing == [
                "genp svce=Shop acct=PIN (zoe) desc=field: 1234",
                "genp svce=Shop acct=note (zoe) desc=secure note: a note",
                "genp svce=shop.example acct=one-time password (zoe) desc=one-time password: "
                    + "otpauth://totp/Shop:zoe?secret=JBSWY3DPEHPK3PXP&issuer=Shop",
                "inet srvr=shop.example acct=zoe: pw",
            ])
        #expect(Set(try after.entries.map { $0.item.extraValue("source.id") }).count == 1)
    }

    @Test("CSV gets one row, and fields and attachments, for which it has no columns, are named")
    func csv() throws {
        let (file, export) = try Self.export(Self.shop(), to: Self.writer(.csv))
        #expect(
            String(decoding: file, as: UTF8.self)
                == "Title,URL,Username,Password,Notes,OTPAuth\r\nShop,https://shop.example/in,zoe,pw,a note,"
                + "otpauth://totp/Shop:zoe?secret=JBSWY3DPEHPK3PXP&issuer=Shop\r\n")
        #expect(try export.lists().unheldItems().map(\.problem) == [.noPlace, .noPlace])
    }

    @Test("A password that another program changed comes back as a change of the same item", arguments: [false, true])
    func changed(isRenamed: Bool) throws {
        let before = try Self.shop()
        let (file, _) = try Self.export(before, to: Self.writer(.cxf))
        var text = String(decoding: file, as: UTF8.self).replacing(#""value":"pw""#, with: #""value":"new""#)
        if isRenamed { text = text.replacing(#""title":"Shop""#, with: #""title":"Store""#) }
        let after = try Self.read(Array(text.utf8), .cxf)
        #expect(try Set(after.uuids) == Set(before.uuids))
        #expect(try after.secretsByLabel.keys.sorted() == [isRenamed ? "Store" : "Shop"])
        #expect(try after.entries.contains { $0.item.itemClass == .internetPassword && $0.secret == Array("new".utf8) })
    }

    @Test("A copy of an entry, which has an ID of its own, is another record")
    func copied() throws {
        let (file, _) = try Self.export(Self.shop(), to: Self.writer(.cxf))
        let id = CXF.encode([UInt8](repeating: 0, count: 15) + [1])
        let text = String(decoding: file, as: UTF8.self)
        #expect(text.contains(#""id":"\#(id)""#))
        let copy = try Self.read(Array(text.replacing(#""id":"\#(id)""#, with: #""id":"AAAA""#).utf8), .cxf)
        #expect(try Set(copy.uuids).isDisjoint(with: Self.shop().uuids))
    }

    @Test("A second one-time password, for which an entry has no place, is an entry of its own")
    func second() throws {
        let code =
            #"{"class":"genp","attributes":{"svce":"a","acct":"%","desc":"one-time password","labl":"A"},"#
            + #""extra":{"source.format":"x","source.id":"1","source.part":"totp"},"secret":"otpauth://totp/A?secret=%"}"#
        let lines = ["AA", "BB"].map { code.replacing("%", with: $0) }.joined(separator: "\n")
        for format in [ExportFormat.kdbx, .bitwarden, .csv] {
            let (file, export) = try ExportSample.export(lines, to: Self.writer(format))
            #expect(export.isComplete)
            #expect(try Self.read(file, format).items.count == 2, "\(format)")
        }
    }

    @Test("The values of a Secret of Kubernetes are one record elsewhere, and come back as they were")
    func kubernetes() throws {
        let secret =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","namespace":"shop"},"type":"Opaque","#
            + #""data":{"user":"YWRh","password":"cHc=","ca":"AP8="}}"#
        let before = try ForeignReading.read(secret, as: KubernetesFormat())
        let (file, export) = try Self.export(before, to: Self.writer(.kdbx))
        #expect(export.isComplete)
        let after = try Self.read(file, .kdbx)
        #expect(try after.uuids == before.uuids && after.listing == before.listing)
        let (plain, _) = try Self.export(before, to: Self.writer(.cxf))
        #expect(String(decoding: plain, as: UTF8.self).split(separator: #""scope""#).count == 2)
    }

    /// KeePassXC, where it is installed.
    private static let keepassxc = ExternalProgram.locate("keepassxc-cli")

    @Test(
        "KeePassXC shows one entry, changes its password, and the items come back with only that changed",
        .enabled(if: keepassxc != nil, "KeePassXC is needed: .ci/install-packages desktop"))
    func keepassxcEdits() throws {
        let folder = try TemporaryFolder()
        let before = try Self.shop()
        try folder.write("out.kdbx", Self.export(before, to: Self.writer(.kdbx)).file)
        func run(_ arguments: [String], _ input: String = "correct horse\n") throws -> String {
            let outcome = try ExternalProgram.run(
                try #require(Self.keepassxc), arguments + ["-q"], input: Array(input.utf8))
            #expect(outcome.status == 0, "\(outcome.errorText)")
            return outcome.text
        }
        let path = folder.path("out.kdbx")
        #expect(try run(["ls", path, "-R", "-f"]) == "Shop\n")
        let shown = try run([
            "show", path, "Shop", "-s", "-a", "UserName", "-a", "Password", "-a", "PIN", "-a", "Notes",
        ])
        #expect(shown == "zoe\npw\n1234\na note\n")
        #expect(try run(["attachment-export", path, "Shop", "a.txt", "--stdout"]) == "ATT")
        _ = try run(["edit", path, "Shop", "-p"], "correct horse\nchanged\n")
        let after = try Self.read(folder.read("out.kdbx"), .kdbx)
        #expect(try after.uuids == before.uuids)
        #expect(try after.listing == before.listing.map { $0.replacing("acct=zoe: pw", with: "acct=zoe: changed") })
    }

    @Test("Two records with the same title, user, note and field each keep their own")
    func alike() throws {
        let entries = (1...2).map { number in
            KDBXForge.entry(
                number,
                [
                    ("Title", "Router"), ("UserName", "admin"), ("Password", "{{p\(number)}}"),
                    ("URL", "https://r\(number).example"), ("Notes", "same"), ("PIN", "{{1}}"),
                ])
        }
        let contents = try ForeignReading.read(
            KDBXForge().file(KDBXForge.xml(entries.joined())), as: KeePassFormat(), password: "pw")
        #expect(contents.duplicates == 0 && contents.items.count == 6)
        let (file, _) = try Self.export(contents, to: Self.writer(.bitwarden))
        let groups = Dictionary(grouping: try Self.read(file, .bitwarden).entries) {
            $0.item.extraValue("source.id") ?? ""
        }
        #expect(groups.values.map(\.count) == [3, 3])
    }

    @Test(
        "No two records of a file have the same ID, also if they come from two programs, or if one is an item by itself"
    )
    func identities() throws {
        let id = "00000000-0000-4000-8000-000000000001"
        let lines = [
            #"{"class":"genp","uuid":"\#(id)","attributes":{"svce":"a","acct":"a"},"secret":"1"}"#,
            #"{"class":"genp","attributes":{"svce":"b","acct":"b"},"extra":{"source.format":"keepass","source.id":"\#(id)","source.part":"password"},"secret":"2"}"#,
            #"{"class":"genp","attributes":{"svce":"c","acct":"c"},"extra":{"source.format":"bitwarden","source.id":"\#(id)","source.part":"password"},"secret":"3"}"#,
        ].joined(separator: "\n")
        for format in [ExportFormat.kdbx, .bitwarden, .cxf] {
            let (file, export) = try ExportSample.export(lines, to: Self.writer(format))
            #expect(export.isComplete)
            let back = try Self.read(file, format)
            #expect(back.refused == [] && back.items.count == 3, "\(format)")
        }
    }

    @Test("A note that another program added to an item by itself is in a record of its own")
    func added() throws {
        let line =
            #"{"class":"genp","uuid":"00000000-0000-4000-8000-000000000001","attributes":{"svce":"a","acct":"a"},"secret":"1"}"#
        let (file, _) = try ExportSample.export(line, to: CXFWriter(date: .reference))
        let note = #"{"type":"note","content":{"value":"new"}}"#
        let text = String(decoding: file, as: UTF8.self).replacing(
            #""credentials":["#, with: #""credentials":["# + note + ",")
        let contents = try Self.read(Array(text.utf8), .cxf)
        let again = try Self.read(Self.export(contents, to: Self.writer(.kdbx)).file, .kdbx)
        #expect(try again.listing == contents.listing && again.items.count == 2 && again.refused == [])
    }

    @Test("Tags and folders that another program changed come back as changed")
    func marks() throws {
        let (file, _) = try Self.export(Self.shop(), to: Self.writer(.cxf))
        let text = String(decoding: file, as: UTF8.self).replacing(#""tags":["work","shop"]"#, with: #""tags":["z"]"#)
        let tags = try Self.read(Array(text.utf8), .cxf).entries.map { $0.item.extraValue("tags") }
        #expect(Set(tags) == ["z"])
    }

    @Test("A second login of a record, for which an entry has no place, keeps its own user and address")
    func secondLogin() throws {
        let login =
            #"{"class":"inet","attributes":{"srvr":"%.example","acct":"%","ptcl":1752461427,"labl":"A"},"#
            + #""extra":{"source.format":"x","source.id":"1","source.part":"password"},"secret":"p%"}"#
        let lines = ["ada", "bob"].map { login.replacing("%", with: $0) }.joined(separator: "\n")
        for format in [ExportFormat.kdbx, .bitwarden, .csv, .cxf] {
            let (file, export) = try ExportSample.export(lines, to: Self.writer(format))
            #expect(export.isComplete)
            let listing = try Self.read(file, format).listing
            #expect(
                listing == ["inet srvr=ada.example acct=ada: pada", "inet srvr=bob.example acct=bob: pbob"], "\(format)"
            )
        }
    }
}
