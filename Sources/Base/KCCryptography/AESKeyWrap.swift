internal import CKCLibCrypto
package import KCByteStreams

/// AES key wrap (RFC 3394) with 256-bit keys and the initial value of its section 2.2.3.1.
package enum AESKeyWrap {
    /// The number of bytes that wrapping adds to a key.
    package static let overhead = 8

    /// Wraps `key` (16, 24 or 32 bytes) under the 32-byte `wrappingKey`; the result is 8 bytes longer.
    package static func wrap(
        _ key: borrowing SecretBytes, with wrappingKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        guard [16, 24, 32].contains(key.count) else { throw .unsupportedParameters("length of the key to wrap") }
        let wrapped = try key.withBytes { bytes throws(CryptographyFailure) in
            try process(
                bytes, wrappingKey, encrypting: 1, resultCount: bytes.count + overhead, failure: .library("AES-KW"))
        }
        return wrapped.withBytes { span in span.indices.map { span[$0] } }
    }

    /// Unwraps a key that `wrap` wrapped under the same `wrappingKey`.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` for a wrong key or altered data, `unsupportedParameters`,
    ///   `library`).
    package static func unwrap(
        _ wrapped: [UInt8], with wrappingKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        guard [24, 32, 40].contains(wrapped.count) else { throw .unsupportedParameters("length of the wrapped key") }
        return try process(
            wrapped.span, wrappingKey, encrypting: 0, resultCount: wrapped.count - overhead, failure: .authentication)
    }

    private static func process(
        _ input: borrowing Span<UInt8>, _ wrappingKey: borrowing SecretBytes, encrypting: Int32, resultCount: Int,
        failure: CryptographyFailure
    ) throws(CryptographyFailure) -> SecretBytes {
        try LibCrypto.require(wrappingKey.count, is: 32, "wrapping key length")
        let context = unsafe try LibCrypto.require(unsafe EVP_CIPHER_CTX_new(), "making a cipher")
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        let status = wrappingKey.withBytes { span in
            unsafe span.withUnsafeBufferPointer { key in
                unsafe EVP_CipherInit_ex2(context, LibCrypto.aes256Wrap, key.baseAddress, nil, encrypting, nil)
            }
        }
        try LibCrypto.check(status, "setting a wrapping key")

        // libcrypto may use all the space of the wrapped form while unwrapping.
        var result = SecretBytes(capacity: resultCount + overhead)
        let roomNeeded = max(resultCount, input.count)
        try unsafe input.withUnsafeBufferPointer { input throws(CryptographyFailure) in
            unsafe try result.append(length: roomNeeded, failure: failure) { output in
                var processed: Int32 = 0
                let status = unsafe EVP_CipherUpdate(context, output, &processed, input.baseAddress, Int32(input.count))
                return status == 1 && processed == resultCount ? 1 : 0
            }
        }
        result.removeLast(roomNeeded - resultCount)
        return result
    }
}
