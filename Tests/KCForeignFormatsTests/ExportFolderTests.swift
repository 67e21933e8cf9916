import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Folders in exported files", .waitsForPrograms)
struct ExportFolderTests {
    private static let folders = [
        "Work", "Work/Mail", "", "a//b", "Work/Mail/Old", "É & <x>", "e\u{301} & <x>", "Work", "trail/",
        (1...40).map { "\($0)" }.joined(separator: "/"),
    ]

    private static let lines = folders.enumerated().map { number, folder in
        #"{"class":"genp","uuid":"00000000-0000-4000-8000-\#(String(repeating: "0", count: 10))\#(number + 10)","attributes":"#
            + #"{"svce":"S\#(number)","labl":"S\#(number)","acct":"ada"},"extra":{"source.folder":"\#(folder)"},"secret":"s\#(number)"}"#
    }.joined(separator: "\n")

    @Test("A record is in the folder that it was in before its import", arguments: [0, 2, 3])
    func kept(index: Int) throws {
        let (format, writer) = try ExportSample.writers()[index]
        let (file, export) = try ExportSample.export(Self.lines, to: writer)
        #expect(export.isComplete)
        let readers: [ExportFormat: any ForeignFormat] = [
            .bitwarden: BitwardenFormat(), .cxf: CXFFormat(), .kdbx: KeePassFormat(),
        ]
        let reader = try #require(readers[format])
        // Without kcbackup's own extension, a record is like those of other programs.
        let plain = String(decoding: file, as: UTF8.self).replacing(#""name":"kcbackup""#, with: #""name":"other""#)
        let contents = try ForeignReading.read(
            format == .cxf ? Array(plain.utf8) : file, as: reader, password: "correct horse")
        #expect(contents.refused == [])
        #expect(contents.leftOut.filter { $0.kind == "unknown member" }.isEmpty, "\(contents.remarks)")
        let found = try contents.entries.map { item, secret in
            let number = Int(String(decoding: (secret ?? []).dropFirst(), as: UTF8.self)) ?? 99
            return (number, item.extraValue("source.folder") ?? "")
        }.sorted { $0.0 < $1.0 }
        #expect(found.map { Array($0.1.utf8) } == Self.folders.map { Array($0.utf8) })
    }

    @Test("Folders are groups of KeePass, one each")
    func keepass() throws {
        let (file, _) = try ExportSample.export(Self.lines, to: ExportSample.writers()[3].1)
        let header = try KDBXHeader(file.span)
        var key = KDBXCompositeKey()
        try key.add(password: SecretBytes(copying: "correct horse".utf8))
        let input = try #require(ForeignReading.input(file).file)
        let database = try KDBXDatabase(KDBXOpening(input, header, key: key.bytes()), header, of: input)
        let records = KeePassRecords(database, RecordCollector(format: "keepass", date: .reference))
        #expect(try records.read(.kdbx4).items.count == Self.folders.count)
        let found = records.entries.map { entry in
            entry.value("Title").map { (database.text(of: $0), entry.folder) } ?? ("", "")
        }
        for (number, folder) in Self.folders.enumerated() {
            let entry = try #require(found.first { $0.0 == "S\(number)" })
            #expect(Array(entry.1.utf8) == Array(folder.utf8))
        }
        // Each group is there once.
        let names = database.document.elements.filter { $0.name == "Name" }.map { database.text(of: $0) }
        #expect(names.count { $0 == "Work" } == 1)
    }

    /// KeePassXC, where it is installed.
    private static let keepassxc = ExternalProgram.locate("keepassxc-cli")

    @Test(
        "KeePassXC finds each entry in its group",
        .enabled(if: keepassxc != nil, "KeePassXC is needed: .ci/install-packages desktop"))
    func keepassxcFinds() throws {
        let folder = try TemporaryFolder()
        let (file, _) = try ExportSample.export(Self.lines, to: ExportSample.writers()[3].1)
        try folder.write("out.kdbx", file)
        func run(_ arguments: [String]) throws -> ExternalProgram.Outcome {
            try ExternalProgram.run(
                try #require(Self.keepassxc), arguments, input: Array("correct horse\n".utf8))
        }
        let list = try run(["ls", "-q", "-R", "-f", folder.path("out.kdbx")])
        #expect(list.status == 0, "\(list.errorText)")
        let entries = list.text.split(separator: "\n").map(String.init)
        for entry in ["Work/S0", "Work/Mail/S1", "S2", "Work/Mail/Old/S4", "Work/S7"] {
            #expect(entries.contains(entry), "\(entries)")
        }
        let shown = try run(["show", "-q", "-s", "-a", "password", folder.path("out.kdbx"), "Work/Mail/Old/S4"])
        #expect(shown.text == "s4\n")
    }
}
