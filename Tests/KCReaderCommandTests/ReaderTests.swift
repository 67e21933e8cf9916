import KCByteStreams
import KCForeignFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignReader

/// Gives one password, and nothing else.
private struct GivenSecrets: ForeignSecrets {
    var given = "wrong"

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        try use(SecretBytes(copying: given.utf8))
    }

    func keyFile() -> ForeignFile? { nil }
}

/// Runs `kcbackup-read` beside the formats in this process.
@Suite("Reading in a process of its own", .waitsForPrograms)
struct ReaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var reader: ReaderProgram {
        get throws { ReaderProgram(path: try ExternalProgram.built("kcbackup-read"), spoolingIn: folder.path) }
    }

    private func written(_ name: String, _ text: String) throws -> String {
        try folder.write(name, Array(text.utf8))
    }

    @Test("gives the same items, counts and remarks as reading in this one")
    func same() throws {
        let rows = (0..<1_000).map { "https://s\($0 % 900).example,ada,p\($0),n\u{301}\($0),x\n" }.joined()
        let path = try written("a.csv", "url,username,password,note,unknown column\n" + rows + "no address,,,,\n")
        let read = try reader.read(ReaderInput(path, now: .reference), secrets: GivenSecrets())
        let format = CSVFormat()
        let file = try ForeignFile(reading: OpenFile.reading(path))
        let expected = try format.read(ForeignInput(path: path, .file(file)), GivenSecrets())
        #expect(read.kind == .csv && read.contents.items.count == expected.items.count)
        #expect(read.contents.details == expected.details && read.contents.remarks == expected.remarks)
        #expect(read.contents.refused == expected.refused && read.contents.duplicates == expected.duplicates)
        #expect(read.contents.marked.map(\.uuid) == expected.marked.map(\.uuid))
        #expect(read.contents.parts.map(\.kind) == expected.parts.map(\.kind))
        #expect(try read.contents.items.hasAll(of: expected.items) && expected.items.hasAll(of: read.contents.items))
    }

    @Test("reads a pipe, and hands over a file of items as it is")
    func items() throws {
        let line = #"{"class":"genp","attributes":{"svce":"Mail","acct":"ada"},"secret":"p"}"#
        let path = try written("a.jsonl", line + "\n")
        let read = try reader.read(ReaderInput(path, now: .reference), secrets: GivenSecrets())
        #expect(read.kind == .items && read.contents.items.count == 1 && read.contents.isPlaintext)
        let broken = try written("b.jsonl", line + "\n" + #"{"class":"none"}"# + "\n")
        #expect(throws: ItemLines.Failure.self) {
            try reader.read(ReaderInput(broken, now: .reference), secrets: GivenSecrets())
        }
    }

    @Test("says what is wrong with a file as the format says it")
    func failures() throws {
        let empty = try written("empty", " \n")
        #expect(throws: ForeignFailure.empty) { try reader.recognise(ReaderInput(empty, now: .reference)) }
        let keychain = try written("key", "# kcbackup device key of x\n")
        #expect(throws: ForeignFailure.own(.deviceKey)) {
            try reader.recognise(ReaderInput(keychain, now: .reference))
        }
        let csv = try written("a.csv", "url,username,password\nhttps://a.example,b,c\n")
        #expect(throws: ForeignFailure.notOfFormat(title: "Bitwarden export", found: "CSV file")) {
            try reader.recognise(ReaderInput(csv, now: .reference), as: .bitwarden)
        }
    }

    @Test("a folder, with the identities beside it, and no file above")
    func folders() throws {
        for name in ["store/mail", "other"] {
            _ = try ExternalProgram.run("/bin/mkdir", ["-p", folder.path(name)])
        }
        _ = try written("store/.age-recipients", "")
        _ = try written("identities", "AGE-SECRET-KEY-1" + String(repeating: "Q", count: 58) + "\n")
        // Without a valid identity it is known that the identities were found.
        #expect(throws: (any Error).self) {
            try reader.read(ReaderInput(folder.path("store"), now: .reference), secrets: GivenSecrets())
        }
        #expect(try reader.recognise(ReaderInput(folder.path("store"), now: .reference)) == .passage)
    }

    @Test("finds the records that can be taken out of a file")
    func records() throws {
        let path = try written("creds", "https://ada:p@a.example\nhttps://b.example\n")
        var choice = ReaderProgram.Choice(.gitCredentials)
        choice.wantsRecords = true
        let read = try reader.read(ReaderInput(path, now: .reference), choice, secrets: GivenSecrets())
        #expect(read.records == SeparableRecords([0..<23], staying: 1))
    }

    @Test("A kind asks for passwords of its own files and of keyrings that open them, and for no others")
    func passwords() {
        #expect(ForeignKind.keePass.asks(for: .file(.keePass)) && !ForeignKind.keePass.asks(for: .file(.kwallet)))
        #expect(ForeignKind.chromium.asks(for: .keyFile(.kwallet)) && !ForeignKind.chromium.asks(for: .file(.kwallet)))
        #expect(ForeignKind.gnomeKeyring.asks(for: .keyrings) && !ForeignKind.kwallet.asks(for: .keyrings))
        #expect(!ForeignKind.csv.asks(for: .file(.csv)) && !ForeignKind.csv.asks(for: .keyFile(.gnomeKeyring)))
    }

    @Test("A journal that appears beside a database while it is read is no part of what was read")
    func newNeighbour() throws {
        let path = try written("Login Data", "x")
        let input = try ReaderInput(path, now: .reference)
        try input.requireNoNewNeighbours()
        _ = try written("Login Data-wal", "y")
        #expect(throws: StreamFailure(.reading, .malformed("it was changed at the same time"))) {
            try input.requireNoNewNeighbours()
        }
    }
}
