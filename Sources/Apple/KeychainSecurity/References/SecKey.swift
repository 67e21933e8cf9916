// Fence: returns objects through pointers, as Apple's functions do.
public import Foundation
internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// A key from the keychain or a PKCS #12 file.
///
/// A key can be stored, found and exported, and used to sign, encrypt and agree on secrets.
public final class SecKey: Hashable, Sendable, CustomStringConvertible {
    /// The attributes of a key item, except dates and access rules.
    let attributes: Attributes
    /// The key itself, in the form in which it is stored.
    let material: SecretBytes

    init(_ attributes: Attributes, _ material: consuming SecretBytes) {
        self.attributes = attributes
        self.material = material
    }

    /// The type, the algorithm and the size, but never the key itself.
    public var description: String {
        "<SecKey: type \(attributes.number(.type) ?? 0), \(attributes.number(.bsiz) ?? 0) bits>"
    }

    /// The key for callers of the API, in memory that is not wiped.
    var data: Data { material.data }

    /// The kind of key; nil for symmetric keys and unknown algorithms.
    var kind: KeyKind? { attributes.number(.type).flatMap { KeyKind(keyType: $0) } }

    /// Returns the private key.
    ///
    /// - Throws: `CertificateFailure` if this is not a private key, or its bytes are not valid for its type.
    func privateKey() throws(CertificateFailure) -> PrivateKey {
        guard let kind, attributes.number(.kcls) == KeyClass.privateKey.rawValue else {
            throw .unsupported("a key that is not private")
        }
        return try PrivateKey(externalRepresentation: material, kind: kind)
    }

    /// Returns the public key.
    ///
    /// - Throws: `CertificateFailure` if there is none, or the bytes of the key are not valid for its type.
    func publicKey() throws(CertificateFailure) -> PublicKey {
        guard let kind, let half = attributes.number(.kcls) else { throw .unsupported("a key without a public half") }
        switch half {
        case KeyClass.privateKey.rawValue: return try privateKey().publicKey
        case KeyClass.publicKey.rawValue:
            let bytes = material.withBytes { span in span.indices.map { span[$0] } }
            return try PublicKey(externalRepresentation: bytes, kind: kind)
        default: throw .unsupported("a key without a public half")
        }
    }

    /// Creates an object for a public key, with the attributes of its item.
    convenience init(_ key: PublicKey) throws(CertificateFailure) {
        let draft = try ItemDraft(publicKey: key)
        self.init(draft.attributes, SecretBytes(key.externalRepresentation.span))
    }

    /// Compares class, type, size, public key hash and the key itself.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        guard left !== right else { return true }
        let codes: [AttributeCode] = [.kcls, .type, .klbl, .bsiz]
        return codes.allSatisfy { left.attributes[$0] == right.attributes[$0] }
            && constantTimeEqual(left.material, right.material)
    }

    /// Hashes the public key hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(attributes[.klbl]) }
}

/// Returns the public half of a key; nil for symmetric keys.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { try? SecKey(key.publicKey()) }

/// Returns the block size in bytes: the length of an RSA modulus, or of a coordinate on an elliptic curve.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { (Int(key.attributes.number(.bsiz) ?? 0) + 7) / 8 }

/// Returns the public key of a certificate; nil if the keychain has no number for its type.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    try? SecKey(certificate.certificate.publicKey)
}

/// Returns the external form of a key: PKCS #1 for RSA; for elliptic curves, the point, followed in a private key by
/// the secret number.
///
/// ```swift
/// let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
/// if let key = SecKeyCreateRandomKey(attributes as CFDictionary, nil), let half = SecKeyCopyPublicKey(key) {
///     try SecKeyCopyExternalRepresentation(half, nil)?.write(to: URL(filePath: "mail.pub"))
/// }
/// ```
///
/// - Returns: always a value; `error` exists only for source compatibility.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    key.data as CFData
}

/// Returns the attributes of a key, under the names used in queries.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    key.attributes.dictionary(of: .key) as CFDictionary
}

/// A certificate and its private key.
public final class SecIdentity: Hashable, Sendable, CustomStringConvertible {
    let certificate: SecCertificate
    let key: SecKey

    init(_ certificate: SecCertificate, _ key: SecKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Compares the certificates and the keys.
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
        left.certificate == right.certificate && left.key == right.key
    }

    /// Hashes the certificate.
    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }

    /// The type name and the subject of the certificate.
    public var description: String { "<SecIdentity: \(certificate.certificate.subjectSummary ?? "")>" }
}

/// Copies the certificate of an identity.
///
/// ```swift
/// var result: CFTypeRef?
/// let query = [kSecClass: kSecClassIdentity, kSecAttrLabel: "mail", kSecReturnRef: true] as CFDictionary
/// SecItemCopyMatching(query, &result)
/// if let identity = result as? SecIdentity {
///     var certificate: SecCertificate?
///     let status = SecIdentityCopyCertificate(identity, &certificate)
/// }
/// ```
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identity: SecIdentity, _ certificate: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    unsafe certificate.pointee = identity.certificate
    return errSecSuccess
}

/// Copies the private key of an identity.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyPrivateKey(_ identity: SecIdentity, _ key: UnsafeMutablePointer<SecKey?>) -> OSStatus {
    unsafe key.pointee = identity.key
    return errSecSuccess
}

extension Attributes {
    /// The attributes as in an API result.
    func dictionary(of itemClass: ItemClass) -> CallDictionary {
        var dictionary: CallDictionary = [:]
        for entry in entries { dictionary[entry.code.code] = entry.code.given(entry.value, in: itemClass) }
        return dictionary
    }
}
