internal import CKCLibCrypto
package import KCByteStreams

/// A cipher with authentication, 12-byte nonces and 16-byte tags: the only place where sealed bytes are opened.
///
/// libcrypto accepts short tags, and opens ChaCha20-Poly1305 even without one. Therefore the tag always has 16 bytes
/// and is set before the first byte is decrypted, and the plaintext is released only after the final check has
/// succeeded.
///
/// ```swift
/// var cipher = try AuthenticatedCipher(.aes256GCM, key: key)
/// try cipher.seal(plaintext, nonce: nonce, associatedData: header, into: &sealed)
/// ```
@safe package struct AuthenticatedCipher: ~Copyable {
    /// The cipher.
    package enum Algorithm: CaseIterable, Sendable {
        /// AES-256 in Galois/counter mode (NIST SP 800-38D).
        case aes256GCM
        /// RFC 8439.
        case chaCha20Poly1305
    }

    private let pointer: OpaquePointer

    /// Creates a cipher with a 32-byte `key`.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another key length, `library`).
    package init(_ algorithm: Algorithm, key: borrowing SecretBytes) throws(CryptographyFailure) {
        switch algorithm {
        case .aes256GCM: unsafe pointer = try Self.keyed(LibCrypto.aes256GCM, key)
        case .chaCha20Poly1305: unsafe pointer = try Self.keyed(LibCrypto.chaCha20Poly1305, key)
        }
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(pointer)
    }

    private static func keyed(
        _ cipher: OpaquePointer?, _ key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> OpaquePointer {
        let cipher = unsafe try LibCrypto.require(cipher, "finding a cipher")
        let context = unsafe try LibCrypto.require(unsafe EVP_CIPHER_CTX_new(), "making a cipher")
        do throws(CryptographyFailure) {
            try LibCrypto.check(unsafe EVP_CipherInit_ex2(context, cipher, nil, nil, 1, nil), "making a cipher")
            unsafe try setKey(key, context)
        } catch {
            unsafe EVP_CIPHER_CTX_free(context)
            throw error
        }
        return unsafe context
    }

    private static func setKey(_ key: borrowing SecretBytes, _ context: OpaquePointer) throws(CryptographyFailure) {
        try LibCrypto.require(key.count, is: 32, "key length")
        let status = key.withBytes { span in
            unsafe span.withUnsafeBufferPointer { key in
                unsafe EVP_CipherInit_ex2(context, nil, key.baseAddress, nil, 1, nil)
            }
        }
        try LibCrypto.check(status, "setting a key")
    }

    /// Replaces the 32-byte key without creating a new cipher.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another key length, `library`).
    package mutating func setKey(_ key: borrowing SecretBytes) throws(CryptographyFailure) {
        unsafe try Self.setKey(key, pointer)
    }

    /// Appends the ciphertext and its 16-byte tag to `output`; `nonce` must be unique under this key.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` above 2³¹ − 17 bytes, `library`); nothing is appended.
    package mutating func seal(
        _ plaintext: borrowing Span<UInt8>, nonce: Nonce, associatedData: borrowing Span<UInt8>,
        into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        let sealedCount = plaintext.count + authenticationTagLength
        _ = try LibCrypto.int32(sealedCount, "plaintext length")
        try begin(nonce, encrypting: 1)
        try add(associatedData)
        let context = unsafe pointer
        try unsafe plaintext.withUnsafeBufferPointer { input throws(CryptographyFailure) in
            unsafe try output.append(length: sealedCount, failure: .library("sealing")) { sealed in
                let tag = unsafe sealed + input.count
                guard unsafe Self.process(context, input, sealed) == 1, unsafe Self.finish(context, tag) == 1
                else { return 0 }
                return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(authenticationTagLength), tag)
            }
        }
    }

    /// Appends the plaintext of `sealed` (ciphertext and tag) to `output` if the tag is valid.
    ///
    /// - Throws: `CryptographyFailure` (`authentication`, `unsupportedParameters`, `library`); nothing is appended.
    package mutating func open(
        _ sealed: borrowing Span<UInt8>, nonce: Nonce, associatedData: borrowing Span<UInt8>,
        into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        _ = try LibCrypto.int32(sealed.count, "sealed length")
        guard sealed.count >= authenticationTagLength else { throw .authentication }
        let plainCount = sealed.count - authenticationTagLength
        try begin(nonce, encrypting: 0)
        try setTag(sealed.extracting(plainCount...))
        try add(associatedData)
        let context = unsafe pointer
        if plainCount == 0 {
            var nothing: UInt8 = 0
            guard unsafe Self.finish(context, &nothing) == 1 else { throw LibCrypto.authenticationFailure() }
            return
        }
        let ciphertext = sealed.extracting(..<plainCount)
        try unsafe ciphertext.withUnsafeBufferPointer { input throws(CryptographyFailure) in
            unsafe try output.append(length: plainCount, failure: .authentication) { plaintext in
                guard unsafe Self.process(context, input, plaintext) == 1 else { return 0 }
                return unsafe Self.finish(context, plaintext + plainCount)
            }
        }
    }

    private func begin(_ nonce: Nonce, encrypting: Int32) throws(CryptographyFailure) {
        let status = unsafe nonce.withPointer { unsafe EVP_CipherInit_ex2(pointer, nil, nil, $0, encrypting, nil) }
        try LibCrypto.check(status, "setting a nonce")
    }

    private func setTag(_ tag: borrowing Span<UInt8>) throws(CryptographyFailure) {
        let status: Int32 = unsafe tag.withUnsafeBufferPointer { tag in
            guard tag.count == authenticationTagLength, let start = tag.baseAddress else { return 0 }
            // libcrypto copies the tag; the parameter is mutable because one call both gets and sets.
            return unsafe EVP_CIPHER_CTX_ctrl(
                pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), UnsafeMutablePointer(mutating: start))
        }
        try LibCrypto.check(status, "setting a tag")
    }

    private func add(_ associatedData: borrowing Span<UInt8>) throws(CryptographyFailure) {
        let count = try LibCrypto.int32(associatedData.count, "associated data length")
        if count == 0 { return }
        var processed: Int32 = 0
        let status = unsafe associatedData.withUnsafeBufferPointer { data in
            unsafe EVP_CipherUpdate(pointer, nil, &processed, data.baseAddress, count)
        }
        try LibCrypto.check(status, "adding associated data")
    }

    private static func process(
        _ context: OpaquePointer, _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        if input.isEmpty { return 1 }
        var processed: Int32 = 0
        let status = unsafe EVP_CipherUpdate(context, output, &processed, input.baseAddress, Int32(input.count))
        return processed == input.count ? status : 0
    }

    private static func finish(_ context: OpaquePointer, _ end: UnsafeMutablePointer<UInt8>) -> Int32 {
        var processed: Int32 = 0
        let status = unsafe EVP_CipherFinal_ex(context, end, &processed)
        return processed == 0 ? status : 0
    }
}

/// The length of an AEAD tag in bytes, and the only one accepted when opening.
package let authenticationTagLength = 16
