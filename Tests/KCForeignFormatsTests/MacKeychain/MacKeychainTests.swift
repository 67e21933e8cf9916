import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a macOS keychain file")
struct MacKeychainTests {
    private func read(
        _ bytes: [UInt8], password: String? = "correct horse", systemKey: [UInt8]? = nil
    ) throws -> ForeignContents {
        let key = systemKey.map { ForeignFile(name: "SystemKey", SecretBytes(copying: $0), modified: .reference) }
        return try MacKeychainFormat().read(
            ForeignReading.input(bytes, name: "login.keychain-db"), GivenSecrets(text: password, key: key))
    }

    /// Opens a keychain with a system key, which avoids the slow key derivation from a password.
    private func readQuickly(_ bytes: [UInt8]) throws -> ForeignContents {
        try read(bytes, password: nil, systemKey: KychWriter.systemKey(Self.master))
    }

    private static let master = [UInt8](1...24)

    private static let generic: UInt32 = 0x8000_0000
    private static let internet: UInt32 = 0x8000_0001
    private static let appleShare: UInt32 = 0x8000_0002

    @Test("A keychain written by macOS yields its passwords, its certificate and its private key")
    func genuine() throws {
        let file = try ForeignReading.fixture("keychainbreaker/test.keychain-db")
        let contents = try read(file, password: "keychainbreaker-test")
        #expect(contents.refused.isEmpty)
        #expect(contents.details == "keychain 'login.keychain-db'")
        #expect(contents.parts.map(\.kind) == ["note", "password", "certificate", "private key"])
        let entries = try contents.entries
        let passwords = entries.filter { [.genericPassword, .internetPassword].contains($0.item.itemClass) }
        #expect(passwords.count == 4)
        #expect(passwords.allSatisfy { $0.secret == Array("password#123".utf8) })
        let web = try #require(passwords.first { $0.item.attributes.number(.port) == 443 })
        #expect(web.item.attributes.text(.srvr) == "moond4rk.com")
        #expect(web.item.attributes.text(.acct) == "admin")
        #expect(web.item.attributes.text(.path) == "/login")
        #expect(web.item.attributes.text(.sdmn) == "moond4rk.com")
        #expect(web.item.attributes.number(.ptcl) == 1_752_461_427)
        #expect(web.item.attributes.text(.atyp) == "dflt")
        #expect(web.item.attributes.text(.icmt) == "test internet password")
        #expect(web.item.attributes.number(.crtr) == 1_833_186_411)
        #expect(web.item.attributes.date(.cdat)?.description == "2026-03-27T15:36:43.000000Z")
        #expect(web.item.accessibility == .whenUnlocked)
        let certificate = try #require(entries.first { $0.item.itemClass == .certificate })
        #expect(certificate.item.attributes.text(.labl) == "keychainbreaker-test")
        let key = try #require(entries.first { $0.item.itemClass == .key })
        #expect(key.item.attributes.text(.labl) == "93B7C5C0")
        #expect(key.item.attributes[.klbl] == certificate.item.attributes[.pkhh])
        #expect(key.item.attributes.number(.bsiz) == 2_048)
        #expect(key.item.attributes.number(.sens) == 1)
        let secret = SecretBytes(copying: try #require(key.secret))
        #expect(
            try PrivateKey(externalRepresentation: secret, kind: .rsa).publicKeyHash
                == [UInt8](
                    try #require(key.item.attributes[.klbl]?.keyBytes)))
        #expect(throws: ForeignFailure.wrongPassword) { try read(file, password: "another") }
    }

    /// A keychain of version 0x200 with one item of each kind.
    static func writer() throws -> KychWriter {
        var writer = KychWriter()
        let dates: [(String, KychWriter.Value)] = [
            ("cdat", .time("20240229120000Z")), ("mdat", .time("20250101000001Z")),
        ]
        try writer.addPassword(
            generic,
            dates + [
                ("PrintName", .text("Safe Storage")), ("svce", .text("svc")), ("acct", .bytes([0xff, 0xfe])),
                ("gena", .bytes([0, 1])), ("invi", .number(1)),
            ], Array("pass\0word\n".utf8))
        try writer.addPassword(generic, [("svce", .text("empty")), ("acct", .text("a"))], [])
        try writer.addPassword(generic, [("svce", .text("none")), ("acct", .text("a"))], nil)
        try writer.addPassword(
            internet, [("srvr", .text("example.com")), ("acct", .text("ada")), ("port", .number(8_443))],
            Array("secret".utf8))
        try writer.addPassword(
            appleShare, [("addr", .text("fs.example")), ("acct", .text("ada")), ("vlme", .text("Home"))],
            Array("afp".utf8))
        let key = try PrivateKey.generate(.ec, sizeInBits: 256)
        try writer.addKey(
            0x10, [("PrintName", .text("signer\0")), ("Label", .bytes([1, 2])), ("Extractable", .number(0))],
            key.pkcs8().bytesForTest())
        try writer.addKey(
            0x0f, [("PrintName", .text("verifier")), ("Label", .bytes([1, 2]))], key.publicKey.subjectPublicKeyInfo,
            isClear: true)
        try writer.addKey(
            0x11, [("PrintName", .text("cipher")), ("Label", .text("mine")), ("KeyType", .number(0x8000_0001))],
            [UInt8](repeating: 9, count: 32))
        try writer.addKey(0x10, [("PrintName", .text("strange"))], [1, 2, 3])
        return writer
    }

    @Test("Passwords and keys of all kinds are imported, and an unsupported key becomes a generic password")
    func kinds() throws {
        let contents = try read(Self.writer().file())
        #expect(contents.refused.isEmpty)
        let entries = try contents.entries
        #expect(entries.count == 9)
        func entry(_ code: AttributeCode, _ text: String) throws -> (item: Item, secret: [UInt8]?) {
            try #require(entries.first { $0.item.attributes.text(code) == text })
        }
        let safe = try entry(.svce, "svc")
        #expect(safe.secret == Array("pass\0word\n".utf8))
        #expect(safe.item.attributes[.acct] == .data([0xff, 0xfe]))
        #expect(safe.item.attributes[.gena] == .text("\0\u{1}"))
        #expect(safe.item.attributes.number(.invi) == 1)
        #expect(safe.item.attributes.date(.mdat)?.description == "2025-01-01T00:00:01.000000Z")
        #expect(try entry(.svce, "empty").secret == [])
        #expect(try entry(.svce, "none").secret == nil)
        #expect(try entry(.srvr, "example.com").item.attributes.number(.port) == 8_443)
        let share = try entry(.srvr, "fs.example")
        #expect(share.secret == Array("afp".utf8))
        #expect(share.item.attributes.number(.ptcl) == 1_634_103_328)
        #expect(share.item.extraValue("macos.vlme") == "Home")
        let signer = try entry(.labl, "signer")
        #expect(signer.item.attributes.number(.kcls) == 1)
        #expect(signer.item.attributes.number(.extr) == 0)
        #expect(signer.secret?.count == 97)
        #expect(try entry(.labl, "verifier").secret == signer.secret.map { Array($0.prefix(65)) })
        let cipher = try entry(.labl, "cipher")
        #expect(cipher.secret == [UInt8](repeating: 9, count: 32))
        #expect(cipher.item.attributes[.klbl] == .data(Array("mine".utf8)))
        #expect(cipher.item.attributes.number(.type) == 0x8000_0001)
        let strange = try entry(.svce, "strange")
        #expect(strange.item.attributes.text(.desc) == "private key")
        #expect(strange.secret == [1, 2, 3])
    }

    @Test("Only the keychain's own SystemKey opens it")
    func systemKey() throws {
        var writer = try Self.writer()
        writer.master = Self.master
        let file = try writer.file()
        let contents = try readQuickly(file)
        #expect(contents.items.count == 9)
        #expect(
            try contents.entries.filter { $0.item.itemClass == .genericPassword }.allSatisfy {
                $0.item.accessibility == .afterFirstUnlock
            })
        var another = KychWriter.systemKey(Self.master)
        another[47] ^= 1
        for wrong in [another, KychWriter.systemKey([UInt8](2...25)), [], Array("kych".utf8)] {
            #expect(throws: ForeignFailure.wrongPassword) { try read(file, password: nil, systemKey: wrong) }
        }
    }

    @Test("A key with a wrong MAC is refused by name, as is the password it encrypts, and the others are imported")
    func damagedKey() throws {
        var writer = try Self.writer()
        for index in [1, writer.records.count - 1] { writer.records[index].data[140] ^= 1 }
        let contents = try read(writer.file())
        #expect(contents.items.count == 7)
        #expect(contents.refused.map(\.name) == ["Safe Storage", "strange"])
        #expect(
            contents.refused.map(\.problem) == [
                .damaged("its authentication code does not match its content"),
                .damaged("its authentication code does not match its content"),
            ])
    }

