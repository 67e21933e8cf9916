import Glibc
import KCByteStreams
import KCCryptography
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing KeePass 1 databases")
struct KeePass1Tests {
    private static let listing = [
        "genp svce=Bank acct=note (ada) desc=secure note: line one\nline two",
        "genp svce=Mail acct=a.bin (bob) desc=attachment: att\u{0}",
        "genp svce=Mail acct=bob: two",
        "genp svce=Only a note desc=secure note: text",
        "inet srvr=bank.example acct=ada: s3cret €",
    ]

    private static var file: [UInt8] {
        get throws { try ForeignReading.fixture("KeePass/kppy.kdb") }
    }

    private func read(_ bytes: [UInt8], _ password: String? = "pw one", key: [UInt8]? = nil) throws -> ForeignContents {
        let keyFile = key.map { ForeignFile(name: "key", SecretBytes(copying: $0), modified: .reference) }
        return try KeePass1Format().read(ForeignReading.input(bytes), GivenSecrets(text: password, key: keyFile))
    }

    private static func password() throws -> SecretBytes {
        try HashFunction.sha256.hash(SecretBytes(copying: "pw one".utf8))
    }

    /// The contents of the file, decrypted.
    private static let content = Result {
        let bytes = try file
        let opened = ForeignFile(name: "file", SecretBytes(copying: bytes), modified: .reference)
        return try KDBHeader(bytes.span).open(opened, key: password()).bytesForTest()
    }

