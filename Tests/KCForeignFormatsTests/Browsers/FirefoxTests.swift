import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing profiles of Firefox and Thunderbird", .waitsForPrograms)
struct FirefoxTests {
    private static let names = ["logins.json", "key4.db"]

    @Test("Every login of a profile of Firefox 153 is imported, and the keys of its account are counted")
    func firefox() throws {
        let contents = try BrowserFixtures.read(BrowserFixtures.copy("firefox", Self.names))
        #expect(
            try contents.listing == [
                "inet srvr=example.com acct=ada: correct horse",
                "inet srvr=forum.example: only a pässword",
                "inet srvr=git.example acct=bob sdmn=Private area: " + String(repeating: "x", count: 40),
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 address of a form", "2 name of a form's field", "3 date of last use", "1 key of a Firefox account",
            ])
        #expect(contents.refused == [] && contents.remarks == [] && !contents.isPlaintext)
        let item = try #require(try contents.entries.first { $0.item.attributes.text(.srvr) == "forum.example" }?.item)
        #expect(item.attributes.number(.port) == 8443)
        #expect(item.extraValue("source.format") == "firefox")
        #expect(item.extraValue("source.id")?.hasPrefix("{") == true)
    }

    @Test(
        "Passwords behind a primary password open with it alone, encrypted by NSS 3.87, and as old versions did",
        arguments: ["nss", "nss-3des"])
    func primaryPassword(profile: String) throws {
        let folder = try BrowserFixtures.copy(profile, Self.names)
        let listing = [
            "inet srvr=example.com acct=ada: correct horse",
            "inet srvr=git.example acct=bob sdmn=Private area: " + String(repeating: "x", count: 40),
            "inet srvr=mail.example acct=ada sdmn=imap://mail.example: päss",
        ]
        for name in [nil, "logins.json", "key4.db"] {
            let contents = try BrowserFixtures.read(folder, name, password: "pw one")
            #expect(try contents.listing == listing)
            #expect(contents.leftOut.contains { $0 == ("record of a deletion", 1) })
        }
        let item = try #require(try BrowserFixtures.read(folder, password: "pw one").entries.first?.item)
        #expect(item.attributes.date(.cdat)?.microseconds == 1_700_000_000_000_000)
        #expect(item.attributes.date(.mdat)?.microseconds == 1_700_000_001_000_000)
        for wrong in ["", "pw two", "pw one "] {
            #expect(throws: ForeignFailure.wrongPassword) { try BrowserFixtures.read(folder, password: wrong) }
        }
    }

    @Test("A profile of which half is missing, or that is too old, is refused with the reason")
    func halves() throws {
        let folder = try BrowserFixtures.copy("nss", ["logins.json"])
        #expect(throws: ForeignFailure.needsFile("key4.db")) { try BrowserFixtures.read(folder, password: "pw one") }
        try folder.write("key3.db", [0, 6, 0x15, 0x61, 0, 0, 0, 2])
        for name in [nil, "logins.json", "key3.db"] {
            #expect(BrowserFixtures.refusal { try BrowserFixtures.read(folder, name) }?.contains("key3.db") == true)
        }
        let keys = try BrowserFixtures.copy("nss", ["key4.db"])
        for name in [nil, "key4.db"] {
            #expect(throws: ForeignFailure.needsFile("logins.json")) { try BrowserFixtures.read(keys, name) }
        }
        let logins = try BrowserFixtures.file("nss", "logins.json")
        #expect(throws: ForeignFailure.needsFile("key4.db")) {
            try ForeignReading.read(logins, as: FirefoxFormat(), password: "pw one")
        }
        let profiles = try TemporaryFolder(inMemory: true)
        try profiles.write("profiles.ini", Array("[Profile0]\n".utf8))
        #expect(BrowserFixtures.refusal { try BrowserFixtures.read(profiles) }?.contains("folder of profiles") == true)
    }

    @Test("A profile that is in use is not read, and neither is a database with an unfinished change")
    func inUse() throws {
        let folder = try BrowserFixtures.copy("nss", Self.names)
        for name in [".parentlock", "key4.db"] {
            if name == ".parentlock" { try folder.write(name, []) }
            let lock = try BrowserFixtures.lock(folder.path(name))
            #expect(throws: ForeignFailure.inUse("Firefox or Thunderbird"), "\(name)") {
                try BrowserFixtures.read(folder, password: "pw one")
            }
            withExtendedLifetime(lock) {}
        }
        for (ending, bytes, isFinished) in [
            ("-journal", [], true), ("-journal", [0, 1], true), ("-journal", [0xd9], false), ("-wal", [], true),
            ("-wal", [0x37], false),
        ] as [(String, [UInt8], Bool)] {
            try folder.write("key4.db" + ending, bytes)
            for name in [nil, "logins.json", "key4.db"] {
                let refusal = BrowserFixtures.refusal { try BrowserFixtures.read(folder, name, password: "pw one") }
                #expect(refusal?.contains("unfinished change") ?? false == !isFinished, "\(ending) \(bytes)")
            }
            try Path.remove(folder.path("key4.db" + ending))
        }
    }

    @Test("Keys whose derivation would take an attacker's choice of time are refused")
    func rounds() throws {
        let script = """
            import sqlite3, sys
            def der(tag, *content):
                content = b"".join(content)
                return bytes([tag, len(content)]) + content
            name = lambda digits: der(6, bytes.fromhex(digits))
            hash = der(0x30, name("2a864886f70d0209"))
            costs = der(0x30, der(4, bytes(32)), der(2, (2_000_000_000).to_bytes(4, "big")), der(2, b" "), hash)
            derivation = der(0x30, name("2a864886f70d01050c"), costs)
            encryption = der(0x30, name("60864801650304012a"), der(4, bytes(14)))
            algorithm = der(0x30, name("2a864886f70d01050d"), der(0x30, derivation, encryption))
            sealed = bytes([0x30, 0x81, len(algorithm) + 18]) + algorithm + der(4, bytes(16))
            database = sqlite3.connect(sys.argv[1])
            database.execute("UPDATE metaData SET item2 = ? WHERE id = 'password'", (sealed,))
            database.commit()
            """
        let folder = try TemporaryFolder()
        for name in Self.names { try folder.write(name, BrowserFixtures.file("nss", name)) }
        let outcome = try ExternalProgram.run("python3", ["-c", script, folder.path("key4.db")])
        try #require(outcome.status == 0, "\(outcome)")
        #expect("a limit") {
            try BrowserFixtures.read(folder, password: "pw one")
        } throws: { error in
            if case .limit("rounds of PBKDF2", _, 10_000_000) = error as? ForeignFailure { true } else { false }
        }
    }

    @Test("A login that is damaged is left out and named, and the others are imported")
    func damagedLogin() throws {
        let folder = try BrowserFixtures.copy("firefox", Self.names)
        let text = String(decoding: try folder.read("logins.json"), as: UTF8.self)
        func contents(replacing from: String, with to: String) throws -> ForeignContents {
            try #require(text.contains(from), "\(from)")
            try folder.write("logins.json", Array(text.replacing(from, with: to, maxReplacements: 1).utf8))
            return try BrowserFixtures.read(folder)
        }
        for (from, to) in [
            (#""encryptedPassword":""#, #""encryptedPassword":"AAAA"#),
            (#""encryptedUsername":""#, #""encryptedUsername":"!"#),
            (#""encryptedPassword":"MEME"#, #""encryptedPassword":"MEMD"#), (#""encryptedPassword":""#, #""x":""#),
            (#""httpRealm":null"#, #""httpRealm":1"#),
        ] {
            let contents = try contents(replacing: from, with: to)
            #expect(contents.refused.map(\.name) == ["https://example.com"], "\(to)")
            #expect(try contents.listing.count == 2)
        }
        let unknown = try contents(replacing: #""encType":1"#, with: #""encType":1,"newField":"s""#)
        #expect(try unknown.listing.contains { $0.contains("acct=newField") && $0.hasSuffix("desc=field: s") })
    }

    @Test("Altered files are read or refused", arguments: ["logins.json", "key4.db"])
    func fuzz(name: String) throws {
        let folder = try BrowserFixtures.copy("firefox", Self.names)
        let bytes = try folder.read(name)
        var random = SeededRandom(seed: 7)
        for round in 0..<150 {
            var changed = bytes
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<changed.count, using: &random)
                switch round % 3 {
                case 0: changed[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                default: changed.removeSubrange(max(100, place)...)
                }
                if changed.isEmpty { break }
            }
            try folder.write(name, changed)
            do {
                _ = try BrowserFixtures.read(folder).listing
            } catch is ForeignFailure {
            } catch is CryptographyFailure {
            } catch is GivenSecrets.Unexpected {}
        }
    }
}
