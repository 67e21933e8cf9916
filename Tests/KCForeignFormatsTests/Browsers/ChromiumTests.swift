import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing profiles of Chromium", .waitsForPrograms)
struct ChromiumTests {
    private static let names = ["Login Data", "Login Data For Account"]
    private static let common = "inet srvr=example.com acct=ada: correct horse"
    private static let own = [
        "genp svce=forum.example acct=note (ada) desc=secure note: spare codes",
        "genp svce=org.example.app acct=eve: app",
        "inet srvr=account.example acct=ada: of the account",
        "inet srvr=forum.example acct=ada: pässword",
        "inet srvr=git.example acct=bob sdmn=Private area: " + String(repeating: "x", count: 40),
    ]

    private func keyring() throws -> ForeignFile {
        let bytes = try BrowserFixtures.file("keyring", "login.keyring")
        return ForeignFile(name: "login.keyring", SecretBytes(copying: bytes), modified: .reference)
    }

    @Test("Every password opens with the key that Chromium has put into a keyring")
    func keyFile() throws {
        let folder = try BrowserFixtures.copy("chromium", Self.names)
        let contents = try BrowserFixtures.read(folder, password: "pw one", key: keyring())
        #expect(try contents.listing == (Self.own + [Self.common]).sorted())
        #expect(contents.refused == [] && contents.remarks == [] && !contents.isPlaintext)
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 site whose passwords are never saved"])
        let item = try #require(try contents.entries.first { $0.item.attributes.text(.srvr) == "forum.example" }?.item)
        #expect(item.attributes.number(.port) == 8443)
        #expect(item.attributes.date(.cdat)?.microseconds == 1_700_000_000_000_000)
        let one = try BrowserFixtures.read(folder, Self.names[1], password: "pw one", key: keyring())
        #expect(try one.listing == [Self.own[2]])
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) {
            try BrowserFixtures.read(folder, password: "pw two", key: keyring())
        }
    }

    @Test("Passwords whose key is not at hand are named, and the others are imported")
    func withoutKey() throws {
        let folder = try BrowserFixtures.copy("chromium", Self.names)
        for password in [nil, "another key"] {
            let contents = try BrowserFixtures.read(folder, password: password)
            #expect(try contents.listing == [Self.common])
            #expect(
                contents.refused.map(\.name) == [
                    "https://forum.example:8443/", "https://git.example/Private area",
                    "android://aGFzaA==@org.example.app/", "https://account.example/",
                ])
            #expect(throws: ForeignFailure.noBrowserKey) {
                try BrowserFixtures.read(folder, Self.names[1], password: password)
            }
        }
        let other = ForeignFile(name: "key", SecretBytes(copying: "key".utf8), modified: .reference)
        #expect(throws: ForeignFailure.damagedKeyFile("it is not a keyring, a wallet or a macOS keychain")) {
            try BrowserFixtures.read(folder, key: other)
        }
        let plain = Array(
            "[keyring]\ndisplay-name=a\nctime=0\nmtime=0\n\n[1]\ndisplay-name=x\nsecret=y\nmtime=0\nctime=0\n".utf8)
        let without = ForeignFile(name: "a.keyring", SecretBytes(copying: plain), modified: .reference)
        #expect(throws: ForeignFailure.damagedKeyFile("it has no item '… Safe Storage'")) {
            try BrowserFixtures.read(folder, key: without)
        }
    }

    @Test("A key is taken from the desktop keyring if it is there")
    func desktop() throws {
        struct Desktop: ForeignSecrets {
            let secret: [UInt8]
            var isPasswordGiven: Bool { false }

            func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
                throw GivenSecrets.Unexpected()
            }

            func keyFile() -> ForeignFile? { nil }

            func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) throws {
                #expect(wanted == .labeled(ending: "Safe Storage"))
                try use(SecretBytes(copying: "of another browser".utf8))
                try use(SecretBytes(copying: secret))
            }
        }
        let items = try GnomeKeyringFormat().read(
            ForeignInput(path: "-", .file(keyring())), GivenSecrets(text: "pw one"))
        let secret = try #require(try items.secretsByLabel["Chromium Safe Storage"])
        let folder = try BrowserFixtures.copy("chromium", Self.names)
        let input = ForeignInput(path: folder.path(""), .folder)
        let contents = try ChromiumFormat().read(input, Desktop(secret: secret))
        #expect(try contents.listing == (Self.own + [Self.common]).sorted())
        // The password itself may also be given.
        let given = try BrowserFixtures.read(folder, password: String(decoding: secret, as: UTF8.self))
        #expect(try given.listing == contents.listing)
    }

    /// Reads a profile; a program that another test is starting has the descriptor of a lock until it runs.
    private func readUnlocked(_ folder: TemporaryFolder) throws -> ForeignContents {
        for _ in 0..<1_000 {
            do {
                return try BrowserFixtures.read(folder)
            } catch ForeignFailure.inUse {
                continue
            }
        }
        return try BrowserFixtures.read(folder)
    }

    @Test("A profile that is in use is not read, and neither is a database with an unfinished change")
    func inUse() throws {
        let folder = try BrowserFixtures.copy("chromium", Self.names)
        for (name, read) in [(Self.names[0], nil), (Self.names[1], nil), (Self.names[0], Self.names[0])] {
            // Where SQLite locks.
            let lock = try BrowserFixtures.lock(folder.path(name), from: 0x4000_0002, count: 510)
            #expect(throws: ForeignFailure.inUse("its browser")) { try BrowserFixtures.read(folder, read) }
            withExtendedLifetime(lock) {}
        }
        #expect(try readUnlocked(folder).items.count == 1)
        try folder.write("Login Data-wal", [0x37])
        for name in [nil, "Login Data"] {
            let refusal = BrowserFixtures.refusal { try BrowserFixtures.read(folder, name) }
            #expect(refusal?.contains("unfinished change") == true)
        }
        try Path.remove(folder.path("Login Data-wal"))
        let profiles = try TemporaryFolder(inMemory: true)
        try profiles.write("Local State", Array("{}".utf8))
        #expect(BrowserFixtures.refusal { try BrowserFixtures.read(profiles) }?.contains("folder of profiles") == true)
    }

    @Test("Databases of other versions are read, and hostile ones refused")
    func versions() throws {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.executescript(sys.argv[2])
            """
        let folder = try TemporaryFolder()
        func contents(_ sql: String) throws -> ForeignContents {
            try folder.write("Login Data", [])
            let outcome = try ExternalProgram.run("python3", ["-c", script, folder.path("Login Data"), sql])
            try #require(outcome.status == 0, "\(outcome)")
            return try BrowserFixtures.read(folder, "Login Data")
        }
        let old = """
            CREATE TABLE logins (origin_url, signon_realm, username_value, password_value BLOB, blacklisted_by_user);
            INSERT INTO logins VALUES ('https://a.example/', 'https://a.example/', 'ada', CAST('plain' AS BLOB), 0);
            """
        #expect(try contents(old).listing == ["inet srvr=a.example acct=ada: plain"])
        let newer = old.replacing("blacklisted_by_user)", with: "blacklisted_by_user, new)").replacing(
            ", 0);", with: ", 0, 7);")
        #expect(try contents(newer).leftOut.contains { $0 == ("unknown member", 1) })
        let without = "INSERT INTO logins VALUES ('https://b.example/', 'https://b.example/', 'bob', '', 0);"
        #expect(try contents(old + without).listing.contains("inet srvr=b.example acct=bob: no secret"))
        for row in [
            "NULL, NULL, 'u', 'p', 0", "'https://c.example/', 'https://c.example/', X'ff', 'p', 0",
            "'https://c.example/', 'https://c.example/', 'u', X'763130' || X'00', 0",
        ] {
            let contents = try contents(old + "INSERT INTO logins VALUES (\(row));")
            #expect(contents.refused.count == 1 && contents.items.count == 1, "\(row)")
        }
        #expect(throws: ForeignFailure.unknownVariant("a table of logins with other columns")) {
            try contents("CREATE TABLE logins (signon_realm, password_value);")
        }
        // A view could run forever.
        #expect(throws: ForeignFailure.self) {
            try contents(old.replacing("logins", with: "others") + "CREATE VIEW logins AS SELECT * FROM others;")
        }
    }

    @Test("An altered database is read or refused")
    func fuzz() throws {
        let folder = try BrowserFixtures.copy("chromium", Self.names)
        let bytes = try folder.read(Self.names[0])
        var random = SeededRandom(seed: 7)
        for round in 0..<150 {
            var changed = bytes
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<changed.count, using: &random)
                if round % 5 == 0 { changed.removeSubrange(max(100, place)...) }
                changed[min(place, changed.count - 1)] = UInt8.random(in: .min ... .max, using: &random)
            }
            try folder.write(Self.names[0], changed)
            do {
                _ = try BrowserFixtures.read(folder, password: "pw one", key: keyring()).listing
            } catch is ForeignFailure {
            } catch is CryptographyFailure {}
        }
    }
}