    @Test("A key of an unknown version is refused with that reason, and so is the password it encrypts")
    func newerKey() throws {
        var writer = try Self.writer()
        for index in [1, writer.records.count - 1] { writer.records[index].data[6] = 3 }
        let contents = try read(writer.file())
        #expect(contents.refused.map(\.name) == ["Safe Storage", "strange"])
        let problem = "its key is of an unknown kind: version 768 of a blob"
        #expect(contents.refused.map(\.problem) == [.damaged(problem), .damaged(problem)])
    }

    @Test("A file truncated at any byte is refused")
    func cut() throws {
        var writer = try Self.writer()
        writer.master = Self.master
        let file = try writer.file()
        #expect(try readQuickly(file).items.count == 9)
        for count in file.indices {
            #expect(throws: (any Error).self, "\(count) bytes") { try readQuickly(Array(file.prefix(count))) }
        }
    }

    @Test("A file with any byte altered is refused or yields the original keys")
    func flipped() throws {
        var writer = KychWriter()
        writer.master = Self.master
        try writer.addKey(
            0x11, [("PrintName", .text("cipher")), ("Label", .text("mine"))], [UInt8](repeating: 9, count: 32))
        try writer.addPassword(Self.generic, [("svce", .text("s"))], Array("password".utf8))
        let file = try writer.file()
        // Labels are not authenticated: with an altered label, the key of a password is read as an ordinary key.
        let keys = [[UInt8](repeating: 9, count: 32), [UInt8](50..<74)]
        for index in file.indices {
            do {
                let contents = try readQuickly(file.replacing(at: index, with: file[index] ^ 0x81))
                for entry in try contents.entries where entry.item.itemClass == .key {
                    #expect(keys.contains(try #require(entry.secret)), "byte \(index)")
                }
            } catch {
                #expect(error is ForeignFailure)
            }
        }
    }

