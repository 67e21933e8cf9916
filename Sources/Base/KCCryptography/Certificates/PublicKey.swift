internal import CKCLibCrypto

/// The algorithm of an asymmetric key.
package enum KeyKind: Hashable, Sendable {
    /// RSA of any use (PKCS#1).
    case rsa
    /// An elliptic curve over a prime field, for signatures and key agreement (SEC 1).
    case ec
    /// Signatures on edwards25519 (RFC 8032).
    case ed25519
    /// Key agreement on Curve25519 (RFC 7748).
    case x25519
    /// Signatures on edwards448 (RFC 8032).
    case ed448
    /// Key agreement on Curve448 (RFC 7748).
    case x448
    /// Any other, by libcrypto's name or its object identifier.
    case other(String)
}

/// A public key, as in a certificate (X.509 SubjectPublicKeyInfo).
package struct PublicKey: Hashable, Sendable {
    /// The algorithm.
    package let kind: KeyKind
    /// Bits of the modulus, of the curve, or (for Edwards and Montgomery curves) of the encoded key; 0 if libcrypto
    /// does not know the algorithm.
    package let sizeInBits: Int
    /// The DER of the SubjectPublicKeyInfo.
    package let subjectPublicKeyInfo: [UInt8]
    /// The content of its BIT STRING, which is how Apple stores a public key: RSAPublicKey of PKCS#1 for RSA, 04 ‖ X ‖
    /// Y for elliptic curves, the bare bytes for others.
    package let externalRepresentation: [UInt8]
    /// SHA-1 of `externalRepresentation`, which links a certificate (`pkhh`) to its private key (`klbl`).
    package let hash: [UInt8]
    /// True if the kind and `externalRepresentation` together determine the key.
    ///
    /// They do not name the elliptic curve, so the length must identify it, as on Apple's systems: P-192, P-224, P-256,
    /// P-384 or P-521.
    package var isWholeInExternalRepresentation: Bool {
        switch kind {
        case .ec: Self.impliedCurves.contains(identity.curve ?? "")
        case .rsa, .ed25519, .x25519, .ed448, .x448: true
        case .other: false
        }
    }
    /// Equal for equal keys, whether their points are compressed or not.
    let identity: Identity

    struct Identity: Hashable, Sendable {
        let curve: String?
        let bytes: [UInt8]
    }

    /// 04 ‖ X ‖ Y for a key of an elliptic curve, whatever the form in which it was read.
    var uncompressedPoint: [UInt8] { [4] + identity.bytes }

    /// Reads the DER of a SubjectPublicKeyInfo.
    package init(der: [UInt8]) throws(CertificateFailure) {
        try CertificateLimit.fileSize.check(der.count)
        defer { ERR_clear_error() }
        let key = unsafe try LibCryptoObject(
            decoding: der.span, freedBy: { unsafe X509_PUBKEY_free($0) }, rule: "not a public key"
        ) { next, count in unsafe d2i_X509_PUBKEY(nil, next, count) }
        unsafe try self.init(key.pointer)
    }

    /// Reads a libcrypto object.
    init(_ key: OpaquePointer?) throws(CertificateFailure) {
        var algorithm: OpaquePointer?
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        try LibCrypto.check(
            unsafe X509_PUBKEY_get0_param(&algorithm, &start, &count, nil, key), else: .malformed("not a public key"))
        let representation = unsafe [UInt8](UnsafeBufferPointer(start: start, count: Int(count)))
        let info = unsafe try LibCrypto.encoded { unsafe i2d_X509_PUBKEY(key, $0) }
        if let loaded = unsafe X509_PUBKEY_get0(key) {
            unsafe (kind, sizeInBits) = try loaded.kindAndSize()
            identity = kind == .ec ? unsafe try loaded.pointIdentity() : Identity(curve: nil, bytes: info)
        } else {
            ERR_clear_error()
            kind = .other(unsafe LibCrypto.name(of: algorithm))
            sizeInBits = 0
            identity = Identity(curve: nil, bytes: info)
        }
        subjectPublicKeyInfo = info
        externalRepresentation = representation
        hash = HashFunction.sha1.digest(of: representation.span)
    }

    private static let impliedCurves: Set = ["prime192v1", "secp224r1", "prime256v1", "secp384r1", "secp521r1"]

    /// The public half of a loaded key.
    init(of key: OpaquePointer) throws(CertificateFailure) {
        var made: OpaquePointer?
        let status = unsafe X509_PUBKEY_set(&made, key)
        let failure = CertificateFailure.unsupported("a private key whose public key cannot be written")
        try LibCrypto.check(status, else: failure)
        let object = unsafe try LibCryptoObject(made, freedBy: { unsafe X509_PUBKEY_free($0) }, else: failure)
        unsafe try self.init(object.pointer)
    }
}

/// Accessors of an `EVP_PKEY`.
extension OpaquePointer {
    fileprivate func kindAndSize() throws(CertificateFailure) -> (KeyKind, Int) {
        let bits = Int(unsafe EVP_PKEY_get_bits(self))
        try CertificateLimit.keySize.check(bits)
        switch unsafe EVP_PKEY_get_base_id(self) {
        case EVP_PKEY_RSA: return (.rsa, bits)
        case EVP_PKEY_EC: return (.ec, bits)
        case EVP_PKEY_ED25519: return (.ed25519, 256)
        case EVP_PKEY_X25519: return (.x25519, 256)
        case EVP_PKEY_ED448: return (.ed448, 456)
        case EVP_PKEY_X448: return (.x448, 448)
        default:
            guard let name = unsafe EVP_PKEY_get0_type_name(self) else { return (.other("an unknown algorithm"), bits) }
            return (.other(unsafe String(cString: name)), bits)
        }
    }

    /// The name of the curve, and X and Y, each as long as a field element.
    fileprivate func pointIdentity() throws(CertificateFailure) -> PublicKey.Identity {
        let length = (Int(unsafe EVP_PKEY_get_bits(self)) + 7) / 8
        let x = unsafe try number(OSSL_PKEY_PARAM_EC_PUB_X, length: length)
        let y = unsafe try number(OSSL_PKEY_PARAM_EC_PUB_Y, length: length)
        return PublicKey.Identity(curve: unsafe curveName, bytes: x + y)
    }

    /// The name of the curve; nil if the key contains explicit parameters.
    var curveName: String? {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(self, &name, name.count, &length) == 1 else {
            ERR_clear_error()
            return nil
        }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A public number of the key as `length` big-endian bytes.
    private func number(_ name: String, length: Int) throws(CertificateFailure) -> [UInt8] {
        var number: OpaquePointer?
        defer { unsafe BN_clear_free(number) }
        var bytes = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_PKEY_get_bn_param(self, name, &number) == 1,
            unsafe BN_bn2binpad(number, &bytes, Int32(length)) == Int32(length)
        else { throw LibCrypto.failing(.unsupported("an elliptic curve over a binary field")) }
        return bytes
    }
}
