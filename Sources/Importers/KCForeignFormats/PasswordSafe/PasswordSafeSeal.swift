internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The encryption of a database: Twofish, and HMAC-SHA-256 over the contents of its fields.
struct PasswordSafeSeal {
    /// The decrypted fields, which were found genuine.
    final class Opened {
        /// A field: its type and the position of its content.
        struct Field {
            let type: UInt8
            let range: Range<Int>
        }

        let bytes: SecretBytes
        /// The fields of the database itself, then those of each record.
        let groups: [[Field]]

        fileprivate init(bytes: consuming SecretBytes, groups: [[Field]]) {
            self.bytes = bytes
            self.groups = groups
        }
    }

    static let magic = "PWS3"
    /// The bytes after the last block.
    private static let ending = Array("PWS3-EOFPWS3-EOF".utf8)
    /// The type of the field that ends a record.
    private static let endOfRecord: UInt8 = 0xff
    /// The maximum number of rounds: four times as many as Password Safe lets a user set, which take some seconds.
    private static let roundLimit: UInt32 = 1 << 24
    private static let saltLength = 32
    private static let codeLength = 32
    private static let block = Twofish.blockSize

    private let salt: [UInt8]
    private let rounds: UInt32
    /// The hash of the stretched password.
    private let proof: [UInt8]
    /// The two keys, encrypted.
    private let keys: [UInt8]
    private let iv: [UInt8]
    private let blocks: Range<Int>
    private let code: [UInt8]

    /// Reads the head and the end of a file.
    init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var cursor = ByteCursor(Self.magic.utf8.count..<bytes.count, .littleEndian)
        salt = bytes.array(try cursor.take(Self.saltLength))
        rounds = try cursor.uint32(in: bytes)
        guard rounds > 0 else { throw .damaged("its number of rounds is missing") }
        guard rounds <= Self.roundLimit else {
            throw .limit("rounds", found: UInt64(rounds), allowed: UInt64(Self.roundLimit))
        }
        proof = bytes.array(try cursor.take(32))
        keys = bytes.array(try cursor.take(64))
        iv = bytes.array(try cursor.take(Self.block))
        let rest = cursor.left - Self.ending.count - Self.codeLength
        guard rest >= 0, rest.isMultiple(of: Self.block) else { throw ByteCursor.early }
        blocks = try cursor.take(rest)
        guard bytes.array(try cursor.take(Self.ending.count)) == Self.ending else {
            throw .damaged("its end is not marked")
        }
        code = bytes.array(try cursor.take(Self.codeLength))
    }

    /// Decrypts the fields.
    ///
    /// - Throws: `ForeignFailure` (`wrongPassword`, `damaged`), `CryptographyFailure`.
    func open(_ bytes: borrowing Span<UInt8>, _ password: borrowing SecretBytes) throws -> Opened {
        let stretched = try stretch(password)
        let hash = try HashFunction.sha256.hash(stretched)
        guard constantTimeEqual(hash, SecretBytes(copying: proof)) else { throw ForeignFailure.wrongPassword }
        var pair = SecretBytes(copying: keys)
        var unwrapping = try Twofish(.decrypt, key: stretched, .ecb)
        try unwrapping.process(inPlace: &pair)
        let key = pair.withBytes { SecretBytes($0.extracting(0..<32)) }
        var plain = SecretBytes(bytes.extracting(blocks))
        var cipher = try Twofish(.decrypt, key: key, .cbc(iv: iv))
        try cipher.process(inPlace: &plain)
        let groups = try plain.withBytes { bytes throws(ForeignFailure) in try Self.groups(bytes) }
        var hmac = try HMAC(key: pair.withBytes { SecretBytes($0.extracting(32..<64)) })
        try plain.withBytes { bytes throws(CryptographyFailure) in
            for group in groups { for field in group { try hmac.update(bytes.extracting(field.range)) } }
        }
        guard constantTimeEqual(try hmac.finalize(), code) else {
            throw ForeignFailure.damaged("its contents do not match their code")
        }
        return Opened(bytes: plain, groups: groups)
    }

    private func stretch(_ password: borrowing SecretBytes) throws -> SecretBytes {
        var salted = password.copy()
        salted.append(salt.span)
        var hash = try HashFunction.sha256.hash(salted)
        var next = SecretBytes(capacity: 32)
        for round in 0..<rounds {
            // A file can demand minutes.
            if round % 65_536 == 0, Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            next.removeAll()
            try hash.withBytes { try HashFunction.sha256.hash($0, into: &next) }
            swap(&hash, &next)
        }
        return hash
    }

    /// Locates the fields; each begins with a block.
    private static func groups(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [[Opened.Field]] {
        var groups: [[Opened.Field]] = []
        var group: [Opened.Field] = []
        var cursor = ByteCursor(0..<bytes.count, .littleEndian)
        while cursor.left > 0 {
            let length = Int(try cursor.uint32(in: bytes))
            let type = UInt8(try cursor.number(1, in: bytes))
            let range = try cursor.take(length)
            _ = try cursor.take((block - (length + 5) % block) % block)
            group.append(Opened.Field(type: type, range: range))
            if type == endOfRecord {
                groups.append(group)
                group = []
            }
        }
        guard group.isEmpty, !groups.isEmpty else { throw .damaged("its last record has no end") }
        return groups
    }
}