    /// The file, encrypted anew after a change, with a key that few rounds derive.
    ///
    /// - Parameter composite: the bytes that the key is derived from; nil for the hash of the password.
    private func altered(
        flags: UInt8 = 3, composite: [UInt8]? = nil, _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> [UInt8] {
        let bytes = try Self.file
        let header = try KDBHeader(bytes.span)
        var content = try Self.content.get()
        change(&content)
        let derivation = KDBXDerivation.aes(rounds: 60, seed: Array(bytes[88..<120]))
        let key = try derivation.transform(SecretBytes(copying: composite ?? Self.password().bytesForTest()))
        var input = SecretBytes(copying: header.masterSeed)
        key.withBytes { input.append($0) }
        let padding = 16 - content.count % 16
        var sealed = SecretBytes(copying: content + [UInt8](repeating: UInt8(padding), count: padding))
        var cipher = try KDBXCipher(
            flags & 8 == 0 ? .aes256 : .twofish, .encrypt, key: HashFunction.sha256.hash(input), iv: header.iv)
        try cipher.process(inPlace: &sealed)
        var head = Array(bytes.prefix(KDBHeader.size))
        head[8] = flags
        head.replaceSubrange(56..<88, with: SHA256.hash(content.span).bytes)
        head.replaceSubrange(120..<124, with: [60, 0, 0, 0])
        return head + sealed.bytesForTest()
    }

    @Test("Every entry of a database by kppy is imported, with AES and with Twofish, and settings are counted")
    func kinds() throws {
        for bytes in [try Self.file, try altered(), try altered(flags: 9)] {
            #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "keepass-1")
            let contents = try read(bytes)
            #expect(try contents.listing == Self.listing)
            #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 setting of another program"])
            #expect(contents.refused == [])
            let items = try contents.entries.map(\.item)
            let mail = try #require(items.first { $0.attributes.text(.acct) == "bob" })
            #expect(mail.extraValue("source.folder") == "Banks & more/Sub")
            #expect(mail.extraValue("expires")?.hasPrefix("2030-01-02") == true)
            let bank = try #require(items.first { $0.itemClass == .internetPassword })
            #expect(bank.extraValue("expires") == nil)
            #expect(bank.attributes.date(.cdat)?.description.hasPrefix("2026-11-26T09:11") == true)
        }
        for wrong in ["", "pw two"] {
            #expect(throws: ForeignFailure.wrongPasswordOrNoKeyFile(orDamaged: true)) { try read(Self.file, wrong) }
        }
    }

    @Test("A key file opens a database alone and together with a password, which may be in Latin-1")
    func keys() throws {
        let key = [UInt8](repeating: 4, count: 32)
        let alone = try altered(composite: key)
        #expect(try read(alone, nil, key: key).listing == Self.listing)
        #expect(try read(alone, "", key: key).listing == Self.listing)
        let password = try HashFunction.sha256.hash(SecretBytes(copying: "pw one".utf8)).bytesForTest()
        let both = try altered(composite: HashFunction.sha256.hash(SecretBytes(copying: password + key)).bytesForTest())
        #expect(try read(both, key: key).listing == Self.listing)
        let digits = Array(Hexadecimal.encode(key).utf8)
        #expect(try read(both, key: digits).listing == Self.listing)
        #expect(throws: ForeignFailure.wrongPasswordOrKeyFile(orDamaged: true)) { try read(both, "pw two", key: key) }
        let latin = try altered(composite: HashFunction.sha256.hash(SecretBytes(copying: [0x70, 0xe4])).bytesForTest())
        #expect(try read(latin, "p\u{e4}").listing == Self.listing)
    }

    @Test("A truncated file is refused, and a flipped bit yields no other items")
    func damage() throws {
        let bytes = try altered()
        for place in stride(from: 8, to: bytes.count, by: 7) {
            #expect(throws: ForeignFailure.self) { try read(Array(bytes[..<place])) }
            do {
                let listing = try read(bytes.replacing(at: place, with: bytes[place] ^ 4)).listing
                #expect(listing == Self.listing, "byte \(place)")
            } catch is ForeignFailure {}
        }
        #expect(throws: ForeignFailure.limit("rounds of its key", found: 0xffff_ffff, allowed: 100_000_000)) {
            try read(Array(bytes[..<120]) + [0xff, 0xff, 0xff, 0xff] + bytes[124...])
        }
        #expect(throws: ForeignFailure.unknownVariant("an unknown cipher")) {
            try read(bytes.replacing(at: 8, with: 5))
        }
    }

    @Test("An entry that is damaged is left out and named, and a field that is not known is counted")
    func oddEntry() throws {
        func contents(_ change: ([UInt8], Int) -> [UInt8]) throws -> ForeignContents {
            try read(
                altered { content in
                    // The field of the title, with its number and size.
                    let title = [4, 0, 5, 0, 0, 0] + Array("Mail\u{0}".utf8)
                    guard let place = content.firstRange(of: title)?.lowerBound else { return }
                    content = change(content, place)
                })
        }
        let odd = try contents { content, place in content.replacing(at: place + 7, with: 0xff) }
        #expect(odd.refused.map(\.name) == ["entry 2"])
        #expect(try odd.listing == Self.listing.filter { !$0.contains("Mail") })
        let unknown = try contents { content, place in
            Array(content[..<place]) + [15, 0, 1, 0, 0, 0, 7] + content[place...]
        }
        #expect(try unknown.listing == Self.listing)
        #expect(unknown.leftOut.contains { $0 == ("unknown member", 1) })
    }

    @Test("Content that was encrypted by an attacker is read or refused")
    func hostile() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<200 {
            let bytes = try altered { content in
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<content.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: content[place] = UInt8.random(in: .min ... .max, using: &random)
                    case 1: content.removeSubrange(place..<min(content.count, place + 5))
                    default: content.insert(contentsOf: content[place..<min(content.count, place + 9)], at: place)
                    }
                }
            }
            do {
                _ = try read(bytes).listing
            } catch is ForeignFailure {}
        }
        // More groups than the content can hold.
        var many = try altered()
        many.replaceSubrange(48..<52, with: [0xff, 0xff, 0xff, 0x7f])
        #expect(throws: ForeignFailure.self) { try read(many) }
    }

    @Test("A signal ends the stretching of a key at once")
    func interrupted() async {
        await #expect(processExitsWith: .success) {
            Interruption.request(SIGTERM)
            let derivation = KDBXDerivation.aes(
                rounds: KDBXDerivation.roundsLimit, seed: [UInt8](repeating: 1, count: 32))
            #expect(throws: StreamFailure(.decrypting, .interrupted)) {
                _ = try derivation.transform(SecretBytes(copying: [UInt8](repeating: 2, count: 32)))
            }
        }
    }
}
