internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The encryption of a vault: AES-256-CBC, with HMAC-SHA-256 over all that precedes the code.
struct OPVaultSeal {
    /// A key to encrypt and one to authenticate.
    final class Pair {
        let encryption: SecretBytes
        let authentication: SecretBytes

        /// Takes 64 bytes apart.
        init(_ bytes: borrowing SecretBytes) {
            encryption = bytes.withBytes { SecretBytes($0.extracting(0..<32)) }
            authentication = bytes.withBytes { SecretBytes($0.extracting(32..<64)) }
        }
    }

    /// The keys of a vault.
    final class Keys {
        /// For the keys of records.
        let master: Pair
        /// For titles, addresses and folders.
        let overview: Pair

        fileprivate init(master: Pair, overview: Pair) {
            self.master = master
            self.overview = overview
        }
    }

    /// The maximum number of rounds: ten times as many as 1Password uses, which no signal can interrupt for about a second.
    private static let roundLimit: Int64 = 1_000_000

    private let rounds: Int
    private let salt: [UInt8]
    private let masterKey: [UInt8]
    private let overviewKey: [UInt8]

    /// Reads the parameters in a profile.
    init(_ profile: ForeignJSON) throws(ForeignFailure) {
        let root = profile.root
        func bytes(_ name: String) throws(ForeignFailure) -> [UInt8] {
            guard let text = try profile.optionalText(root[name]), let bytes = Base64.decode(text) else {
                throw .damaged("'\(name)' of its profile is missing or not base64")
            }
            return bytes
        }
        guard let rounds = profile.integer(root["iterations"]), rounds > 0 else {
            throw .damaged("'iterations' of its profile is missing")
        }
        guard rounds <= Self.roundLimit else {
            throw .limit("rounds", found: UInt64(rounds), allowed: UInt64(Self.roundLimit))
        }
        self.rounds = Int(rounds)
        salt = try bytes("salt")
        masterKey = try bytes("masterKey")
        overviewKey = try bytes("overviewKey")
    }

    /// Derives the keys.
    ///
    /// - Throws: `ForeignFailure.wrongPasswordOrDamaged`, `CryptographyFailure`.
    func open(_ password: borrowing SecretBytes) throws -> Keys {
        let derived = Pair(
            try PBKDF2.derive(password: password, salt: salt.span, rounds: rounds, hash: .sha512, count: 64))
        func pair(_ sealed: [UInt8]) throws -> Pair {
            do {
                return Pair(try Self.open(sealed.span, derived).withBytes { try HashFunction.sha512.hash($0) })
            } catch is Mismatch {
                throw ForeignFailure.wrongPasswordOrDamaged
            }
        }
        return Keys(master: try pair(masterKey), overview: try pair(overviewKey))
    }

    /// An encrypted part does not have the code that its key gives it.
    struct Mismatch: Error {}

    // MARK: opdata01

    private static let magic = "opdata01"
    private static let codeLength = 32
    private static let blockSize = 16

    /// The text in a block of the form "opdata01": a length, an IV, the text behind random bytes, and the code.
    ///
    /// - Throws: `Mismatch`, `ForeignFailure.damaged`, `CryptographyFailure`.
    static func open(_ bytes: borrowing Span<UInt8>, _ keys: Pair) throws -> SecretBytes {
        let start = magic.utf8.count + 8 + blockSize
        guard bytes.starts(with: magic), bytes.count >= start + blockSize + codeLength,
            (bytes.count - start - codeLength).isMultiple(of: blockSize)
        else { throw ForeignFailure.damaged("an encrypted part is not of the form 'opdata01'") }
        let end = bytes.count - codeLength
        try requireCode(of: bytes, keys)
        var cursor = ByteCursor(magic.utf8.count..<bytes.count, .littleEndian)
        let length = try cursor.uint64(in: bytes)
        let iv = bytes.array(try cursor.take(blockSize))
        let text = try BlockCipher.decrypt(
            bytes.extracting(start..<end), .aes256CBC, key: keys.encryption, iv: iv.span)
        guard length < UInt64(text.count), UInt64(text.count) - length <= UInt64(blockSize) else {
            throw ForeignFailure.damaged("an encrypted part has another length than it states")
        }
        return text.withBytes { SecretBytes($0.extracting((text.count - Int(length))...)) }
    }

    /// The keys of a record, 64 bytes.
    ///
    /// - Throws: as `open`.
    static func itemKeys(_ bytes: borrowing Span<UInt8>, _ keys: Pair) throws -> SecretBytes {
        guard bytes.count == blockSize + 64 + codeLength else {
            throw ForeignFailure.damaged("its keys have another length than keys have")
        }
        try requireCode(of: bytes, keys)
        return try BlockCipher.decrypt(
            bytes.extracting(blockSize..<blockSize + 64), .aes256CBC, key: keys.encryption,
            iv: bytes.extracting(0..<blockSize))
    }

    private static func requireCode(of bytes: borrowing Span<UInt8>, _ keys: Pair) throws {
        let end = bytes.count - codeLength
        var hmac = try HMAC(key: keys.authentication)
        try hmac.update(bytes.extracting(0..<end))
        guard constantTimeEqual(try hmac.finalize(), bytes.array(end..<bytes.count)) else { throw Mismatch() }
    }
}
