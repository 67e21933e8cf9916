internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// A value that NSS has encrypted with a password: the parameters and the ciphertext, in DER.
///
/// Source: RFC 8018, and `lib/softoken/lowpbe.c` and `sftkpwd.c` of NSS, where it differs.
struct NSSSealed {
    /// How the key is derived.
    private enum Scheme {
        /// PBES2 with PBKDF2, HMAC-SHA-256 and AES-256-CBC.
        case pbes2(salt: [UInt8], iv: [UInt8])
        /// NSS's variant of PBE with SHA-1 and triple DES, which older versions used.
        case tripleDES(salt: [UInt8])
    }

    private let scheme: Scheme
    /// The number of rounds of PBKDF2; 0 for the older scheme, which has one.
    let rounds: Int
    private let ciphertext: [UInt8]

    private static let pbes2 = "2a864886f70d01050d"
    private static let pbkdf2 = "2a864886f70d01050c"
    private static let hmacSHA256 = "2a864886f70d0209"
    private static let aes256CBC = "60864801650304012a"
    private static let pbeTripleDES = "2a864886f70d010c050103"

    /// Reads the DER.
    init(_ der: [UInt8]) throws(ForeignFailure) {
        let bytes = der.span
        var file = ByteCursor(0..<bytes.count)
        var whole = try file.sequence(in: bytes)
        var algorithm = try whole.sequence(in: bytes)
        ciphertext = try whole.octets(in: bytes)
        guard file.left == 0, whole.left == 0 else { throw .damaged("data follows an encrypted value") }
        let name = try algorithm.identifier(in: bytes)
        var parameters = try algorithm.sequence(in: bytes)
        switch name {
        case Self.pbes2: (scheme, rounds) = try Self.readPBES2(&parameters, bytes)
        case Self.pbeTripleDES:
            scheme = .tripleDES(salt: try parameters.octets(in: bytes))
            rounds = 0
        default: throw .unknownVariant("a key with an unknown encryption")
        }
    }

    private static func readPBES2(
        _ parameters: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (Scheme, rounds: Int) {
        var derivation = try parameters.sequence(in: bytes)
        guard try derivation.identifier(in: bytes) == pbkdf2 else {
            throw .unknownVariant("a key with an unknown derivation")
        }
        var costs = try derivation.sequence(in: bytes)
        let salt = try costs.octets(in: bytes)
        let rounds = try costs.integer(in: bytes)
        guard rounds >= 1 else { throw .damaged("a number of rounds is not positive") }
        guard try costs.integer(in: bytes) == 32 else { throw .unknownVariant("a key of another length") }
        var hash = try costs.sequence(in: bytes)
        var encryption = try parameters.sequence(in: bytes)
        guard try hash.identifier(in: bytes) == hmacSHA256, try encryption.identifier(in: bytes) == aes256CBC else {
            throw .unknownVariant("a key with an unknown encryption")
        }
        let content = try encryption.element(0x04, in: bytes)
        // NSS takes the header of this element for a part of the vector, which is then as long as a block.
        let iv = bytes.array(content.count == 14 ? content.lowerBound - 2..<content.upperBound : content)
        guard iv.count == 16 else { throw .damaged("an initialization vector has the wrong size") }
        return (.pbes2(salt: salt, iv: iv), rounds)
    }

    /// The plaintext; nil if the key is wrong, or the value was altered, as far as its padding tells.
    ///
    /// - Parameter hash: the SHA-1 hash of the database's salt and the password.
    /// - Throws: `CryptographyFailure`.
    func open(_ hash: borrowing SecretBytes) throws -> SecretBytes? {
        switch scheme {
        case .pbes2(let salt, let iv):
            let key = try PBKDF2.derive(password: hash, salt: salt.span, rounds: rounds, hash: .sha256, count: 32)
            return try decrypted(.aes256CBC, key, SecretBytes(copying: iv))
        case .tripleDES(let salt):
            let derived = try Self.derive(hash, salt)
            return try decrypted(
                .tripleDESCBC, derived.withBytes { SecretBytes($0.extracting(..<24)) },
                derived.withBytes { SecretBytes($0.extracting(32..<40)) })
        }
    }

    private func decrypted(
        _ algorithm: BlockCipher.Algorithm, _ key: borrowing SecretBytes, _ iv: borrowing SecretBytes
    ) throws -> SecretBytes? {
        guard !ciphertext.isEmpty, ciphertext.count.isMultiple(of: algorithm.blockSize) else { return nil }
        var plain = try iv.withBytes { iv throws(CryptographyFailure) in
            try BlockCipher.decrypt(ciphertext.span, algorithm, key: key, iv: iv)
        }
        guard plain.removePadding(blockSize: algorithm.blockSize) else { return nil }
        return plain
    }

    /// The 40 bytes of key and vector of the older scheme.
    private static func derive(_ hash: borrowing SecretBytes, _ salt: [UInt8]) throws -> SecretBytes {
        var input = hash.copy()
        input.append(salt.span)
        var hmac = try HMAC(.sha1, key: HashFunction.sha1.hash(input))
        let padded = salt + [UInt8](repeating: 0, count: max(0, 20 - salt.count))
        var derived = SecretBytes(capacity: 40)
        try hmac.update(padded.span)
        try hmac.update(salt.span)
        try hmac.finalize(into: &derived)
        let second = try hmac.authenticate(padded.span)
        try hmac.update(second.span)
        try hmac.update(salt.span)
        try hmac.finalize(into: &derived)
        return derived
    }
}
