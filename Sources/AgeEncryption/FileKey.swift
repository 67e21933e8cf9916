internal import ByteStreams
internal import Cryptography

/// The 128-bit key of one file: how it is wrapped, and what is derived from it.
enum FileKey {
    static let length = 16
    private static let wrappedLength = length + authenticationTagLength

    /// Encrypts the file key under a key that is used for this alone, hence the nonce of zeros.
    static func wrap(
        _ fileKey: borrowing SecretBytes, with wrapKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        var cipher = try ChaCha20Poly1305(key: wrapKey)
        var body = SecretBytes(capacity: wrappedLength)
        try fileKey.withBytes { bytes throws(CryptographyFailure) in
            try cipher.seal(bytes, nonce: .zero, associatedData: Span(), into: &body)
        }
        return body.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    /// Decrypts a stanza's body; nil when it was not made for `wrapKey`.
    static func unwrap(
        _ body: [UInt8], with wrapKey: borrowing SecretBytes
    ) throws(AgeFailure) -> SecretBytes? {
        // The length is checked before decrypting, so that no body fits two keys (partitioning oracle).
        guard body.count == wrappedLength else { throw .malformedHeader("a wrapped file key has 32 bytes") }
        var fileKey = SecretBytes(capacity: length)
        do throws(CryptographyFailure) {
            var cipher = try ChaCha20Poly1305(key: wrapKey)
            try cipher.open(body.span, nonce: .zero, associatedData: Span(), into: &fileKey)
        } catch {
            if error == .authentication { return nil }
            throw .cryptography(error)
        }
        return fileKey
    }

    /// The 32-byte code over a header up to and including its `---`.
    static func headerCode(
        _ header: [UInt8], _ fileKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        let key = try HKDF.derive(inputKey: fileKey, salt: [], info: Array("header".utf8), count: 32)
        var hmac = try HMACSHA256(key: key)
        return try hmac.authenticate(header.span)
    }

    /// The key of the payload that begins with `nonce`.
    static func payloadKey(
        _ fileKey: borrowing SecretBytes, nonce: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.derive(inputKey: fileKey, salt: nonce, info: Array("payload".utf8), count: 32)
    }
}
