internal import CKCLibCrypto
package import KCByteStreams

/// Diffie-Hellman on Curve25519 (RFC 7748).
package enum X25519 {
    /// Generates a private key: 32 random bytes.
    package static func generatePrivateKey() throws(CryptographyFailure) -> SecretBytes {
        try RandomBytes.secret(count: 32)
    }

    /// The 32-byte public key of a 32-byte private key.
    package static func publicKey(of privateKey: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        try RawKey(EVP_PKEY_X25519, privateKey: privateKey).publicKey()
    }

    /// The 32-byte shared secret; feed it to a KDF, never to a cipher.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if the result is all zero, which a public key of small order
    ///   forces; `unsupportedParameters`; `library`).
    package static func sharedSecret(
        privateKey: borrowing SecretBytes, publicKey: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        let own = try RawKey(EVP_PKEY_X25519, privateKey: privateKey)
        let peer = try RawKey(EVP_PKEY_X25519, publicKey: publicKey)
        return try own.sharedSecret(with: peer)
    }
}

/// Signatures on edwards25519 (RFC 8032, pure Ed25519).
package enum Ed25519 {
    /// The 32-byte public key of a 32-byte seed.
    package static func publicKey(seed: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        try RawKey(EVP_PKEY_ED25519, privateKey: seed).publicKey()
    }

    /// The 64-byte signature of `message`; deterministic.
    package static func sign(
        _ message: borrowing Span<UInt8>, seed: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        try RawKey(EVP_PKEY_ED25519, privateKey: seed).sign(message)
    }

    /// True if `signature` is a valid signature of `message` by `publicKey`, which must be usable.
    ///
    /// - Throws: `CryptographyFailure.library` if libcrypto cannot check; a signature of the wrong length is invalid.
    package static func isValid(
        signature: [UInt8], of message: borrowing Span<UInt8>, publicKey: [UInt8]
    ) throws(CryptographyFailure) -> Bool {
        guard signature.count == 64, isUsable(publicKey: publicKey) else { return false }
        return try RawKey(EVP_PKEY_ED25519, publicKey: publicKey).isValid(signature, of: message)
    }

    /// The u-coordinate of a public key on Curve25519, the public key of X25519 for the scalar of `agreementKey`.
    ///
    /// - Returns: nil for a key that is not usable, or no point of the curve.
    package static func agreementKey(ofPublicKey publicKey: [UInt8]) -> [UInt8]? {
        guard isUsable(publicKey: publicKey) else { return nil }
        var coordinate = [UInt8](repeating: 0, count: 32)
        guard unsafe kcbackup_montgomery(publicKey, &coordinate) == 1 else {
            ERR_clear_error()
            return nil
        }
        return coordinate
    }

    /// The private key of X25519 that belongs to the same point as a seed of 32 bytes (RFC 8032, section 5.1.5).
    package static func agreementKey(ofSeed seed: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes {
        var key = try HashFunction.sha512.hash(seed)
        key.removeLast(32)
        return key
    }

    /// False for a public key of small order or in a non-canonical encoding.
    ///
    /// RFC 8032 leaves both to the verifier, and libcrypto accepts them. Under a point of small order, one signature is
    /// valid for every message or every eighth one, so it proves nothing. libcrypto itself rejects an S that is not
    /// below the group order.
    package static func isUsable(publicKey: [UInt8]) -> Bool {
        guard publicKey.count == 32 else { return false }
        var y = publicKey
        y[31] &= 0x7f
        // The coordinate is little-endian and must be below p = 2^255 - 19.
        let isReduced = y[31] != 0x7f || y[0] < 0xed || y[1..<31].contains { $0 != 0xff }
        return isReduced && !smallOrderCoordinates.contains(Hexadecimal.encode(y))
    }

    /// The y coordinates of the eight points of small order, without the sign of x (Chalkias, Garillot, Nikolaenko:
    /// "Taming the many EdDSAs", 2020, table 1; the same list as in libsodium).
    private static let smallOrderCoordinates = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]
}

