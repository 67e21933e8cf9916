import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Exports and vaults of 1Password 4 to 7")
struct OldOnePasswordTests {
    // MARK: 1PIF

    private static let separator = "***5642bee8-a5ff-11dc-8314-0800200c9a66***"

    static let pif = [
        #"{"uuid":"f1","typeName":"system.folder.Regular","title":"Work","securityLevel":"SL5"}"#,
        #"{"uuid":"f2","typeName":"system.folder.Regular","title":"Mail","folderUuid":"f1"}"#,
        #"{"uuid":"a","createdAt":1700000000,"updatedAt":1700000001,"locationKey":"a.example","securityLevel":"SL5","#
            + #""contentsHash":"x","keyID":"k","txTimestamp":1,"trashed":false,"folderUuid":"f2","title":"Mail","#
            + #""location":"https:\/\/a.example","openContents":{"tags":["t","u"],"faveIndex":1,"autosubmit":"default","#
            + #""usernameHash":"h"},"secureContents":{"fields":[{"value":"ada","id":"","name":"username","type":"T","#
            + #""designation":"username"},{"value":"p","id":"","name":"password","type":"P","designation":"password"},"#
            + #"{"value":"blue","name":"color","type":"T"}],"passwordHistory":[{"value":"old","time":1}],"#
            + #""notesPlain":"n","htmlForm":{"htmlMethod":"post"},"URLs":[{"label":"website","url":"https:\/\/a.example"},"#
            + #"{"label":"shop","url":"https:\/\/b.example"}],"sections":[{"title":"More","name":"x","fields":[{"k":"string","#
            + #""n":"id","v":"12","t":"PIN","a":{"guarded":"yes"},"inputTraits":{}},{"k":"concealed","n":"TOTP_1","v":"#
            + #""JBSWY3DP","t":"code"},{"k":"reference","n":"r","v":"b","t":"r"},{"k":"string","n":"e","t":"empty"}]}]},"#
            + #""typeName":"webforms.WebForm"}"#,
        #"{"uuid":"b","title":"Alone","secureContents":{"password":"q","server":"s"},"typeName":"passwords.Password"}"#,
        #"{"uuid":"c","title":"Visa","secureContents":{"ccnum":"4111"},"typeName":"wallet.financial.CreditCard"}"#,
        #"{"uuid":"d","title":"N","secureContents":{"notesPlain":"text"},"typeName":"securenotes.SecureNote"}"#,
        #"{"uuid":"e","title":"T","trashed":true,"secureContents":{"password":"x"},"typeName":"passwords.Password"}"#,
        #"{"uuid":"g","title":"S","typeName":"system.folder.SavedSearch","secureContents":{}}"#,
    ].map { $0 + "\n\(separator)\n" }.joined()

    static let pifListing = [
        "genp svce=Alone acct=server desc=field: s", "genp svce=Alone: q",
        "genp svce=Mail acct=More: PIN (ada) desc=field: 12", "genp svce=Mail acct=color (ada) desc=field: blue",
        "genp svce=Mail acct=note (ada) desc=secure note: n", "genp svce=N desc=secure note: text",
        #"genp svce=Visa desc=card: {"ccnum":"4111"}"#,
        "genp svce=a.example acct=one-time password (ada) desc=one-time password: otpauth://totp/Mail:ada?secret=JBSWY3DP&issuer=Mail",
        "inet srvr=a.example acct=ada: p",
    ]

