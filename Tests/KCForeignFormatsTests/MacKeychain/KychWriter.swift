import KCByteStreams
import KCCryptography
import KCTestSupport

/// Writes macOS keychain files, in the format of Apple's libsecurity_filedb and securityd sources.
struct KychWriter {
    enum Value {
        case bytes([UInt8])
        case number(UInt32)
        case time(String)

        static func text(_ text: String) -> Value { .bytes(Array(text.utf8)) }

        fileprivate var format: UInt32 {
            switch self {
            case .bytes: 6
            case .number: 2
            case .time: 5
            }
        }

        fileprivate var encoded: [UInt8] {
            switch self {
            case .bytes(let bytes):
                big(UInt32(bytes.count)) + bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
            case .number(let number): big(number)
            case .time(let text): Array(text.utf8) + [0]
            }
        }
    }

    struct Record {
        let table: UInt32
        var values: [(name: String, value: Value)]
        var data: [UInt8]
    }

    var version: UInt32 = 0x200
    var password = "correct horse"
    /// The 24-byte key that opens the keychain; if it is nil, the password opens it.
    var master: [UInt8]?
    var records: [Record] = []

    static let identity = [UInt8](1...16)
    private static let salt = [UInt8](21...40)
    private static let encryption = SecretBytes(copying: [UInt8](100..<124))
    private static let signing = SecretBytes(copying: [UInt8](130..<150))

    static func systemKey(_ master: [UInt8]) -> [UInt8] { big(0xfade_0711) + big(0x100) + master + identity }

    // MARK: Records

    private static let passwordKey = [UInt8](50..<74)

    /// Adds a password, with the key that encrypts it.
    mutating func addPassword(_ table: UInt32, _ values: [(String, Value)], _ password: [UInt8]?) throws {
        let label = Array("ssgp".utf8) + [UInt8](repeating: UInt8(records.count), count: 16)
        var data: [UInt8] = []
        if let password {
            let iv: [UInt8] = [9, 8, 7, 6, 5, 4, 3, 2]
            data = label + iv
            if !password.isEmpty {
                data += try Self.encrypted(password, SecretBytes(copying: Self.passwordKey), iv)
            }
        }
        records.append(Record(table: table, values: values.map { ($0.0, $0.1) }, data: data))
        try addKey(0x11, [("PrintName", .bytes(label)), ("Label", .bytes(label))], Self.passwordKey)
    }

    /// Adds a key, in its blob.
    mutating func addKey(_ table: UInt32, _ values: [(String, Value)], _ key: [UInt8], isClear: Bool = false) throws {
        let iv: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let inner = try Self.encrypted(big(3) + [7, 7, 7] + key, Self.encryption, iv)
        let outer = try Self.encrypted(
            (iv + inner).reversed(), Self.encryption, [0x4a, 0xdd, 0xa2, 0x2c, 0x79, 0xe8, 0x21, 0x05])
        let ciphertext = isClear ? key : outer
        let access = [UInt8](repeating: 5, count: 12)
        let start = 136 + access.count
        let head =
            big(0xfade_0711) + big(version) + big(UInt32(start)) + big(UInt32(start + ciphertext.count)) + iv
            + [UInt8](repeating: 0, count: 92)
        let code = isClear ? Array("Cleartext public key".utf8) : try code(head, access + ciphertext)
        records.append(
            Record(table: table, values: values.map { ($0.0, $0.1) }, data: head + code + access + ciphertext))
    }

    private static func encrypted(_ plaintext: [UInt8], _ key: borrowing SecretBytes, _ iv: [UInt8]) throws -> [UInt8] {
        let padding = 8 - plaintext.count % 8
        let padded = plaintext + [UInt8](repeating: UInt8(padding), count: padding)
        var cipher = try BlockCipher(.tripleDESCBC, .encrypt, key: key, iv: iv.span)
        var output = SecretBytes(capacity: padded.count)
        try cipher.process(padded.span, into: &output)
        return output.bytesForTest()
    }

    private func code(_ first: [UInt8], _ second: [UInt8]) throws -> [UInt8] {
        precondition(version != 0x100, "the old code is in the files of others")
        var hmac = try HMAC(.sha1, key: Self.signing)
        try hmac.update(first.span)
        try hmac.update(second.span)
        return try hmac.finalize()
    }

