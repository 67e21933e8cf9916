internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats

/// The key stream for all protected values, which are encrypted in document order.
final class KDBXStream {
    private var chaCha20: KDBXChaCha20?
    private var salsa20: Salsa20?

    init(_ stream: KDBX.Stream, key: borrowing SecretBytes) throws(CryptographyFailure) {
        switch stream {
        case .none: break
        case .chaCha20: chaCha20 = try KDBXChaCha20(key: key)
        case .salsa20:
            let hash = try HashFunction.sha256.hash(key)
            salsa20 = try Salsa20(key: hash, nonce: [0xe8, 0x30, 0x09, 0x4b, 0x97, 0x20, 0x5d, 0x2a])
        }
    }

    /// Encrypts or decrypts the next value.
    func process(_ value: inout SecretBytes) throws(CryptographyFailure) {
        try chaCha20?.process(&value)
        try salsa20?.process(inPlace: &value)
    }
}