    @Test("1PIF: logins, sections, folders and tags are read; what has no place is counted")
    func pif() throws {
        let input = ForeignReading.input(Array(Self.pif.utf8))
        #expect(try KnownFormats.recognise(input).name == "1pif")
        let contents = try PIFFormat().read(input, GivenSecrets(text: nil))
        #expect(contents.refused == [] && contents.remarks == [])
        #expect(try contents.listing == Self.pifListing)
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" }.sorted() == [
                "1 earlier password", "1 favorite mark", "1 form of a web page", "1 label of an address",
                "1 record in the trash", "1 reference to another record", "1 saved search",
            ])
        let login = try #require(try contents.entries.first { $0.item.itemClass == .internetPassword }?.item)
        #expect(login.extraValue("source.folder") == "Work/Mail" && login.extraValue("tags") == "t, u")
        #expect(login.extraValue("url.2") == "https://b.example")
        #expect(login.created.seconds == 1_700_000_000 && login.modified.seconds == 1_700_000_001)
    }

    @Test("1PIF: a damaged record is named by its title or its line, and the others are read")
    func pifRecords() throws {
        for (odd, name) in [
            ("{\"uuid\":\"x\"", "line 17"), (#"{"title":"Odd"}"#, "Odd"), (#"{"uuid":"a","title":"Odd"}"#, "Odd"),
            (#"{"uuid":"x","title":"Odd","secureContents":7}"#, "Odd"), ("7", "line 17"),
            (#"{"uuid":"x","title":"Odd","secureContents":{"sections":[7]}}"#, "Odd"),
        ] {
            let contents = try ForeignReading.read(Self.pif + odd + "\n\(Self.separator)\n", as: PIFFormat())
            #expect(contents.refused.map(\.name) == [name], "\(odd)")
            #expect(try contents.listing == Self.pifListing)
        }
    }

    @Test("1PIF: a folder has attachments beside its records, and what belongs to none is counted")
    func pifFolder() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try folder.write("data.1pif", Array(Self.pif.utf8))
        for name in ["attachments", "attachments/a", "attachments/e"] { try Path.makeFolder(folder.path(name)) }
        try folder.write("attachments/a/s.txt", [65, 0])
        try folder.write("attachments/e/t.txt", [66])
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try KnownFormats.recognise(input).name == "1pif")
        let contents = try PIFFormat().read(input, GivenSecrets(text: nil))
        #expect(
            try contents.listing
                == (Self.pifListing + ["genp svce=Mail acct=s.txt (ada) desc=attachment: A\0"]).sorted())
        #expect(contents.leftOut.contains { $0.kind == "file of no imported record" && $0.count == 1 })
    }

    // MARK: OPVault

    private static func read(_ writer: OPVaultWriter, password: String = "correct horse") throws -> ForeignContents {
        let folder = try TemporaryFolder(inMemory: true)
        try writer.write(to: folder)
        return try read(folder, password: password)
    }

    private static func read(_ folder: TemporaryFolder, password: String = "correct horse") throws -> ForeignContents {
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try KnownFormats.recognise(input).name == "opvault")
        return try OPVaultFormat().read(input, GivenSecrets(text: password))
    }

    static let vault: OPVaultWriter = {
        var writer = OPVaultWriter()
        writer.folders = [("F1", #"{"title":"Work"}"#), ("F2", #"{"title":"S","smart":true}"#)]
        writer.records[0].record.members = [("folder", "\"F1\""), ("fave", "1"), ("tx", "5")]
        writer.records[0].record.files = [("s.txt", [65, 0])]
        writer.records.append(
            (
                "B1",
                OPVaultWriter.Record(
                    category: "003", overview: #"{"title":"N"}"#, details: #"{"notesPlain":"text"}"#)
            ))
        writer.records.append(
            ("B2", OPVaultWriter.Record(overview: #"{"title":"X"}"#, members: [("trashed", "true")])))
        writer.records.append(("C1", OPVaultWriter.Record(category: "099", overview: "{}", details: "{}")))
        return writer
    }()

    @Test("OPVault: records, folders and attachments are opened, and what has no place is counted")
    func opvault() throws {
        let contents = try Self.read(Self.vault)
        #expect(contents.refused == [] && contents.remarks == [] && !contents.isPlaintext)
        #expect(
            try contents.listing == [
                "genp svce=N desc=secure note: text", "genp svce=T acct=note (ada) desc=secure note: n",
                "genp svce=T acct=s.txt (ada) desc=attachment: A\0", "inet srvr=a.example acct=ada: p",
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" }.sorted() == [
                "1 favorite mark", "1 record in the trash", "1 saved search", "1 trace of a deletion",
            ])
        let login = try #require(try contents.entries.first { $0.item.itemClass == .internetPassword }?.item)
        #expect(login.extraValue("source.folder") == "Work" && login.extraValue("url.2") == "https://b.example")
        #expect(login.created.seconds == 1_700_000_000)
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) { try Self.read(Self.vault, password: "wrong") }
    }

    @Test("OPVault: rounds beyond the limit are refused before any is made")
    func rounds() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try Self.vault.write(to: folder)
        let profile = try Self.vault.files().first { $0.0 == "profile.js" }
        let text = String(decoding: try #require(profile).1, as: UTF8.self)
        for (rounds, failure) in [
            ("1000001", ForeignFailure.limit("rounds", found: 1_000_001, allowed: 1_000_000)),
            ("0", .damaged("'iterations' of its profile is missing")),
        ] {
            let changed = text.replacing("\"iterations\":1000", with: "\"iterations\":\(rounds)")
            try Path.remove(folder.path("default/profile.js"))
            try folder.write("default/profile.js", Array(changed.utf8))
            #expect(throws: failure) { try Self.read(folder) }
        }
    }

    @Test("OPVault: every altered byte is refused, names its record, or leaves the items as they were")
    func altered() throws {
        let right = try Self.read(Self.vault).listing
        let files = try Self.vault.files()
        var refused = 0
        for (name, bytes) in files {
            for index in stride(from: 0, to: bytes.count, by: 7) {
                let folder = try TemporaryFolder(inMemory: true)
                try Path.makeFolder(folder.path("default"))
                for (other, bytes) in files where other != name { try folder.write("default/\(other)", bytes) }
                var changed = bytes
                changed[index] ^= 1 << UInt8(index % 7)
                try folder.write("default/\(name)", changed)
                do {
                    let contents = try Self.read(folder)
                    let listing = try contents.listing
                    #expect(Set(listing).isSubset(of: right), "\(name) \(index)")
                    if listing != right {
                        refused += 1
                        #expect(!contents.refused.isEmpty, "\(name) \(index): \(listing)")
                    }
                } catch is ForeignFailure {
                    refused += 1
                }
            }
        }
        #expect(refused > 100)
    }
}