    // MARK: The file

    func file() throws -> [UInt8] {
        var master = try PBKDF2.derive(
            password: SecretBytes(copying: password.utf8), salt: Self.salt.span, rounds: 1_000, hash: .sha1, count: 24)
        if let given = self.master { master = SecretBytes(copying: given) }
        let iv: [UInt8] = [3, 1, 4, 1, 5, 9, 2, 6]
        let secrets = Self.encryption.bytesForTest() + Self.signing.bytesForTest() + [1, 2, 3]
        let ciphertext = try Self.encrypted(secrets, master, iv)
        let access = [UInt8](repeating: 4, count: 8)
        let head =
            big(0xfade_0711) + big(version) + big(100) + big(UInt32(100 + ciphertext.count)) + Self.identity
            + big(0) + big(300) + big(1) + Self.salt + iv
        let blob = head + (try code(head, access + ciphertext)) + access + ciphertext
        var all = records
        all.append(Record(table: 0x8000_8000, values: [], data: blob))
        let ids = Set(all.map(\.table)).sorted()
        let attributes = Dictionary(uniqueKeysWithValues: ids.map { ($0, Self.attributes(of: $0, all)) })
        let described = ids.flatMap { id in
            (attributes[id] ?? []).map { attribute in
                let code = attribute.name.utf8.count == 4 ? number(attribute.name) : 0
                return [
                    Value.number(id).encoded, Value.number(code).encoded, Value.number(0).encoded,
                    code == 0 ? Value.text(attribute.name).encoded : nil, nil, Value.number(attribute.format).encoded,
                ]
            }
        }
        var tables = [Self.table(2, described.map { Self.record($0, []) })]
        for id in ids {
            let names = attributes[id] ?? []
            tables.append(
                Self.table(
                    id,
                    all.filter { $0.table == id }.map { record in
                        Self.record(
                            names.map { name in record.values.first { $0.name == name.name }?.value.encoded },
                            record.data)
                    }))
        }
        var offset = UInt32(8 + 4 * tables.count)
        var schema = big(0) + big(UInt32(tables.count))
        for table in tables {
            schema += big(offset)
            offset += UInt32(table.count)
        }
        schema += tables.flatMap { $0 }
        schema.replaceSubrange(0..<4, with: big(UInt32(schema.count)))
        return Array("kych".utf8) + big(0x0001_0000) + big(16) + big(20) + big(0) + schema + big(1)
    }

    private static func attributes(of table: UInt32, _ records: [Record]) -> [(name: String, format: UInt32)] {
        var found: [(name: String, format: UInt32)] = []
        for record in records where record.table == table {
            for (name, value) in record.values where !found.contains(where: { $0.name == name }) {
                found.append((name, value.format))
            }
        }
        return found
    }

    private static func record(_ values: [[UInt8]?], _ data: [UInt8]) -> [UInt8] {
        let padded = data + [UInt8](repeating: 0, count: (4 - data.count % 4) % 4)
        var offsets: [UInt8] = []
        var rest: [UInt8] = []
        for value in values {
            let place = 24 + 4 * values.count + padded.count + rest.count
            offsets += big(value == nil ? 0 : UInt32(place + 1))
            rest += value ?? []
        }
        let size = 24 + offsets.count + padded.count + rest.count
        return big(UInt32(size)) + big(0) + big(1) + big(1) + big(UInt32(data.count)) + big(0) + offsets + padded + rest
    }

    private static func table(_ id: UInt32, _ records: [[UInt8]]) -> [UInt8] {
        // The last slot is unused.
        var offset = UInt32(28 + 4 * (records.count + 1))
        var slots: [UInt8] = []
        var body: [UInt8] = []
        for (index, record) in records.enumerated() {
            slots += big(offset)
            offset += UInt32(record.count)
            body += Array(record[..<4]) + big(UInt32(index)) + record[8...]
        }
        slots += big(1)
        let size = 28 + slots.count + body.count
        return big(UInt32(size)) + big(id) + big(UInt32(records.count)) + big(0) + big(0) + big(0)
            + big(UInt32(records.count + 1)) + slots + body
    }

    private func number(_ name: String) -> UInt32 { name.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}

private func big(_ number: UInt32) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
}
