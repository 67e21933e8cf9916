import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Random records, as the importer of a format would make them.
private struct RandomRecords {
    private var random: SeededRandom
    private let words = [
        "", "Bank", "a b", "é", "e\u{301}", "x=1&y", "<b>", "\"q\"", "https", "note", "PIN (2)", "Title", "otp",
        "{REF}",
    ]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func word() -> String { words.randomElement(using: &random) ?? "" }
    private mutating func secret() -> SecretBytes {
        SecretBytes(copying: "\(word())\(Int.random(in: 0...99_999, using: &random))".utf8)
    }
    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func code() -> String {
        let seed = String((0..<16).map { _ in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".randomElement(using: &random) ?? "A" })
        let rest = ["", "&issuer=Bank", "&digits=8&period=60", "&algorithm=SHA256"].randomElement(using: &random) ?? ""
        return "otpauth://totp/Bank:ada?secret=\(seed)\(rest)"
    }

    /// - Parameter isRich: true for records with all that any format has; false for those of tables.
    mutating func contents(_ count: Int, format: String, isRich: Bool) throws -> ForeignContents {
        let collector = RecordCollector(format: format, date: .reference)
        for number in 0..<count {
            let id = "\(ItemUUID(high: 7, low: UInt64(number)))"
            let record = RecordWriter(collector, identity: id, title: "\(number) \(word())")
            if isRich || chance(50) { record.id = id }
            if isRich {
                record.created = Timestamp(microseconds: 1_600_000_000_123_456 + Int64(number) * 1_000_000)
                record.modified = Timestamp(microseconds: 1_700_000_000_123_456 + Int64(number) * 1_000_000)
                if chance(30) { record.folder = "Work/\(word())" }
                if chance(20) { record.describe("tags", "a;b") }
            }
            if chance(60) { record.addresses = ["https://h\(number).example/\(number)"] }
            if isRich, chance(20) { record.addresses.append("https://two.example") }
            let hasLogin = chance(85)
            if hasLogin {
                try record.addLogin(user: "ada\(number)", password: chance(90) ? secret() : nil)
            } else {
                record.addresses = []
            }
            if chance(30) { try record.addOneTimePassword(SecretBytes(copying: code().utf8)) }
            if chance(40) || !hasLogin { try record.addNote(secret(), isWhole: !hasLogin) }
            if isRich { try addParts(to: record, number) }
            try record.finish()
        }
        return try collector.finish(details: "", isPlaintext: true)
    }

    private mutating func addParts(to record: RecordWriter, _ number: Int) throws {
        for field in 0..<Int.random(in: 0...3, using: &random) { try record.addField("\(word())\(field)", secret()) }
        if chance(15) {
            var passkey = Passkey(
                id: Passkey.unpadded(Base64.encode(random.bytes(chance(50) ? 16 : 32))), host: "h\(number).example",
                key: SecretBytes(copying: PasskeySample.key.utf8))
            passkey.userName = word()
            passkey.displayName = chance(50) ? passkey.userName : word()
            passkey.userHandle = "AAEC"
            for name in ["rpName", "discoverable", "creationDate"] { passkey.add(name, "x") }
            try record.addPasskey(passkey)
        }
        if chance(15) { try record.addAttachment("f\(word())", SecretBytes(copying: random.bytes(9))) }
        if chance(10) { try record.addObject("card", SecretBytes(copying: #"{"number":"4111"}"#.utf8)) }
        if chance(10) { try record.addPrivateKey(SecretBytes(copying: "-----BEGIN OPENSSH".utf8)) }
        if chance(5) { try record.addNetwork("Net \(number)", secret()) }
        if chance(10) { try record.addNote(SecretBytes(copying: [])) }
    }
}

@Suite("import(export(import(F))) = import(F)", .waitsForPrograms)
struct RecordLawTests {
    private static let count = 2_000

    private struct Listed: Hashable {
        let item: Item
        let secret: [UInt8]?
    }

    private func listed(_ contents: ForeignContents) throws -> [Listed] {
        try contents.entries.map { Listed(item: $0.item, secret: $0.secret) }
    }

    private func expectSame(_ after: ForeignContents, _ before: ForeignContents, _ seed: UInt64) throws {
        let (one, other) = (Set(try listed(before)), Set(try listed(after)))
        let missing = one.subtracting(other).map { "\($0)" }.sorted().prefix(2)
        let added = other.subtracting(one).map { "\($0)" }.sorted().prefix(2)
        #expect(missing.isEmpty && added.isEmpty, "seed \(seed): missing \(missing), new \(added)")
    }

    private func returned(_ contents: ForeignContents, _ format: ExportFormat) throws -> ForeignContents {
        let writer = try #require(ExportSample.writers().first { $0.0 == format }?.1)
        let (file, _) = try RecordTests.export(contents, to: writer)
        let back = try RecordTests.read(file, format)
        #expect(back.refused == [])
        return back
    }

    @Test(
        "KDBX and CXF give back records of any program, item by item", arguments: [ExportFormat.kdbx, .cxf],
        ["bitwarden", "keepass", "cxf", "csv"])
    func exact(format: ExportFormat, origin: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var records = RandomRecords(seed: seed)
        let before = try records.contents(Self.count / 4, format: origin, isRich: true)
        let after = try returned(before, format)
        try expectSame(after, before, seed)
    }

    @Test(
        "What Bitwarden and CSV hold of a record does not change when it goes through them again",
        arguments: [ExportFormat.bitwarden, .csv])
    func stable(format: ExportFormat) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var records = RandomRecords(seed: seed)
        let first = try records.contents(Self.count, format: "1pux", isRich: format == .bitwarden)
        let before = try returned(first, format)
        let after = try returned(before, format)
        try expectSame(after, before, seed)
        let counts = Dictionary(grouping: try listed(before)) {
            $0.item.extraValue("source.id") ?? $0.item.extraValue("source.record")
        }
        #expect(counts.count >= Self.count, "seed \(seed)")
    }

    @Test("CXF without kcbackup's extension, as other programs write it, comes back record by record")
    func plain() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var records = RandomRecords(seed: seed)
        func plain(_ contents: ForeignContents) throws -> ForeignContents {
            let (file, _) = try RecordTests.export(contents, to: CXFWriter(date: .reference))
            let text = String(decoding: file, as: UTF8.self).replacing(#""name":"kcbackup""#, with: #""name":"other""#)
            return try RecordTests.read(Array(text.utf8), .cxf)
        }
        let before = try plain(records.contents(Self.count / 4, format: "1pux", isRich: true))
        try expectSame(plain(before), before, seed)
    }

    @Test("A record with a passkey goes from KeePassXC to KeePassXC to Bitwarden and back with the same credential")
    func passkeys() throws {
        let strings = [
            ("Title", "rp"), ("UserName", "zoe"), ("Password", "{{pw}}"),
            ("KPEX_PASSKEY_CREDENTIAL_ID", "{{ouEElK8jQAyBRiMjThgw7Q}}"),
            ("KPEX_PASSKEY_PRIVATE_KEY_PEM", "{{\(PasskeySample.pem())}}"),
            ("KPEX_PASSKEY_RELYING_PARTY", "rp.example"),
            ("KPEX_PASSKEY_USERNAME", "zoe"), ("KPEX_PASSKEY_FLAG_BE", "1"),
            ("KPEX_PASSKEY_USER_HANDLE", "{{em9lLWhhbmRsZQ}}"),
        ]
        var contents = try ForeignReading.read(
            KDBXForge().file(KDBXForge.xml(KDBXForge.entry(1, strings))), as: KeePassFormat(), password: "pw")
        for format in [ExportFormat.kdbx, .bitwarden, .kdbx, .cxf, .bitwarden] {
            contents = try returned(contents, format)
            let passkeys = try contents.entries.filter { $0.item.attributes.text(.desc) == "passkey" }
            let json = SecretBytes(copying: passkeys.first?.secret ?? [])
            let found = try ForeignJSON(json)
            let names = ["credentialId", "rpId", "username", "userHandle", "key"].map { found.text(found.root[$0]) }
            #expect(names == ["ouEElK8jQAyBRiMjThgw7Q", "rp.example", "zoe", "em9lLWhhbmRsZQ", PasskeySample.key])
            #expect(passkeys.count == 1)
        }
    }

    @Test("A passkey without its private key is named, and what is left of it stays")
    func torn() throws {
        let strings = [
            ("Title", "rp"), ("KPEX_PASSKEY_CREDENTIAL_ID", "AQ"), ("KPEX_PASSKEY_RELYING_PARTY", "rp.example"),
        ]
        let contents = try ForeignReading.read(
            KDBXForge().file(KDBXForge.xml(KDBXForge.entry(1, strings))), as: KeePassFormat(), password: "pw")
        #expect(contents.refused.map(\.problem) == [.kept("its passkey has no private key")])
        #expect(contents.parts.map(\.count) == [2])
    }
}
