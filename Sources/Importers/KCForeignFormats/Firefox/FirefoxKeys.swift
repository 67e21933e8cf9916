internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The keys of `key4.db`, with which the passwords of Firefox and Thunderbird are encrypted.
///
/// Source: `lib/softoken/sdb.c`, `sftkdb.c` and `sftkpwd.c` of NSS.
final class FirefoxKeys {
    /// A key, once it is open.
    private final class Key {
        let id: [UInt8]
        let bytes: SecretBytes

        init(_ id: [UInt8], _ bytes: consuming SecretBytes) {
            self.id = id
            self.bytes = bytes
        }
    }

    private let salt: [UInt8]
    /// A known text, encrypted with the primary password.
    private let check: NSSSealed
    /// The symmetric keys with their IDs.
    private let sealed: [(id: [UInt8], value: NSSSealed)]
    /// The number of private keys, which belong to certificates.
    let privateKeyCount: Int
    private var keys: [Key] = []

    // A profile has one or two keys, and one for each certificate of its user.
    private static let rowLimit = 10_000
    // The rounds of PBKDF2 in all values together: some seconds. NSS takes 10,000 for each, or 1 if there is no primary
    // password.
    private static let roundsLimit = 10_000_000
    // CKO_SECRET_KEY and CKO_PRIVATE_KEY of PKCS #11.
    private static let secretKey: [UInt8] = [0, 0, 0, 4]
    private static let privateKey: [UInt8] = [0, 0, 0, 3]

    /// Reads the sealed keys.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `unknownVariant`, `limit`), `CryptographyFailure`.
    init(_ file: ForeignFile) throws {
        let database = try ForeignDatabase(file.bytes.copy(), "key4.db")
        let checks = try database.rows("SELECT item1, item2 FROM metaData WHERE id = 'password'", limit: 1)
        guard let salt = checks.first?[0].bytes, let check = checks.first?[1].bytes else {
            throw ForeignFailure.damaged("key4.db was never given a password, not even an empty one")
        }
        self.salt = salt
        self.check = try NSSSealed(check)
        // The columns have the numbers of PKCS #11: class, value and ID.
        let rows = try database.rows("SELECT a0, a11, a102 FROM nssPrivate", limit: Self.rowLimit)
        privateKeyCount = rows.count { $0[0].bytes == Self.privateKey }
        sealed = try rows.filter { $0[0].bytes == Self.secretKey }.map { row throws(ForeignFailure) in
            guard let value = row[1].bytes, let id = row[2].bytes else {
                throw .damaged("a key in key4.db is incomplete")
            }
            return (id, try NSSSealed(value))
        }
        let rounds = sealed.reduce(self.check.rounds) { $0.addingReportingOverflow($1.value.rounds).partialValue }
        guard (0...Self.roundsLimit).contains(rounds), self.check.rounds <= Self.roundsLimit,
            sealed.allSatisfy({ $0.value.rounds <= Self.roundsLimit })
        else {
            throw ForeignFailure.limit(
                "rounds of PBKDF2", found: UInt64(bitPattern: Int64(rounds)), allowed: UInt64(Self.roundsLimit))
        }
    }

    /// Opens the keys; false if the primary password is wrong.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    func open(_ password: borrowing SecretBytes) throws -> Bool {
        var input = SecretBytes(copying: salt)
        password.withBytes { input.append($0) }
        let hash = try HashFunction.sha1.hash(input)
        guard let text = try check.open(hash), text.withBytes({ $0.isEqual(to: Array("password-check".utf8).span) })
        else { return false }
        keys = try sealed.map { id, value in
            guard let bytes = try value.open(hash) else { throw ForeignFailure.damaged("a key in key4.db was altered") }
            return Key(id, bytes)
        }
        return true
    }

    /// Decrypts a value of a login: the ID of its key, the cipher and the ciphertext, in DER.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    func decrypt(_ der: [UInt8]) throws -> SecretBytes {
        let bytes = der.span
        var file = ByteCursor(0..<bytes.count)
        var whole = try file.sequence(in: bytes)
        let id = try whole.octets(in: bytes)
        var algorithm = try whole.sequence(in: bytes)
        let name = try algorithm.identifier(in: bytes)
        let iv = try algorithm.octets(in: bytes)
        let ciphertext = bytes.extracting(try whole.element(0x04, in: bytes))
        guard file.left == 0, whole.left == 0 else { throw ForeignFailure.damaged("data follows an encrypted value") }
        let cipher: BlockCipher.Algorithm
        switch name {
        case Self.tripleDES: cipher = .tripleDESCBC
        case Self.aes256: cipher = .aes256CBC
        default: throw ForeignFailure.damaged("it is encrypted with an unknown cipher")
        }
        // A profile that a newer version has used has keys for both ciphers, with one ID.
        guard let key = keys.first(where: { $0.id == id && cipher.keyLengths.contains($0.bytes.count) }) else {
            throw ForeignFailure.damaged("its key is not in key4.db")
        }
        guard iv.count == cipher.ivLength, !ciphertext.isEmpty, ciphertext.count.isMultiple(of: cipher.blockSize) else {
            throw ForeignFailure.damaged("an encrypted value has the wrong size")
        }
        var plain = try BlockCipher.decrypt(ciphertext, cipher, key: key.bytes, iv: iv.span)
        guard plain.removePadding(blockSize: cipher.blockSize) else {
            throw ForeignFailure.damaged("an encrypted value was altered, or its key is another one")
        }
        return plain
    }

    private static let tripleDES = "2a864886f70d0307"
    private static let aes256 = "60864801650304012a"
}
