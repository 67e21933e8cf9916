import Foundation
import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing backups of iPhones", .waitsForPrograms)
struct AppleBackupTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let date = Timestamp(microseconds: 1_700_000_000_123_456) ?? .reference

    private static let password: [(String, PlistValue)] = [
        ("acct", .text("ada")), ("svce", .data(Array("Mail".utf8))), ("agrp", .text("group.example")),
        ("pdmn", .text("ak")),
        ("labl", .text("Mail é")), ("sync", .number(1)), ("cdat", .date(date)), ("mdat", .date(date)),
        ("v_Data", .data(Array("geheim".utf8))), ("sha1", .data([1, 2])), ("tomb", .number(0)), ("musr", .data([])),
        ("type", .number(1)), ("accc", .data([9])), ("pcrd", .number(5)), ("binn", .text("old password")),
    ]

    static let entries: [BackupForge.Entry] = [
        BackupForge.Entry(members: password, uuid: ItemUUID(high: 1, low: 2)),
        BackupForge.Entry(
            itemClass: .internetPassword, number: 7, version: 2,
            members: [
                ("acct", .text("ada")), ("srvr", .text("example.com")), ("port", .number(443)), ("pdmn", .text("ck")),
                ("agrp", .text("apple")), ("v_Data", .data(Array("zwei".utf8))),
            ]),
        BackupForge.Entry(number: 8, members: [("svce", .text("Empty")), ("pdmn", .text("dk"))]),
        BackupForge.Entry(number: 9, members: [("svce", .text("Bound")), ("pdmn", .text("aku"))]),
        BackupForge.Entry(number: 0x26, members: [("svce", .text("Generation")), ("pdmn", .text("ak"))]),
        BackupForge.Entry(members: [("svce", .text("Deleted")), ("pdmn", .text("ak")), ("tomb", .number(1))]),
        BackupForge.Entry(number: 7, members: [("svce", .text("Lies")), ("pdmn", .text("ak"))]),
    ]

    private func read(_ forge: BackupForge, password: String = "backup pw") throws -> ForeignContents {
        try forge.write(to: folder)
        let input = ForeignInput(path: folder.path(""), .folder)
        #expect(try AppleBackupFormat().recognises(input))
        return try AppleBackupFormat().read(input, GivenSecrets(text: password))
    }

    @Test("Items keep Apple's codes, and items bound to the old device are counted separately")
    func items() throws {
        let contents = try read(BackupForge(entries: Self.entries))
        #expect(
            try contents.listing == [
                "genp svce=Empty: no secret", "genp svce=Generation: no secret",
                "genp svce=Mail acct=ada: geheim", "genp svce=Mail é acct=accc desc=field: \u{9}",
                "genp svce=Mail é acct=binn desc=field: old password", "inet srvr=example.com acct=ada: zwei",
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 generic password that is bound to the old device", "1 record of a deleted item",
            ])
        #expect(contents.refused.count == 1)
        #expect(contents.details == "iOS 17.4")
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        let item = try #require(visitor.items.first { $0.uuid == ItemUUID(high: 1, low: 2) })
        #expect(item.accessGroup == "group.example")
        #expect(item.isSynchronizable)
        #expect(item.created == Self.date)
        #expect(item.attributes[.svce] == .data(Array("Mail".utf8)))
        #expect(item.extra.contains(ExtraAttribute(name: "ios.pcrd", value: "5")))
        #expect(visitor.items.first { $0.itemClass == .internetPassword }?.accessibility == .afterFirstUnlock)
    }

    @Test("A key that is missing from the keybag, and a class that no item has, are damage and not a bound item")
    func classes() throws {
        let entries = [
            BackupForge.Entry(number: 7, members: [("svce", .text("A")), ("pdmn", .text("ck"))]),
            BackupForge.Entry(number: 12, members: [("svce", .text("B")), ("pdmn", .text("akpu"))]),
            BackupForge.Entry(number: 3, members: [("svce", .text("C")), ("pdmn", .text("ck"))]),
            BackupForge.Entry(
                members: [
                    ("svce", .text("D")), ("pdmn", .text("ak")), ("when", .date(Self.date)),
                    ("list", .array([.text("x")])), ("map", .dictionary([])),
                ]),
        ]
        let contents = try read(BackupForge(entries: entries, missingKey: 7))
        #expect(try contents.listing == ["genp svce=D: no secret"])
        #expect(
            contents.refused.map { "\($0.problem)" } == [
                #"damaged("the backup has no key for its protection class")"#,
                #"damaged("its protection class is 3, which no item has")"#,
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 generic password that is bound to the old device", "2 attribute of an unknown kind",
            ])
        #expect(try contents.entries.first?.item.extraValue("ios.when") == Self.date.description)
    }

    /// A Python installation with a third-party reader of such backups.
    private static let judge = ExternalProgram.python(with: "iphone_backup_decrypt")

    @Test(
        "A third-party program opens the same folder and finds the same items",
        .enabled(if: judge != nil, "'make judges' installs it"))
    func judged() throws {
        let forge = BackupForge(entries: Self.entries)
        #expect(try read(forge).items.count == 6)
        let script = """
            import sys
            from iphone_backup_decrypt import EncryptedBackup
            backup = EncryptedBackup(backup_directory=sys.argv[1], passphrase=sys.argv[2])
            plain = backup.extract_file_as_bytes("keychain-backup.plist", domain_like="KeychainDomain")
            sys.stdout.buffer.write(plain)
            """
        let outcome = try ExternalProgram.run(
            try #require(Self.judge), ["-c", script, folder.path(""), forge.password])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try outcome.output == forge.keychain())
        let other = try ExternalProgram.run(
            try #require(Self.judge), ["-c", script, folder.path(""), "another password"])
        #expect(other.errorText.contains("IncorrectPassphraseError"))
    }

    @Test("A backup from before iOS 10.2, with a single key derivation, is read")
    func oneDerivation() throws {
        #expect(try read(BackupForge(hasSecondDerivation: false, entries: Self.entries)).items.count == 6)
    }

    @Test("A wrong password, a damaged key and too many rounds are distinguished")
    func keybag() throws {
        #expect(throws: ForeignFailure.wrongPassword) { try read(BackupForge(), password: "other") }
        let failure = #expect(throws: ForeignFailure.self) { try read(BackupForge(rounds: 50_000_001)) }
        guard case .limit = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }

    @Test("An unencrypted backup is refused, and other folders are not recognized as backups")
    func refused() throws {
        let failure = #expect(throws: ForeignFailure.self) { try read(BackupForge(isEncrypted: false)) }
        guard case .refused = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        let other = try TemporaryFolder()
        let input = ForeignInput(path: other.path(""), .folder)
        #expect(try !AppleBackupFormat().recognises(input))
        try other.write("Manifest.plist", Array("<plist><dict/></plist>".utf8))
        #expect(try !AppleBackupFormat().recognises(input))
    }

    @Test("A list of the wrong kind, and a file without lists, are damage and not an empty keychain")
    func wrongKind() throws {
        for value: PlistValue in [
            .dictionary([("genp", .dictionary([]))]), .dictionary([("genp", .text("x"))]),
            .dictionary([("genq", .array([]))]), .dictionary([]),
        ] {
            var forge = BackupForge(entries: Self.entries)
            forge.alter = { part, bytes in part == .keychain ? value.binary : bytes }
            let failure = #expect(throws: ForeignFailure.self) { try read(forge) }
            guard case .damaged = failure else {
                Issue.record("another failure: \(String(describing: failure))")
                continue
            }
        }
    }

    @Test(
        "A truncated or altered file is reported as damaged or yields no wrong secret",
        arguments: ["Manifest.plist", "Manifest.db", BackupForge.keychainPath])
    func damage(name: String) throws {
        let good = try read(BackupForge(entries: Self.entries)).listing
        let bytes = try folder.read(name)
        let input = ForeignInput(path: folder.path(""), .folder)
        func attempt(_ changed: [UInt8]) throws {
            try FileManager.default.removeItem(atPath: folder.path(name))
            try folder.write(name, changed)
            do {
                let listing = try AppleBackupFormat().read(input, GivenSecrets(text: "backup pw")).listing
                // The flipped bit carries no meaning, or only some of the items were refused.
                #expect(Set(listing).isSubset(of: good), "\(name)")
            } catch is ForeignFailure {
            } catch is CryptographyFailure {}
        }
        for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 80)) {
            try attempt(Array(bytes[..<place]))
            var flipped = bytes
            flipped[place] ^= 1 << UInt8(place % 8)
            try attempt(flipped)
        }
    }

    @Test("AES-GCM with an empty IV matches a known answer, and yields no plaintext if the tag is wrong")
    func nullIV() throws {
        let key = SecretBytes(copying: (0..<32).map { UInt8($0) })
        let ciphertext = try #require(Hexadecimal.decode("98381ac22599f480df95f35021ac165f6fdfdeabc50d"))
        var tag = try #require(Hexadecimal.decode("919b7061495a0c655da3fb04963e212a"))
        let plain = try NullIVCipher.open(ciphertext, tag: tag, key: key)
        #expect(
            plain.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
                == "hello keychain backup!")
        tag[3] ^= 1
        #expect(throws: ForeignFailure.self) { _ = try NullIVCipher.open(ciphertext, tag: tag, key: key) }
        for count in [0, 1, 15, 16, 17, 1_000] {
            let bytes = [UInt8](repeating: 7, count: count)
            let sealed = try BackupForge.seal(bytes, (0..<32).map { UInt8($0) })
            let opened = try NullIVCipher.open(Array(sealed.dropLast(16)), tag: Array(sealed.suffix(16)), key: key)
            #expect(opened.withBytes { span in span.indices.map { span[$0] } } == bytes)
        }
    }
}

