internal import CKCLibCrypto
package import KCByteStreams

/// A private key; libcrypto holds its numbers and wipes them when the last owner releases it.
@safe package final class PrivateKey: @unchecked Sendable {
    /// libcrypto's object, never changed after initialization.
    let pointer: OpaquePointer
    /// The public half; the point of an elliptic curve is in uncompressed form.
    package let publicKey: PublicKey

    /// The algorithm.
    package var kind: KeyKind { publicKey.kind }
    /// The size in bits, as in `PublicKey.sizeInBits`.
    package var sizeInBits: Int { publicKey.sizeInBits }
    /// SHA-1 of the public key, which links the key (`klbl`) to its certificate (`pkhh`).
    package var publicKeyHash: [UInt8] { publicKey.hash }

    /// Takes ownership of `pointer`, an `EVP_PKEY` with its private half.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the two halves of an elliptic key do not match, `tooLarge`,
    ///   `unsupported`); the pointer is then freed.
    init(adopting pointer: OpaquePointer) throws(CertificateFailure) {
        do throws(CertificateFailure) {
            publicKey = unsafe try Self.checked(pointer)
        } catch {
            unsafe EVP_PKEY_free(pointer)
            throw LibCrypto.failing(error)
        }
        unsafe self.pointer = unsafe pointer
    }

    /// Shares ownership of a key.
    init(sharing key: PrivateKey) {
        unsafe EVP_PKEY_up_ref(key.pointer)
        unsafe pointer = key.pointer
        publicKey = key.publicKey
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    private static func checked(_ pointer: OpaquePointer) throws(CertificateFailure) -> PublicKey {
        try CertificateLimit.keySize.check(Int(unsafe EVP_PKEY_get_bits(pointer)))
        if unsafe EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC {
            let status = unsafe EVP_PKEY_set_utf8_string_param(
                pointer, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed")
            try LibCrypto.check(status, else: .library("setting the form of a point"))
            let context = unsafe EVP_PKEY_CTX_new(pointer, nil)
            defer { unsafe EVP_PKEY_CTX_free(context) }
            // A file holds both halves, and the public half identifies the certificate.
            try LibCrypto.check(
                unsafe EVP_PKEY_pairwise_check(context),
                else: .malformed("the public half does not belong to the private key"))
        }
        return unsafe try PublicKey(of: pointer)
    }

    /// The unencrypted PKCS#8 DER of the key (RFC 5958).
    package func pkcs8() throws(CertificateFailure) -> SecretBytes {
        let info = unsafe EVP_PKEY2PKCS8(pointer)
        let object = unsafe try LibCryptoObject(
            info, freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) }, else: .library("encoding a key"))
        let raw = unsafe object.pointer
        return unsafe try LibCrypto.encodedSecret { unsafe i2d_PKCS8_PRIV_KEY_INFO(raw, $0) }
    }

    /// The PKCS#8 DER of the key, encrypted with AES-256-CBC under PBKDF2 with HMAC-SHA-256.
    package func encryptedPKCS8(
        passphrase: borrowing SecretBytes, iterations: Int = PKCS12.defaultIterations
    ) throws(CertificateFailure) -> SecretBytes {
        let cost = try CertificateLimit.iterations.checkedCount(iterations)
        var salt = try Self.salt()
        let info = unsafe EVP_PKEY2PKCS8(pointer)
        let object = unsafe try LibCryptoObject(
            info, freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) }, else: .library("encoding a key"))
        let plain = unsafe object.pointer
        let made = unsafe try Passphrase.bytes.with(passphrase) { passphrase, length in
            unsafe PKCS8_encrypt_ex(
                -1, EVP_aes_256_cbc(), passphrase, length, &salt, Int32(salt.count), cost, plain, nil, nil)
        }
        let sealed = unsafe try LibCryptoObject(
            made, freedBy: { unsafe X509_SIG_free($0) }, else: .library("encrypting a key"))
        let raw = unsafe sealed.pointer
        return unsafe try LibCrypto.encodedSecret { unsafe i2d_X509_SIG(raw, $0) }
    }

    /// The "traditional" DER of OpenSSL: RSAPrivateKey of PKCS#1 for RSA, ECPrivateKey of SEC 1 for elliptic curves.
    ///
    /// - Throws: `CertificateFailure` (`unsupported` for other kinds of keys, which have no such form; `library`).
    package func traditional() throws(CertificateFailure) -> SecretBytes {
        guard kind == .rsa || kind == .ec else { throw .unsupported("a key that only PKCS#8 can hold") }
        return unsafe try LibCrypto.encodedSecret { unsafe i2d_PrivateKey(pointer, $0) }
    }

    static func salt() throws(CertificateFailure) -> [UInt8] {
        do throws(CryptographyFailure) {
            return try RandomBytes.bytes(count: 16)
        } catch {
            throw .library("making a salt")
        }
    }
}

extension CertificateLimit {
    /// A positive count within the limit, as libcrypto's type.
    func checkedCount(_ count: Int) throws(CertificateFailure) -> Int32 {
        try check(count)
        guard count >= 1, let count = Int32(exactly: count) else { throw .malformed("a count is not positive") }
        return count
    }
}
