package import KCByteStreams
package import KCCryptography

/// ChaCha20 as the key stream for all protected values, which are encrypted in document order.
package final class KDBXChaCha20 {
    private var cipher: BlockCipher

    package init(key: borrowing SecretBytes) throws(CryptographyFailure) {
        let hash = try HashFunction.sha512.hash(key)
        let cipherKey = hash.withBytes { SecretBytes($0.extracting(..<32)) }
        let nonce = hash.withBytes { bytes in (32..<44).map { bytes[$0] } }
        // A counter that starts at zero, and the nonce.
        cipher = try BlockCipher(.chaCha20, .encrypt, key: cipherKey, iv: ([0, 0, 0, 0] + nonce).span)
    }

    /// Encrypts or decrypts the next value.
    package func process(_ value: inout SecretBytes) throws(CryptographyFailure) {
        if !value.isEmpty { try cipher.process(inPlace: &value) }
    }
}