@Suite("Property lists")
struct PropertyListTests {
    private let value = PlistValue.dictionary([
        ("text", .text("ä𝄞")), ("plain", .text("abc")), ("data", .data([0, 255])), ("number", .number(-5)),
        ("large", .number(1 << 40)), ("flag", .flag(true)), ("list", .array([.number(1), .text("x")])),
        ("date", .date(Timestamp(microseconds: 1_700_000_000_500_000) ?? .reference)),
    ])

    private func shown(_ list: PropertyList, _ node: Int) -> String {
        switch list.nodes[node] {
        case .dictionary(let members):
            "{" + members.map { "\($0.name)=\(shown(list, $0.value))" }.joined(separator: ",") + "}"
        case .array(let values): "[" + values.map { shown(list, $0) }.joined(separator: ",") + "]"
        case .text: list.text(node) ?? "?"
        case .data: Hexadecimal.encode(list.data(node) ?? [])
        case .number(let number): "\(number)"
        case .date(let date): date.description
        case .flag(let flag): "\(flag)"
        case .uid(let uid): "uid \(uid)"
        case .real: "real"
        case .null: "null"
        }
    }

    private static let expected =
        "{text=ä𝄞,plain=abc,data=00ff,number=-5,large=1099511627776,flag=true,list=[1,x],date=2023-11-14T22:13:20.500000Z}"

