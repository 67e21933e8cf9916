internal import ByteStreams
internal import Cryptography

/// The chunks of a payload: 64 KiB each, numbered, the last one marked (C2SP age, "Payload").
struct ChunkCipher: ~Copyable {
    /// Plaintext bytes of every chunk but the last.
    static let plaintextSize = 65_536
    /// Ciphertext bytes of every chunk but the last.
    static let ciphertextSize = plaintextSize + authenticationTagLength
    /// Bytes of the nonce that precedes the chunks.
    static let nonceSize = 16

    private var cipher: ChaCha20Poly1305
    private var counter: UInt64 = 0

    init(fileKey: borrowing SecretBytes, nonce: [UInt8]) throws(AgeFailure) {
        cipher = try cryptography { () throws(CryptographyFailure) in
            let key = try HKDF.derive(inputKey: fileKey, salt: nonce, info: Array("payload".utf8), count: 32)
            return try ChaCha20Poly1305(key: key)
        }
    }

    /// Appends the sealed chunk.
    mutating func seal(
        _ chunk: borrowing Span<UInt8>, isLast: Bool, into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.seal(chunk, nonce: nextNonce(isLast), associatedData: Span(), into: &output)
        counter += 1
    }

    /// Appends the opened chunk.
    mutating func open(
        _ chunk: borrowing Span<UInt8>, isLast: Bool, into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.open(chunk, nonce: nextNonce(isLast), associatedData: Span(), into: &output)
        counter += 1
    }

    /// Eleven bytes of counter and one that marks the last chunk. 2⁶⁴ chunks are more than any file has, so the upper
    /// three bytes of the counter stay zero.
    private func nextNonce(_ isLast: Bool) throws(CryptographyFailure) -> Nonce {
        var bytes = [UInt8](repeating: 0, count: 12)
        for index in 0..<8 { bytes[3 + index] = UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index)) }
        bytes[11] = isLast ? 1 : 0
        guard let nonce = Nonce(bytes: bytes) else {
            throw .unsupportedParameters("a nonce has twelve bytes")
        }
        return nonce
    }
}
