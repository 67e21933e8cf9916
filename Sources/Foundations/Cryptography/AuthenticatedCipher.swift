package import ByteStreams
internal import CLibCrypto

/// AES-256 in Galois/counter mode (NIST SP 800-38D) with 12-byte nonces and 16-byte tags.
package struct AES256GCM: ~Copyable {
    private var cipher: CipherContext

    /// Creates a cipher with a 32-byte `key`.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another key length, `library`).
    package init(key: borrowing SecretBytes) throws(CryptographyFailure) {
        cipher = unsafe try CipherContext(LibCrypto.aes256GCM, key: key)
    }

    /// Replaces the 32-byte key without creating a new cipher.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another key length, `library`).
    package mutating func setKey(_ key: borrowing SecretBytes) throws(CryptographyFailure) {
        try cipher.setKey(key)
    }

    /// Appends the ciphertext and its 16-byte tag to `output`; `nonce` must be unique under this key.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` above 2³¹ − 17 bytes, `library`); nothing is appended.
    package mutating func seal(
        _ plaintext: borrowing Span<UInt8>, nonce: Nonce, associatedData: borrowing Span<UInt8>,
        into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.seal(plaintext, nonce: nonce, associatedData: associatedData, into: &output)
    }

    /// Appends the plaintext of `sealed` (ciphertext and tag) to `output` if the tag is valid.
    ///
    /// - Throws: `CryptographyFailure` (`authentication`, `unsupportedParameters`, `library`); nothing is appended.
    package mutating func open(
        _ sealed: borrowing Span<UInt8>, nonce: Nonce, associatedData: borrowing Span<UInt8>,
        into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.open(sealed, nonce: nonce, associatedData: associatedData, into: &output)
    }
}

/// ChaCha20-Poly1305 (RFC 8439) with 12-byte nonces and 16-byte tags.
package struct ChaCha20Poly1305: ~Copyable {
    private var cipher: CipherContext

    /// Creates a cipher with a 32-byte `key`.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another key length, `library`).
    package init(key: borrowing SecretBytes) throws(CryptographyFailure) {
        cipher = unsafe try CipherContext(LibCrypto.chaCha20Poly1305, key: key)
    }

    /// Replaces the 32-byte key without creating a new cipher.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another key length, `library`).
    package mutating func setKey(_ key: borrowing SecretBytes) throws(CryptographyFailure) {
        try cipher.setKey(key)
    }

    /// Appends the ciphertext and its 16-byte tag to `output`; `nonce` must be unique under this key.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` above 2³¹ − 17 bytes, `library`); nothing is appended.
    package mutating func seal(
        _ plaintext: borrowing Span<UInt8>, nonce: Nonce, associatedData: borrowing Span<UInt8>,
        into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.seal(plaintext, nonce: nonce, associatedData: associatedData, into: &output)
    }

    /// Appends the plaintext of `sealed` (ciphertext and tag) to `output` if the tag is valid.
    ///
    /// - Throws: `CryptographyFailure` (`authentication`, `unsupportedParameters`, `library`); nothing is appended.
    package mutating func open(
        _ sealed: borrowing Span<UInt8>, nonce: Nonce, associatedData: borrowing Span<UInt8>,
        into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        try cipher.open(sealed, nonce: nonce, associatedData: associatedData, into: &output)
    }
}

/// The length of an AEAD tag in bytes, and the only one accepted when opening.
package let authenticationTagLength = 16