/// Owns libcrypto's representation of a 32-byte key.
@safe private struct RawKey: ~Copyable {
    private let pointer: OpaquePointer

    init(_ kind: Int32, privateKey: borrowing SecretBytes) throws(CryptographyFailure) {
        try LibCrypto.require(privateKey.count, is: 32, "private key length")
        let key = unsafe privateKey.withBytes { span in
            unsafe span.withUnsafeBufferPointer { unsafe EVP_PKEY_new_raw_private_key(kind, nil, $0.baseAddress, 32) }
        }
        unsafe pointer = try LibCrypto.require(key, "reading a private key")
    }

    init(_ kind: Int32, publicKey: [UInt8]) throws(CryptographyFailure) {
        try LibCrypto.require(publicKey.count, is: 32, "public key length")
        let key = unsafe EVP_PKEY_new_raw_public_key(kind, nil, publicKey, 32)
        unsafe pointer = try LibCrypto.require(key, "reading a public key")
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    func publicKey() throws(CryptographyFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var length = 32
        try LibCrypto.check(unsafe EVP_PKEY_get_raw_public_key(pointer, &bytes, &length), "making a public key")
        try LibCrypto.require(length, is: 32, "public key length")
        return bytes
    }

    func sharedSecret(with peer: borrowing RawKey) throws(CryptographyFailure) -> SecretBytes {
        let context = unsafe try LibCrypto.require(unsafe EVP_PKEY_CTX_new(pointer, nil), "key agreement")
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try LibCrypto.check(unsafe EVP_PKEY_derive_init(context), "key agreement")
        try LibCrypto.check(unsafe EVP_PKEY_derive_set_peer(context, peer.pointer), "key agreement")
        var secret = SecretBytes(capacity: 32)
        // libcrypto refuses to derive from a point of small order.
        unsafe try secret.append(length: 32, failure: .authentication) { output in
            var length = 32
            return unsafe EVP_PKEY_derive(context, output, &length) == 1 && length == 32 ? 1 : 0
        }
        let zeros = SecretBytes(copying: repeatElement(0, count: 32))
        if constantTimeEqual(secret, zeros) { throw .authentication }
        return secret
    }

    func sign(_ message: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        guard let signature = unsafe EdwardsSignature.sign(message, pointer) else {
            throw LibCrypto.failure("signing")
        }
        return signature
    }

    func isValid(_ signature: [UInt8], of message: borrowing Span<UInt8>) throws(CryptographyFailure) -> Bool {
        guard let isValid = unsafe EdwardsSignature.verify(signature, of: message, pointer) else {
            throw LibCrypto.failure("checking a signature")
        }
        return isValid
    }
}

/// Signatures of messages by keys on Edwards curves (RFC 8032); nil if libcrypto cannot make or check them.
enum EdwardsSignature {
    /// The length of an Ed448 signature in bytes, which is the longest.
    private static let maximumLength = 114

    static func sign(_ message: borrowing Span<UInt8>, _ key: OpaquePointer) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1 else { return nil }
        var signature = [UInt8](repeating: 0, count: maximumLength)
        var length = maximumLength
        let status = unsafe message.withUnsafeBufferPointer { bytes in
            unsafe EVP_DigestSign(context, &signature, &length, bytes.baseAddress, bytes.count)
        }
        return status == 1 ? Array(signature.prefix(length)) : nil
    }

    static func verify(_ signature: [UInt8], of message: borrowing Span<UInt8>, _ key: OpaquePointer) -> Bool? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return nil }
        let status = unsafe message.withUnsafeBufferPointer { bytes in
            unsafe EVP_DigestVerify(context, signature, signature.count, bytes.baseAddress, bytes.count)
        }
        if status != 1 { ERR_clear_error() }
        return status == 1
    }
}