    @Test("Binary property lists and the DER of items are read correctly")
    func values() throws {
        let binary = try PropertyList(value.binary.span)
        #expect(shown(binary, binary.root) == Self.expected)
        let der = try PropertyList(der: value.der.span)
        #expect(shown(der, der.root) == Self.expected)
    }

    @Test("Binary and XML property lists written by Foundation are read correctly", arguments: [true, false])
    func foundation(isBinary: Bool) throws {
        let object: [String: Any] = [
            "text": "ä𝄞", "data": Data([0, 255]), "number": -5, "flag": true, "list": [1, "x"] as [Any],
            "date": Date(timeIntervalSince1970: 1_700_000_000),
        ]
        let bytes = try PropertyListSerialization.data(
            fromPropertyList: object, format: isBinary ? .binary : .xml, options: 0)
        let list = try PropertyList(Array(bytes).span)
        for (name, expected) in [
            ("text", "ä𝄞"), ("data", "00ff"), ("number", "-5"), ("flag", "true"), ("list", "[1,x]"),
            ("date", "2023-11-14T22:13:20.000000Z"),
        ] {
            #expect(shown(list, try #require(list.member(name, of: list.root))) == expected)
        }
    }

    @Test("A property list that refers to itself, is nested too deeply or is truncated is refused")
    func hostile() throws {
        var circle = Array("bplist00".utf8) + [0xa1, 0] + [8]
        circle += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        circle += [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(throws: ForeignFailure.limit("levels", found: 33, allowed: 32)) { _ = try PropertyList(circle.span) }
        var deep = PlistValue.number(1)
        for _ in 0..<40 { deep = .array([deep]) }
        #expect(throws: ForeignFailure.self) { _ = try PropertyList(deep.binary.span) }
        #expect(throws: ForeignFailure.self) { _ = try PropertyList(der: deep.der.span) }
        for count in 0..<value.binary.count {
            #expect(throws: ForeignFailure.self) { _ = try PropertyList(Array(value.binary[..<count]).span) }
        }
        for count in 0..<value.der.count {
            #expect(throws: ForeignFailure.self) { _ = try PropertyList(der: Array(value.der[..<count]).span) }
        }
    }

    @Test("A property list of 20,000 levels is refused, in each of its forms")
    func endlessNesting() {
        let levels = 20_000
        func big(_ number: Int, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(number >> (8 * (size - 1 - $0)) & 255) }
        }
        // Each object is an array of the next one.
        var binary = Array("bplist00".utf8)
        for level in 1...levels { binary += [0xa1] + big(level, 2) }
        binary += [0x08]
        let table = binary.count
        for level in 0...levels { binary += big(8 + 3 * level, 4) }
        binary += [0, 0, 0, 0, 0, 0, 4, 2] + big(levels + 1, 8) + big(0, 8) + big(table, 8)
        #expect(throws: ForeignFailure.limit("levels", found: 33, allowed: 32)) { _ = try PropertyList(binary.span) }
        var der: [UInt8] = []
        // From the innermost one outwards, with lengths of three bytes.
        var lengths: [[UInt8]] = []
        var size = 0
        for _ in 0..<levels {
            lengths.append([0x30, 0x83] + big(size, 3))
            size += 5
        }
        for header in lengths.reversed() { der += header }
        #expect(throws: ForeignFailure.self) { _ = try PropertyList(der: der.span) }
    }

