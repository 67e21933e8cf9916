internal import KCByteStreams
internal import KCCryptography

/// The chunks of a payload: 64 KiB each, numbered, the last one marked (C2SP age, "Payload").
struct ChunkCipher: ~Copyable {
    /// The size of the plaintext of every chunk but the last, in bytes.
    static let plaintextSize = 65_536
    /// The size of the ciphertext of every chunk but the last, in bytes.
    static let ciphertextSize = plaintextSize + authenticationTagLength
    /// The size of the nonce that precedes the chunks, in bytes.
    static let nonceSize = 16

    private var cipher: AuthenticatedCipher
    /// The number of the next chunk.
    private(set) var number: UInt64 = 0

    init(fileKey: borrowing SecretBytes, nonce: [UInt8]) throws(AgeFailure) {
        let key = try cryptography(HKDF.derive(inputKey: fileKey, salt: nonce, info: Array("payload".utf8), count: 32))
        cipher = try cryptography(AuthenticatedCipher(.chaCha20Poly1305, key: key))
    }

    /// Appends the encrypted chunk.
    mutating func seal(
        _ chunk: borrowing Span<UInt8>, isLast: Bool, into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.seal(chunk, nonce: nonce(isLast: isLast), associatedData: Span(), into: &output)
        number += 1
    }

    /// Appends the decrypted chunk; if it is not authentic, nothing changes.
    mutating func open(
        _ chunk: borrowing Span<UInt8>, isLast: Bool, into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.open(chunk, nonce: nonce(isLast: isLast), associatedData: Span(), into: &output)
        number += 1
    }

    /// Eleven bytes of chunk number, big-endian, and one byte that marks the last chunk.
    ///
    /// No file has 2⁶⁴ chunks, so the number cannot repeat.
    private func nonce(isLast: Bool) -> Nonce {
        Nonce(field: UInt32(number >> 56), counter: number << 8 | (isLast ? 1 : 0))
    }
}
