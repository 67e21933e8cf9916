import Foundation
import KCByteStreams
import KCCryptography
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing KeePass databases", .waitsForPrograms)
struct KeePassTests {
    private func fixture(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: Project.path("Tests/KCForeignFormatsTests/Fixtures/KeePass/\(name)"))))
    }

    @Test("An export of kcbackup has no date of last use that an import would leave out")
    func ownDates() throws {
        let writer = try KDBXWriter(date: .reference, memoryInKiB: 64)
        let (file, _) = try ExportSample.export(ExportSample.lines, to: writer)
        let contents = try ForeignReading.read(file, as: KeePassFormat(), password: "correct horse")
        #expect(!contents.leftOut.contains { $0.kind == "date of last use" })
    }

    @Test("Every part of a KeePassXC entry in KDBX 3.1 is imported, and data without a counterpart is counted")
    func keepassxc() throws {
        let contents = try ForeignReading.read(
            fixture("keepassxc-3.1.kdbx"), as: KeePassFormat(), password: "pw one")
        #expect(
            try contents.listing == [
                "genp svce=Bank & more acct=PIN (ada) desc=field: 1234",
                "genp svce=Bank & more acct=att.bin (ada) desc=attachment: att content \u{0}\u{1}",
                "genp svce=Bank & more acct=note (ada) desc=secure note: line one\nline two",
                "genp svce=Note only desc=secure note: a note",
                "genp svce=Reference acct=ada: s€cret 'x\"",
                "genp svce=bank.example acct=one-time password (ada) desc=one-time password: "
                    + "otpauth://totp/Bank:ada?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=Bank",
                "inet srvr=bank.example acct=ada: s€cret 'x\"",
            ])
        #expect(
            contents.leftOut.map(\.kind) == [
                "older version of an entry", "date of last use", "part of an address behind '?', '#' or ';'",
                "trashed entry",
            ])
        #expect(contents.details == "KDBX 3 'Sample'")
    }

    @Test("A pykeepass database in KDBX 4 opens only with both its password and its key file")
    func pykeepass() throws {
        let (file, key) = (try fixture("pykeepass-4.0.kdbx"), try fixture("pykeepass-4.0.key"))
        let keyFile = ForeignFile(name: "key", SecretBytes(copying: key), modified: .reference)
        let input = ForeignReading.input(file)
        let contents = try KeePassFormat().read(input, GivenSecrets(text: "pw one", key: keyFile))
        #expect(
            try contents.listing == [
                "genp svce=Titel acct=a.bin (benutzer) desc=attachment: bin\u{0}",
                "genp svce=Titel acct=f (benutzer) desc=field: v",
                "genp svce=Titel acct=note (benutzer) desc=secure note: note",
                "genp svce=x.example acct=one-time password (benutzer) desc=one-time password: "
                    + "otpauth://totp/a:b?secret=JBSWY3DPEHPK3PXP",
                "inet srvr=x.example acct=benutzer: neu",
            ])
        #expect(throws: ForeignFailure.wrongPasswordOrKeyFile(orDamaged: false)) {
            try KeePassFormat().read(input, GivenSecrets(text: "pw two", key: keyFile))
        }
        #expect(throws: ForeignFailure.wrongPasswordOrNoKeyFile(orDamaged: false)) {
            try KeePassFormat().read(input, GivenSecrets(text: "pw one"))
        }
    }

    private static let kinds: [KDBXForge] = {
        let argon2 = Argon2.Cost(iterations: 1, memoryInKiB: 64, lanes: 2)
        return [
            KDBXForge(), KDBXForge(cipher: .chaCha20), KDBXForge(isCompressed: true),
            KDBXForge(derivation: .argon2(.d, argon2, salt: [UInt8](repeating: 5, count: 32))),
            KDBXForge(derivation: .argon2(.id, argon2, salt: [UInt8](repeating: 5, count: 32)), stream: .salsa20),
            KDBXForge(major: 3, stream: .salsa20), KDBXForge(major: 3, isCompressed: true),
            KDBXForge(major: 3, cipher: .chaCha20), KDBXForge(cipher: .twofish), KDBXForge(major: 3, cipher: .twofish),
        ]
    }()

    @Test("Every version, cipher and key derivation is read, and protected values in any place", arguments: 0..<10)
    func kinds(index: Int) throws {
        let history = "<History>" + KDBXForge.entry(1, [("Password", "{{older}}")]) + "</History>"
        let text = KDBXForge.xml(
            KDBXForge.entry(1, [("Title", "{{A}}"), ("UserName", "u")], more: history)
                + KDBXForge.entry(2, [("Password", "{{two}}"), ("Title", "B"), ("UserName", "v")]))
        let contents = try ForeignReading.read(Self.kinds[index].file(text), as: KeePassFormat(), password: "pw")
        #expect(try contents.listing == ["genp svce=A acct=u: no secret", "genp svce=B acct=v: two"])
        #expect(contents.remarks.contains { $0.hasPrefix("protected titles") })
        #expect(throws: ForeignFailure.self) {
            try ForeignReading.read(Self.kinds[index].file(text), as: KeePassFormat(), password: "px")
        }
    }

    /// `make proof` tries each byte.
    private static let step = ModelRun.isWhole ? 1 : 3

    @Test("A truncated file is refused, and a flipped bit yields no other items", arguments: [0, 1, 5, 8, 9])
    func damage(index: Int) throws {
        let file = try Self.kinds[index].file(
            KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("Password", "{{one}}")])))
        let good = try ForeignReading.read(file, as: KeePassFormat(), password: "pw").listing
        for count in stride(from: index % Self.step, to: file.count, by: Self.step) {
            #expect(throws: ForeignFailure.self) {
                try ForeignReading.read(Array(file[..<count]), as: KeePassFormat(), password: "pw")
            }
        }
        for place in stride(from: index % Self.step, to: file.count, by: Self.step) {
            var flipped = file
            flipped[place] ^= 1 << UInt8(place % 8)
            do {
                let listing = try ForeignReading.read(flipped, as: KeePassFormat(), password: "pw").listing
                #expect(listing == good, "byte \(place)")
            } catch is ForeignFailure {
            } catch is CryptographyFailure {}
        }
    }

    @Test("An empty password and no password are different keys, and both are tried with a key file")
    func emptyPassword() throws {
        let key = [UInt8](repeating: 4, count: 32)
        let keyFile = ForeignFile(name: "key", SecretBytes(copying: key), modified: .reference)
        let text = KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("UserName", "u")]))
        for password in [nil, ""] as [String?] {
            let input = ForeignReading.input(try KDBXForge().file(text, password: password, keyFile: key))
            #expect(try KeePassFormat().read(input, GivenSecrets(text: "", key: keyFile)).items.count == 1)
        }
    }

    @Test(
        "Key files of every kind are read",
        arguments: [
            "<KeyFile><Meta><Version>1.00</Version></Meta><Key><Data>BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=</Data></Key></KeyFile>",
            "<?xml version=\"1.0\"?><KeyFile><Meta><Version>2.0</Version></Meta><Key><Data Hash=\"CCDB93F1\">\n 04040404 04040404 04040404 04040404 04040404 04040404 04040404 04040404\n</Data></Key></KeyFile>",
            String(repeating: "04", count: 32), String(repeating: "\u{4}", count: 32),
        ])
    func keyFiles(text: String) throws {
        let file = ForeignFile(name: "key", SecretBytes(copying: text.utf8), modified: .reference)
        let key = [UInt8](repeating: 4, count: 32)
        let hash = Hexadecimal.encode(Array(SHA256.hash(key.span).bytes.prefix(4))).uppercased()
        let named = ForeignFile(
            name: "key", SecretBytes(copying: text.replacing("CCDB93F1", with: hash).utf8), modified: .reference)
        let found = try KeePassKeyFile.key(named).withBytes { span in span.indices.map { span[$0] } }
        #expect(found == key)
        if text.contains("Hash"), hash != "CCDB93F1" {
            #expect(throws: ForeignFailure.self) { _ = try KeePassKeyFile.key(file) }
        }
    }

    @Test("Key derivation parameters above a limit are refused before any derivation")
    func limits() throws {
        let salt = [UInt8](repeating: 5, count: 32)
        let bombs: [KDBXDerivation] = [
            .argon2(.d, Argon2.Cost(iterations: 1_001, memoryInKiB: 64, lanes: 1), salt: salt),
            .argon2(.d, Argon2.Cost(iterations: 1, memoryInKiB: 1 << 21, lanes: 1), salt: salt),
            .argon2(.d, Argon2.Cost(iterations: 1, memoryInKiB: 1_024, lanes: 65), salt: salt),
            .aes(rounds: 100_000_001, seed: salt),
        ]
        for bomb in bombs {
            let file = KDBXForge(derivation: bomb).headerAlone()
            let failure = #expect(throws: ForeignFailure.self) {
                try ForeignReading.read(file, as: KeePassFormat(), password: "pw")
            }
            guard case .limit = failure else {
                Issue.record("another failure: \(String(describing: failure))")
                continue
            }
        }
    }

    @Test("A database with Twofish, by pykeepass, is read")
    func twofish() throws {
        let contents = try ForeignReading.read(
            fixture("pykeepass-twofish.kdbx"), as: KeePassFormat(), password: "pw one")
        #expect(
            try contents.listing == [
                "genp svce=Titel acct=note (benutzer) desc=secure note: note",
                "inet srvr=x.example acct=benutzer: zwei Fische",
            ])
    }

    @Test("An export in XML becomes the same items as its database")
    func export() throws {
        let text = try fixture("keepassxc.xml")
        #expect(try KnownFormats.recognise(ForeignReading.input(text)).name == "keepass-xml")
        let contents = try ForeignReading.read(text, as: KeePassXMLFormat())
        let database = try ForeignReading.read(
            fixture("keepassxc-3.1.kdbx"), as: KeePassFormat(), password: "pw one")
        #expect(try contents.listing == database.listing)
        #expect(try contents.uuids == database.uuids)
        #expect(contents.leftOut.map(\.kind) == database.leftOut.map(\.kind))
        #expect(contents.details == "XML 'Sample'" && contents.isPlaintext && contents.remarks == [])
        // KeePass 2 writes dates of version 4 in some forms of its export.
        let dated = KDBXForge.xml(
            KDBXForge.entry(
                1, [("Title", "A"), ("Password", "p")],
                more: "<Times><CreationTime>AAAAAAAAAAA=</CreationTime>"
                    + "<LastModificationTime>2026-01-01T00:00:00Z</LastModificationTime></Times>"))
        #expect(try ForeignReading.read("\u{feff}" + dated, as: KeePassXMLFormat()).listing == ["genp svce=A: p"])
        #expect(throws: ForeignFailure.unknownVariant("its values are encrypted with a key that is not in it")) {
            try ForeignReading.read(
                KDBXForge.xml(KDBXForge.entry(1, [("Password", "{{p}}")])), as: KeePassXMLFormat())
        }
        let odd = KDBXForge.xml(
            KDBXForge.entry(1, [("Title", "A"), ("Password", "p")])
                + "<Entry><String><Key>Title</Key><Value>Odd</Value></String></Entry>"
                + KDBXForge.entry(2, [("Title", "B"), ("Password", "q")], more: "<New>x</New>"))
        let around = try ForeignReading.read(odd, as: KeePassXMLFormat())
        #expect(around.refused.map(\.name) == ["Odd"] && around.items.count == 2)
        #expect(around.leftOut.contains { $0 == ("unknown member", 1) })
        for bytes in [Array(text.dropLast(9)), text.map { $0 == 0xe2 ? 0xff : $0 }] {
            #expect(throws: ForeignFailure.self) { try ForeignReading.read(bytes, as: KeePassXMLFormat()) }
        }
        #expect(throws: ForeignFailure.damaged("its XML has a document type")) {
            try ForeignReading.read("<!DOCTYPE x><KeePassFile/>", as: KeePassXMLFormat())
        }
    }

    @Test("Unknown versions are refused with the reason")
    func refused() throws {
        #expect(throws: ForeignFailure.unknownVariant("KDBX 5.0")) {
            try ForeignReading.read(KDBX.signature + [0, 0, 5, 0], as: KeePassFormat(), password: "pw")
        }
    }

    @Test(
        "Hostile XML is refused: a document type, an entry without an ID, no groups",
        arguments: [
            "<!DOCTYPE x><KeePassFile/>", "<KeePassFile/>", "<Other/>",
            "<KeePassFile><Root><Group><Entry/></Group></Root></KeePassFile>",
        ])
    func hostile(text: String) throws {
        #expect(throws: ForeignFailure.self) {
            try ForeignReading.read(KDBXForge().file(text), as: KeePassFormat(), password: "pw")
        }
    }

    @Test("A database whose attachments are all missing is imported, and each of them is named")
    func withoutAttachments() throws {
        let entries = (1...3).map { number in
            KDBXForge.entry(
                number, [("Title", "E\(number)"), ("Password", "{{p\(number)}}"), ("Notes", "n\(number)")],
                more: #"<Binary><Key>x\#(number)</Key><Value Ref="7"/></Binary>"#)
        }
        let file = try KDBXForge().file(KDBXForge.xml(entries.joined()))
        let contents = try ForeignReading.read(file, as: KeePassFormat(), password: "pw")
        #expect(contents.parts.map(\.count) == [3, 3])
        #expect(contents.refused.map(\.name) == ["E1: x1", "E2: x2", "E3: x3"])
    }

    @Test("Circular and dangling references are left unresolved and reported")
    func circle() throws {
        func reference(_ id: Int) -> String { "{REF:P@I:" + String(repeating: "0", count: 31) + "\(id)}" }
        let text = KDBXForge.xml(
            KDBXForge.entry(1, [("Title", "A"), ("UserName", "u"), ("Password", "{{\(reference(2))}}")])
                + KDBXForge.entry(2, [("Title", "B"), ("UserName", "u"), ("Password", "{{\(reference(1))}}")])
                + KDBXForge.entry(3, [("Title", "C"), ("UserName", "u"), ("Password", "{{\(reference(9))}}")]))
        let contents = try ForeignReading.read(KDBXForge().file(text), as: KeePassFormat(), password: "pw")
        #expect(contents.items.count == 3)
        #expect(contents.remarks.contains { $0.contains("circular") })
        #expect(contents.remarks.contains { $0.contains("missing") })
    }

    @Test("Every notation for a one-time password seed is understood")
    func seeds() throws {
        let spellings: [([(String, String)], String)] = [
            ([("TOTP Seed", "JBSWY3DP"), ("TOTP Settings", "60;8")], "secret=JBSWY3DP&period=60&digits=8"),
            ([("TOTP Seed", "JBSWY3DP"), ("TOTP Settings", "30;S")], "secret=JBSWY3DP&issuer=A&digits=5"),
            (
                [("TOTP Seed", "JBSWY3DP"), ("TOTP Settings", "30;8;https://time.example")],
                "secret=JBSWY3DP&period=30&digits=8&algorithm=SHA1&clock=https%3A%2F%2Ftime.example"
            ),
            ([("TOTP Seed", "JBSWY3DP"), ("TOTP Settings", "x y;8")], "secret=JBSWY3DP&period=x%20y&digits=8"),
            ([("TimeOtp-Secret-Base32", "JBSWY3DP"), ("TimeOtp-Length", "12")], "period=30&digits=12"),
            ([("TimeOtp-Secret-Base32", "JBSWY3DP"), ("TimeOtp-Algorithm", "MD5")], "digits=6&algorithm=MD5"),
            (
                [("TOTP Seed", "JBSWY3DP"), ("TOTP Settings", "30;S;https://time.example")],
                "secret=JBSWY3DP&issuer=A&digits=5"
            ),
            ([("TimeOtp-Secret-Base32", "JBSWY3DP")], "secret=JBSWY3DP"),
            ([("TimeOtp-Secret", "Hello")], "secret=JBSWY3DP"),
            ([("TimeOtp-Secret-Hex", "48656C6C6F")], "secret=JBSWY3DP"),
            (
                [("TimeOtp-Secret-Base64", "SGVsbG8="), ("TimeOtp-Algorithm", "HMAC-SHA-256")],
                "secret=JBSWY3DP&period=30&digits=6&algorithm=SHA256"
            ),
        ]
        for (strings, expected) in spellings {
            let text = KDBXForge.xml(KDBXForge.entry(1, [("Title", "A")] + strings))
            let contents = try ForeignReading.read(KDBXForge().file(text), as: KeePassFormat(), password: "pw")
            let listing = try contents.listing
            #expect(listing.count == 1)
            #expect(listing[0].contains("otpauth://totp/") && listing[0].contains(expected), "\(listing)")
        }
    }

    @Test("Random bytes in random places never crash the reader", arguments: 0..<4 as Range<UInt64>)
    func fuzz(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = KDBXForge.xml(
            KDBXForge.entry(1, [("Title", "A"), ("UserName", "u"), ("Password", "{{one}}"), ("Notes", "n")])
                + KDBXForge.entry(2, []))
        for _ in 0..<150 {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = UInt8.random(in: 0x20...0x7e, using: &random)
            }
            let file = try KDBXForge(stream: .none).file(String(decoding: bytes, as: UTF8.self))
            do {
                _ = try ForeignReading.read(file, as: KeePassFormat(), password: "pw").listing
            } catch is ForeignFailure {}
        }
    }
}

extension KDBXForge {
    /// A file that consists of a header only.
    func headerAlone() -> [UInt8] {
        var header = KDBX.signature + [0, 0, 4, 0]
        func field(_ field: KDBX.Field, _ value: [UInt8]) {
            header += [field.rawValue] + KDBX.littleEndian(UInt32(value.count)) + value
        }
        field(.cipher, KDBX.bytes(ofUUID: cipherName ?? cipher.rawValue))
        field(.compression, [0, 0, 0, 0])
        field(.masterSeed, [UInt8](repeating: 1, count: 32))
        field(.iv, [UInt8](repeating: 2, count: cipher.ivLength))
        field(.derivation, map.encoded)
        field(.end, [])
        return header
    }
}
