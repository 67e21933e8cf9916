import Foundation
import KCByteStreams
import KCCryptography
import KCExportFormats
import KCKeychainModel
import KCTestSupport

@testable import KCForeignFormats

/// A property list value, with the encodings that Apple's programs use.
indirect enum PlistValue: Hashable, Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case date(Timestamp)
    case flag(Bool)
    case dictionary([(String, PlistValue)])
    case array([PlistValue])
    case uid(UInt8)

    static func == (left: PlistValue, right: PlistValue) -> Bool { left.der == right.der }
    func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// A dictionary as a SET of pairs.
    var der: [UInt8] {
        switch self {
        case .text(let text): Self.element(0x0c, Array(text.utf8))
        case .data(let bytes): Self.element(0x04, bytes)
        case .number(let number):
            Self.element(0x02, Self.shortest(KDBX.littleEndian(number).reversed()))
        case .flag(let flag): Self.element(0x01, [flag ? 0xff : 0])
        case .date(let date):
            Self.element(
                0x18,
                Array(
                    (date.description.filter(\.isNumber).prefix(14) + ".\(date.description.suffix(7).prefix(6))Z").utf8)
            )
        case .array(let values): Self.element(0x30, values.flatMap(\.der))
        case .dictionary(let members):
            Self.element(0x31, members.flatMap { Self.element(0x30, PlistValue.text($0.0).der + $0.1.der) })
        case .uid: []
        }
    }

    private static func shortest(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        while bytes.count > 1, bytes[0] == 0 && bytes[1] < 0x80 || bytes[0] == 0xff && bytes[1] >= 0x80 {
            bytes.removeFirst()
        }
        return bytes
    }

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 255), at: 0)
            rest >>= 8
        }
        return [tag] + (content.count < 0x80 ? [UInt8(content.count)] : [0x80 + UInt8(length.count)] + length) + content
    }

    /// A binary property list.
    var binary: [UInt8] {
        var objects: [[UInt8]] = []
        func reference(_ index: Int) -> [UInt8] { [UInt8(index >> 8), UInt8(index & 255)] }
        func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
            count < 15
                ? [kind << 4 | UInt8(count)] : [kind << 4 | 15, 0x12] + KDBX.littleEndian(UInt32(count)).reversed()
        }
        func add(_ value: PlistValue) -> Int {
            let place = objects.count
            objects.append([])
            switch value {
            case .text(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
                objects[place] = marker(5, text.utf8.count) + Array(text.utf8)
            case .text(let text):
                let units = Array(text.utf16)
                objects[place] = marker(6, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
            case .data(let bytes): objects[place] = marker(4, bytes.count) + bytes
            case .number(let number): objects[place] = [0x13] + KDBX.littleEndian(number).reversed()
            case .flag(let flag): objects[place] = [flag ? 9 : 8]
            case .uid(let uid): objects[place] = [0x80, uid]
            case .date(let date):
                let seconds = Double(date.microseconds - Timestamp.reference.microseconds) / 1_000_000
                objects[place] = [0x33] + KDBX.littleEndian(seconds.bitPattern).reversed()
            case .array(let values):
                let references = values.flatMap { reference(add($0)) }
                objects[place] = marker(0xa, values.count) + references
            case .dictionary(let members):
                let names = members.flatMap { reference(add(.text($0.0))) }
                let values = members.flatMap { reference(add($0.1)) }
                objects[place] = marker(0xd, members.count) + names + values
            }
            return place
        }
        _ = add(self)
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += KDBX.littleEndian(UInt32(bytes.count)).reversed()
            bytes += object
        }
        let start = bytes.count
        func long(_ number: Int) -> [UInt8] { KDBX.littleEndian(UInt64(number)).reversed() }
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 4, 2] + long(objects.count) + long(0) + long(start)
    }
}

/// Makes the folder of an encrypted backup, with cheap key derivation.
struct BackupForge {
    struct Entry: Sendable {
        var itemClass = ItemClass.genericPassword
        /// The protection class that the blob names.
        var number: UInt32 = 6
        var version: UInt32 = 3
        var members: [(String, PlistValue)]
        var uuid = ItemUUID()
    }