    /// A binary list whose root is an array of `references`, made of objects at `offsets`; the root follows them.
    private func list(_ objects: [UInt8], at offsets: [Int], references: [Int], root: UInt8 = 0xaf) -> [UInt8] {
        func short(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
        func long(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) } }
        var bytes = Array("bplist00".utf8) + objects
        let all = offsets.map { $0 + 8 } + [bytes.count]
        bytes += [root, 0x11] + short(root == 0xaf ? references.count : references.count / 2)
        bytes += references.flatMap(short)
        let table = bytes.count
        bytes += all.flatMap { long($0).suffix(4) } + [0, 0, 0, 0, 0, 0, 4, 2]
        return bytes + long(all.count) + long(all.count - 1) + long(table)
    }

    @Test("Values that many references share are kept once, and overlapping ones are refused: no file is a bomb")
    func bomb() throws {
        let data: [UInt8] = [0x4f, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536)
        let shared = list(data, at: [0], references: [Int](repeating: 0, count: 60_000))
        let read = try PropertyList(shared.span)
        #expect(read.values(read.root)?.count == 60_000)
        #expect(read.end == 65_536)
        let overlapping =
            (0..<2_000).flatMap { _ in [0x4f, 0x11, 0x40, 0] as [UInt8] }
            + [UInt8](repeating: 0, count: 0x4000)
        let bomb = list(overlapping, at: (0..<2_000).map { 4 * $0 }, references: Array(0..<2_000))
        #expect(throws: ForeignFailure.damaged("its values overlap")) { _ = try PropertyList(bomb.span) }
        let name: [UInt8] = [0x5f, 0x11, 0x20, 0] + [UInt8](repeating: 0x61, count: 0x2000)
        let named = list(name + [8], at: [0, name.count], references: [0, 1], root: 0xdf)
        #expect(throws: ForeignFailure.limit("bytes of a name", found: 8_192, allowed: 4_096)) {
            _ = try PropertyList(named.span)
        }
    }

    @Test("Random bytes in random places never crash a reader", arguments: 0..<4 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            for (isBinary, good) in [(true, value.binary), (false, value.der)] {
                var bytes = good
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                do {
                    _ = try isBinary ? PropertyList(bytes.span) : PropertyList(der: bytes.span)
                } catch {}
            }
        }
    }
}