    @Test("Altered tables lead to a failure or to items", arguments: 0..<6)
    func fuzz(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var writer = try Self.writer()
        writer.master = Self.master
        let file = try writer.file()
        for _ in 0..<150 {
            var bytes = file
            for _ in 0...random.next() % 4 {
                // A number in the structure: four bytes, set to a value with an effect.
                let index = 4 * Int(random.next() % UInt64(bytes.count / 4 - 1))
                let values: [[UInt8]] = [
                    [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0], [0, 0, 0, 1], [0x7f, 0xff, 0xff, 0xff], [0, 0, 1, 0],
                    random.bytes(4),
                ]
                bytes.replaceSubrange(index..<index + 4, with: values[Int(random.next() % UInt64(values.count))])
            }
            do { _ = try readQuickly(bytes) } catch { #expect(error is ForeignFailure, "\(error)") }
        }
    }

    @Test("An unknown version and too many tables are refused with the reason")
    func limits() throws {
        let file = try Self.writer().file()
        #expect(throws: ForeignFailure.unknownVariant("a version other than 1.0")) {
            try read(file.replacing(at: 5, with: 2))
        }
        #expect(throws: ForeignFailure.limit("tables", found: 0xff00_0008, allowed: 1_000)) {
            try read(file.replacing(at: 24, with: 0xff))
        }
    }
}
