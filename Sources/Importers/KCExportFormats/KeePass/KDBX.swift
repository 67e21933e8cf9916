package import KCByteStreams
package import KCCryptography

/// The constants of KDBX 4 and 3.1; all numbers are little-endian.
///
/// Source: keepass.info/help/kb/kdbx.html, and the reader of KeePassXC.
package enum KDBX {
    package static let signature: [UInt8] = [0x03, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5]

    /// The UUID of the key derivation with Argon2id.
    package static let argon2id = "9e298b1956db4773b23dfc3ec6f0a1e6"

    /// The seconds from the year 1, where KDBX times begin, to 1970.
    package static let secondsBefore1970: Int64 = 62_135_596_800

    /// A field of the outer header.
    package enum Field: UInt8 {
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
    package enum Cipher: String {
        case aes256 = "31c1f2e6bf714350be5805216afc5aff"
        case chaCha20 = "d6038a2b8b6f4cb5a524339a31dbb59a"
        case twofish = "ad68f29f576f4bb9a36ad47af965346c"

        /// True for a cipher that encrypts blocks of 16 bytes, the last of which is padded.
        package var isOfBlocks: Bool { self != .chaCha20 }

        /// The size of an initialization vector in bytes.
        package var ivLength: Int { isOfBlocks ? 16 : 12 }
    }

    /// The cipher that protects values in memory and in the XML.
    package enum Stream: UInt32 {
        case none = 0
        case salsa20 = 2
        case chaCha20 = 3
    }

    /// The 16 bytes of a UUID given in this source file.
    package static func bytes(ofUUID hexadecimal: String) -> [UInt8] {
        guard let bytes = Hexadecimal.decode(hexadecimal) else { preconditionFailure("it is in hexadecimal") }
        return bytes
    }

    package static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<(number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// The keys of a file that are derived from its transformed key.
package final class KDBXKeys {
    /// The key of the payload.
    package let payload: SecretBytes
    private let authentication: SecretBytes

    package init(seed: [UInt8], transformed: borrowing SecretBytes) throws(CryptographyFailure) {
        var input = SecretBytes(copying: seed)
        transformed.withBytes { input.append($0) }
        payload = try HashFunction.sha256.hash(input)
        input.append(1)
        authentication = try HashFunction.sha512.hash(input)
    }

    /// The authentication code of the header.
    package func code(ofHeader header: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMAC(key: key(ofBlock: .max))
        return try hmac.authenticate(header)
    }

    /// The authentication code of a block of ciphertext.
    package func code(ofBlock number: UInt64, _ data: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
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
package struct KDBXCompositeKey: ~Copyable {
    private var input = SecretBytes(capacity: 64)

    package init() {}

    package mutating func add(password: borrowing SecretBytes) throws(CryptographyFailure) {
        try HashFunction.sha256.hash(password, into: &input)
    }

    package mutating func add(keyFile: borrowing SecretBytes) {
        keyFile.withBytes { input.append($0) }
    }

    package func bytes() throws(CryptographyFailure) -> SecretBytes {
        try HashFunction.sha256.hash(input)
    }
}
