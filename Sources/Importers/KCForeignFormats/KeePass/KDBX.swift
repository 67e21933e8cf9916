internal import KCByteStreams
internal import KCCryptography

/// The constants of KDBX 4 and 3.1; all numbers are little-endian.
///
/// Source: keepass.info/help/kb/kdbx.html, and the reader of KeePassXC.
enum KDBX {
    static let signature: [UInt8] = [0x03, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5]

    /// The seconds from the year 1, where KDBX times begin, to 1970.
    static let secondsBefore1970: Int64 = 62_135_596_800

    /// A field of the outer header.
    enum Field: UInt8 {
        case end = 0
        case comment = 1
        case cipher = 2
        case compression = 3
        case masterSeed = 4
        case transformSeed = 5
        case transformRounds = 6
        case iv = 7
        case streamKey = 8
        case startBytes = 9
        case streamCipher = 10
        case derivation = 11
        case publicData = 12
    }

    /// The cipher for the whole file.
    enum Cipher: String {
        case aes256 = "31c1f2e6bf714350be5805216afc5aff"
        case chaCha20 = "d6038a2b8b6f4cb5a524339a31dbb59a"
        case twofish = "ad68f29f576f4bb9a36ad47af965346c"

        /// True for a cipher that encrypts blocks of 16 bytes, the last of which is padded.
        var isOfBlocks: Bool { self != .chaCha20 }

        /// The size of an initialization vector in bytes.
        var ivLength: Int { isOfBlocks ? 16 : 12 }
    }

    /// The cipher that protects values in memory and in the XML.
    enum Stream: UInt32 {
        case none = 0
        case salsa20 = 2
        case chaCha20 = 3
    }

    /// The 16 bytes of a UUID given in this source file.
    static func bytes(ofUUID hexadecimal: String) -> [UInt8] {
        guard let bytes = Hexadecimal.decode(hexadecimal) else { preconditionFailure("it is in hexadecimal") }
        return bytes
    }

    static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<(number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// How the key is derived, and made slow to guess.
enum KDBXDerivation: Hashable {
    /// AES-256, applied to the key this many times.
    case aes(rounds: UInt64, seed: [UInt8])
    case argon2(Argon2.Kind, Argon2.Cost, salt: [UInt8])

    static let aesNames = ["c9d9f39a628a4460bf740d08c18a4fea", "7c02bb8279a74ac0927d114a00648238"]
    static let argon2d = "ef636ddf8c29444b91f7a9a403e30a0c"
    static let argon2id = "9e298b1956db4773b23dfc3ec6f0a1e6"

    // Far more than programs choose; some ten seconds of work.
    static let roundsLimit: UInt64 = 100_000_000
    static let iterationsLimit: UInt64 = 1_000
    // In bytes; more than this may not be available.
    static let memoryLimit: UInt64 = 1 << 30
    static let lanesLimit: UInt32 = 64
    // Passes times memory; a pass over 1 GiB takes some seconds, and cannot be interrupted.
    static let workLimit: UInt64 = 64 << 30

    /// The transformed key, 32 bytes.
    ///
    /// A signal ends the work with AES at once, and that with Argon2 at its end.
    ///
    /// - Throws: `CryptographyFailure`, `StreamFailure` (`interrupted`).
    func transform(_ composite: borrowing SecretBytes) throws -> SecretBytes {
        switch self {
        case .argon2(let kind, let cost, let salt):
            return try Argon2.derive(password: composite, salt: salt, kind, cost, count: 32)
        case .aes(let rounds, let seed):
            let key = SecretBytes(copying: seed)
            var both = SecretBytes(capacity: 32)
            for half in 0..<2 {
                let start = composite.withBytes { bytes in SecretBytes(bytes.extracting(half * 16..<half * 16 + 16)) }
                try Self.encrypt(start, rounds, key, into: &both)
            }
            return try HashFunction.sha256.hash(both)
        }
    }

    /// Encrypts a block repeatedly: CBC over zeros does this, with one call of the library for many rounds.
    private static func encrypt(
        _ block: borrowing SecretBytes, _ rounds: UInt64, _ key: borrowing SecretBytes, into output: inout SecretBytes
    ) throws {
        let roundsAtOnce: UInt64 = 4_096
        var last = block.copy()
        var rest = rounds
        var cipher = try last.withBytes { iv throws(CryptographyFailure) in
            try BlockCipher(.aes256CBC, .encrypt, key: key, iv: iv)
        }
        let empty = [UInt8](repeating: 0, count: Int(min(rounds, roundsAtOnce)) * 16)
        var zeros = SecretBytes(capacity: empty.count)
        while rest > 0 {
            if Interruption.isRequested { throw StreamFailure(.decrypting, .interrupted) }
            let now = min(rest, roundsAtOnce)
            zeros.removeAll()
            zeros.append(empty.span.extracting(..<(Int(now) * 16)))
            try cipher.process(inPlace: &zeros)
            rest -= now
            if rest == 0 {
                last.removeAll()
                zeros.withBytes { bytes in last.append(bytes.extracting((bytes.count - 16)...)) }
            }
        }
        last.withBytes { output.append($0) }
    }
}

/// The keys of a file that are derived from its transformed key.
final class KDBXKeys {
    /// The key of the payload.
    let payload: SecretBytes
    private let authentication: SecretBytes

    init(seed: [UInt8], transformed: borrowing SecretBytes) throws(CryptographyFailure) {
        var input = SecretBytes(copying: seed)
        transformed.withBytes { input.append($0) }
        payload = try HashFunction.sha256.hash(input)
        input.append(1)
        authentication = try HashFunction.sha512.hash(input)
    }

    /// The authentication code of the header.
    func code(ofHeader header: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMAC(key: key(ofBlock: .max))
        return try hmac.authenticate(header)
    }

    /// The authentication code of a block of ciphertext.
    func code(ofBlock number: UInt64, _ data: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMAC(key: key(ofBlock: number))
        try hmac.update(KDBX.littleEndian(number).span)
        try hmac.update(KDBX.littleEndian(UInt32(data.count)).span)
        try hmac.update(data)
        return try hmac.finalize()
    }

    private func key(ofBlock number: UInt64) throws(CryptographyFailure) -> SecretBytes {
        var input = SecretBytes(copying: KDBX.littleEndian(number))
        authentication.withBytes { input.append($0) }
        return try HashFunction.sha512.hash(input)
    }
}

/// The key combined from password and key file, either of which may be missing.
struct KDBXCompositeKey: ~Copyable {
    private var input = SecretBytes(capacity: 64)

    init() {}

    mutating func add(password: borrowing SecretBytes) throws(CryptographyFailure) {
        try HashFunction.sha256.hash(password, into: &input)
    }

    mutating func add(keyFile: borrowing SecretBytes) {
        keyFile.withBytes { input.append($0) }
    }

    func bytes() throws(CryptographyFailure) -> SecretBytes {
        try HashFunction.sha256.hash(input)
    }
}
