internal import KCByteStreams
internal import KCCryptography

/// The key stream for all protected values, which are encrypted in document order.
final class KDBXStream {
    private var chaCha20: BlockCipher?
    private var salsa20: Salsa20?

    init(_ stream: KDBX.Stream, key: borrowing SecretBytes) throws(CryptographyFailure) {
        switch stream {
        case .none: break
        case .chaCha20:
            let hash = try HashFunction.sha512.hash(key)
            let cipherKey = hash.withBytes { SecretBytes($0.extracting(..<32)) }
            let nonce = hash.withBytes { bytes in (32..<44).map { bytes[$0] } }
            // A counter that starts at zero, and the nonce.
            chaCha20 = try BlockCipher(.chaCha20, .encrypt, key: cipherKey, iv: ([0, 0, 0, 0] + nonce).span)
        case .salsa20:
            let hash = try HashFunction.sha256.hash(key)
            salsa20 = try Salsa20(key: hash, nonce: [0xe8, 0x30, 0x09, 0x4b, 0x97, 0x20, 0x5d, 0x2a])
        }
    }

    /// Encrypts or decrypts the next value.
    func process(_ value: inout SecretBytes) throws(CryptographyFailure) {
        if value.isEmpty { return }
        try chaCha20?.process(inPlace: &value)
        try salsa20?.process(inPlace: &value)
    }
}
