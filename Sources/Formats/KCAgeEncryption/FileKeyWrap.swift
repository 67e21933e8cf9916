internal import KCByteStreams
internal import KCCryptography

/// Wraps a file key under a key that is used only once.
enum FileKeyWrap {
    // The nonce is fixed at zero: each wrapping key comes from a fresh share or salt and wraps exactly one file key.

    static func wrap(
        _ fileKey: borrowing SecretBytes, under key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: key)
        var wrapped = SecretBytes(capacity: wrappedFileKeySize)
        try fileKey.withBytes { bytes throws(CryptographyFailure) in
            try cipher.seal(bytes, nonce: .zero, associatedData: Span(), into: &wrapped)
        }
        return wrapped.withBytes { span in span.indices.map { span[$0] } }
    }

    /// Unwraps a file key; nil if the tag is invalid.
    static func unwrap(
        _ wrapped: [UInt8], under key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes? {
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: key)
        var fileKey = SecretBytes(capacity: fileKeySize)
        do {
            try cipher.open(wrapped.span, nonce: .zero, associatedData: Span(), into: &fileKey)
        } catch .authentication {
            return nil
        }
        return fileKey
    }
}