    var password = "backup pw"
    var isEncrypted = true
    var rounds: UInt32 = 10
    var hasSecondDerivation = true
    var entries: [Entry] = []
    /// A protection class whose key is not in the keybag.
    var missingKey: UInt32?
    /// Changes the files before they are written.
    var change: (String, [UInt8]) -> [UInt8] = { $1 }
    /// Changes the contents before they are encrypted.
    var alter: (Part, [UInt8]) -> [UInt8] = { $1 }

    /// A part of the backup that `alter` can change.
    enum Part: CaseIterable, Sendable {
        case keybag, item, keychain, fileRecord, database
    }

    /// The decrypted keychain file, with its items still encrypted.
    func keychain() throws -> [UInt8] {
        alter(
            .keychain,
            try PlistValue.dictionary(
                ItemClass.allCases.map { itemClass in
                    try (itemClass.rawValue, .array(entries.filter { $0.itemClass == itemClass }.map(blob)))
                }
            ).binary)
    }

    private static let classKeys: [UInt32: [UInt8]] = Dictionary(
        uniqueKeysWithValues: (1...12 as ClosedRange<UInt32>).map { ($0, [UInt8](repeating: UInt8($0), count: 32)) })
    static let keychainPath = "51/51a4616e576dd33cd2abadfea874eb8ff246bf0e"

    func write(to folder: TemporaryFolder) throws {
        let (manifestKey, fileKey) = ([UInt8](repeating: 0x33, count: 32), [UInt8](repeating: 0x44, count: 32))
        let keychain = try keychain()
        let file = PlistValue.dictionary([
            ("$version", .number(100_000)), ("$archiver", .text("NSKeyedArchiver")),
            ("$top", .dictionary([("root", .uid(1))])),
            (
                "$objects",
                .array([
                    .text("$null"),
                    .dictionary([
                        ("Size", .number(Int64(keychain.count))), ("ProtectionClass", .number(3)),
                        ("EncryptionKey", .uid(2)),
                    ]),
                    .dictionary([("NS.data", .data([3, 0, 0, 0] + (try Self.wrap(fileKey, Self.classKeys[3] ?? []))))]),
                ])
            ),
        ]).binary
        let path = folder.path("plain.db")
        try folder.write("plain.db", [])
        let database = SQLiteFile(path)
        _ = try database.run(
            "CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)")
        _ = try database.run(
            "INSERT INTO Files VALUES (?, 'KeychainDomain', 'keychain-backup.plist', 1, ?)",
            [.text(String(Self.keychainPath.dropFirst(3))), .blob(alter(.fileRecord, file))])
        let manifestDatabase = alter(.database, try Array(Data(contentsOf: URL(filePath: path))))
        try FileManager.default.removeItem(atPath: path)
        let manifest = PlistValue.dictionary([
            ("IsEncrypted", .flag(isEncrypted)), ("Version", .text("10.0")),
            ("BackupKeyBag", .data(alter(.keybag, try keybag()))),
            ("ManifestKey", .data([4, 0, 0, 0] + (try Self.wrap(manifestKey, Self.classKeys[4] ?? [])))),
            ("Lockdown", .dictionary([("ProductVersion", .text("17.4"))])),
        ]).binary
        try FileManager.default.createDirectory(atPath: folder.path("51"), withIntermediateDirectories: true)
        for (name, bytes) in [
            ("Manifest.plist", manifest), ("Manifest.db", try Self.encrypt(manifestDatabase, manifestKey)),
            (Self.keychainPath, try Self.encrypt(keychain, fileKey)),
        ] {
            try folder.write(name, change(name, bytes))
        }
    }

