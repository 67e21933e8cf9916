internal import ByteStreams
internal import Cryptography

/// The STREAM cipher of a payload: numbered chunks, the last of which says so (C2SP age, "Payload").
struct ChunkCipher: ~Copyable {
    /// Plaintext bytes in every chunk but the last.
    static let plainLength = 65_536
    /// Bytes of such a chunk in the file.
    static let sealedLength = plainLength + authenticationTagLength
    /// Bytes of the nonce that begins a payload.
    static let nonceLength = 16

    private var cipher: ChaCha20Poly1305
    /// The number of the next chunk.
    private(set) var number: UInt64 = 0

    init(payloadKey: borrowing SecretBytes) throws(CryptographyFailure) {
        cipher = try ChaCha20Poly1305(key: payloadKey)
    }

    /// Appends the next chunk, sealed.
    mutating func seal(
        _ plaintext: borrowing SecretBytes, isLast: Bool, into sealed: inout SecretBytes
    ) throws(CryptographyFailure) {
        let nonce = nonce(isLast: isLast)
        try plaintext.withBytes { bytes throws(CryptographyFailure) in
            try cipher.seal(bytes, nonce: nonce, associatedData: Span(), into: &sealed)
        }
        number += 1
    }

    /// Appends the plaintext of the next chunk, which is the first `count` bytes of `sealed`.
    mutating func open(
        _ sealed: borrowing SecretBytes, count: Int, isLast: Bool, into plaintext: inout SecretBytes
    ) throws(CryptographyFailure) {
        let nonce = nonce(isLast: isLast)
        try sealed.withBytes { bytes throws(CryptographyFailure) in
            try cipher.open(bytes.extracting(..<count), nonce: nonce, associatedData: Span(), into: &plaintext)
        }
        number += 1
    }

    /// Eleven bytes of number, big-endian, and one that marks the last chunk.
    ///
    /// The number never comes near 2^64, which would take 10^24 bytes, so it cannot repeat.
    private func nonce(isLast: Bool) -> Nonce {
        Nonce(field: UInt32(number >> 56), counter: number << 8 | (isLast ? 1 : 0))
    }
}