    private func keybag() throws -> [UInt8] {
        func field(_ tag: String, _ value: [UInt8]) -> [UInt8] {
            Array(tag.utf8) + KDBX.littleEndian(UInt32(value.count)).reversed() + value
        }
        func number(_ number: UInt32) -> [UInt8] { KDBX.littleEndian(number).reversed() }
        let (salt, second) = ([UInt8](repeating: 5, count: 20), [UInt8](repeating: 6, count: 20))
        var bag = field("VERS", number(4)) + field("TYPE", number(1)) + field("UUID", [UInt8](repeating: 7, count: 16))
        bag += field("HMCK", [UInt8](repeating: 0, count: 40)) + field("WRAP", number(2)) + field("SALT", salt)
        bag += field("ITER", number(rounds))
        if hasSecondDerivation {
            bag += field("DPWT", number(1)) + field("DPIC", number(rounds)) + field("DPSL", second)
        }
        var key = SecretBytes(copying: password.utf8)
        if hasSecondDerivation {
            key = try PBKDF2.derive(
                password: key, salt: second.span, rounds: min(100, Int(rounds)), hash: .sha256, count: 32)
        }
        key = try PBKDF2.derive(password: key, salt: salt.span, rounds: min(100, Int(rounds)), hash: .sha1, count: 32)
        for number in 1...11 as ClosedRange<UInt32> where number != missingKey {
            let isOfDevice = number == 5 || number > 8
            bag +=
                field("UUID", [UInt8](repeating: UInt8(number), count: 16))
                + field("CLAS", Array(KDBX.littleEndian(number).reversed()))
            bag += field("WRAP", [0, 0, 0, isOfDevice ? 3 : 2]) + field("KTYP", [0, 0, 0, 0])
            bag += field("WPKY", try AESKeyWrap.wrap(SecretBytes(copying: Self.classKeys[number] ?? []), with: key))
        }
        return bag
    }

    private func blob(_ entry: Entry) throws -> PlistValue {
        let key = [UInt8](repeating: 0x55, count: 32)
        let plain = alter(
            .item,
            entry.version == 3 ? PlistValue.dictionary(entry.members).der : PlistValue.dictionary(entry.members).binary)
        let wrapped = try Self.wrap(key, Self.classKeys[entry.number & 0x1f] ?? [])
        let head =
            KDBX.littleEndian(entry.version) + KDBX.littleEndian(entry.number)
            + KDBX.littleEndian(UInt32(wrapped.count))
        return .dictionary([
            ("v_Data", .data(head + wrapped + (try Self.seal(plain, key)))),
            ("v_PersistentRef", .data(Array("genp".utf8) + entry.uuid.bytes)),
        ])
    }

    /// Encrypts for `NullIVCipher`, with an independent implementation of GHASH.
    static func seal(_ plain: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
        let secret = SecretBytes(copying: key)
        let zeros = [UInt8](repeating: 0, count: 15)
        var ciphertext = SecretBytes(copying: plain)
        var counter = try BlockCipher(.aes256CTR, .encrypt, key: secret, iv: (zeros + [1]).span)
        try counter.process(inPlace: &ciphertext)
        var hashKey = SecretBytes(copying: zeros + [0])
        let nothing: [UInt8] = []
        var ecb = try BlockCipher(.aes256ECB, .encrypt, key: secret, iv: nothing.span)
        try ecb.process(inPlace: &hashKey)
        let mask = hashKey.withBytes { span in span.indices.map { span[$0] } }
        let bytes = ciphertext.withBytes { span in span.indices.map { span[$0] } }
        var state = [UInt8](repeating: 0, count: 16)
        let padded = bytes + [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16)
        let lengths = [UInt8](repeating: 0, count: 8) + KDBX.littleEndian(UInt64(bytes.count * 8)).reversed()
        let blocks = padded + lengths
        for start in stride(from: 0, to: blocks.count, by: 16) {
            state = multiply((0..<16).map { state[$0] ^ blocks[start + $0] }, mask)
        }
        return bytes + (0..<16).map { state[$0] ^ mask[$0] }
    }

    private static func multiply(_ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
        var (result, v) = ([UInt8](repeating: 0, count: 16), y)
        for bit in 0..<128 {
            if x[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1 { result = (0..<16).map { result[$0] ^ v[$0] } }
            let isOdd = v[15] & 1 == 1
            v = (0..<16).map { v[$0] >> 1 | ($0 > 0 ? v[$0 - 1] << 7 : 0) }
            if isOdd { v[0] ^= 0xe1 }
        }
        return result
    }

    private static func wrap(_ key: [UInt8], _ wrapping: [UInt8]) throws -> [UInt8] {
        try AESKeyWrap.wrap(SecretBytes(copying: key), with: SecretBytes(copying: wrapping))
    }

    private static func encrypt(_ bytes: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
        let padding = 16 - bytes.count % 16
        var plain = SecretBytes(copying: bytes + [UInt8](repeating: UInt8(padding), count: padding))
        let iv = [UInt8](repeating: 0, count: 16)
        var cipher = try BlockCipher(.aes256CBC, .encrypt, key: SecretBytes(copying: key), iv: iv.span)
        try cipher.process(inPlace: &plain)
        return plain.withBytes { span in span.indices.map { span[$0] } }
    }
}
