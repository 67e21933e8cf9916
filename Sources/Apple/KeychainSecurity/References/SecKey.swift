// Fence: returns objects through pointers, as Apple's functions do.
internal import ByteStreams
internal import CertificateItems
internal import Cryptography
public import Foundation
internal import KeychainModel

/// A key of the keychain or of a PKCS #12 file as an object.
///
/// It can be stored, found and exported; it signs, encrypts and agrees on secrets.
public final class SecKey: Hashable, Sendable, CustomStringConvertible {
    /// The attributes of a key item, except dates and access rules.
    let attributes: Attributes
    /// The key itself, in stored form.
    let material: SecretBytes

    init(_ attributes: Attributes, _ material: consuming SecretBytes) {
        self.attributes = attributes
        self.material = material
    }

    /// The type, algorithm and size; never the key.
    public var description: String {
        "<SecKey: type \(attributes.number(.type) ?? 0), \(attributes.number(.bsiz) ?? 0) bits>"
    }

    /// The key for the API's callers, in memory that is not wiped.
    var data: Data { material.data }

    /// The algorithm; nil for symmetric keys and unknown ones.
    var kind: KeyKind? { attributes.number(.type).flatMap { KeyKind(keyType: $0) } }

    /// The private half.
    ///
    /// - Throws: `CertificateFailure` if the key is none, or has other bytes than such a key.
    func privateKey() throws(CertificateFailure) -> PrivateKey {
        guard let kind, attributes.number(.kcls) == KeyClass.privateKey.rawValue else {
            throw .unsupported("a key that is not private")
        }
        return try PrivateKey(externalRepresentation: material, kind: kind)
    }

    /// The public half.
    ///
    /// - Throws: `CertificateFailure` if there is none, or the key has other bytes than such a key.
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

    /// A public key with the attributes of its item.
    convenience init(_ key: PublicKey) throws(CertificateFailure) {
        let draft = try ItemDraft(publicKey: key)
        self.init(draft.attributes, SecretBytes(key.externalRepresentation.span))
    }

    /// Compares what makes a key another one: its class, type and public half.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        guard left !== right else { return true }
        let codes: [AttributeCode] = [.kcls, .type, .klbl, .bsiz]
        return codes.allSatisfy { left.attributes[$0] == right.attributes[$0] }
            && constantTimeEqual(left.material, right.material)
    }

    /// Hashes the public half's identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(attributes[.klbl]) }
}

/// The public half of a key; nil for symmetric keys.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { try? SecKey(key.publicKey()) }

/// The bytes of a signature or of an encrypted block: for RSA those of the modulus, for elliptic curves those of a number.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { (Int(key.attributes.number(.bsiz) ?? 0) + 7) / 8 }

/// The public key of a certificate; nil for a kind of key that a keychain has no number for.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    try? SecKey(certificate.certificate.publicKey)
}

/// The stored form of a key: PKCS #1 for RSA, for elliptic curves the point followed by the number.
///
/// ```swift
/// let attributes: [String: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
/// if let key = SecKeyCreateRandomKey(attributes, nil), let half = SecKeyCopyPublicKey(key) {
///     try SecKeyCopyExternalRepresentation(half, nil)?.write(to: URL(filePath: "mail.pub"))
/// }
/// ```
///
/// - Returns: always a value; `error` is for source compatibility.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    key.data
}

/// The attributes of a key, with the names used in queries.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    key.attributes.dictionary(of: .key)
}

/// A certificate and its private key.
public final class SecIdentity: Hashable, Sendable, CustomStringConvertible {
    let certificate: SecCertificate
    let key: SecKey

    init(_ certificate: SecCertificate, _ key: SecKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Compares certificate and key.
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
        left.certificate == right.certificate && left.key == right.key
    }

    /// Hashes the certificate.
    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }

    /// The type and the subject of the certificate.
    public var description: String { "<SecIdentity: \(certificate.certificate.subjectSummary ?? "")>" }
}

/// Copies the certificate of an identity.
///
/// ```swift
/// var result: CFTypeRef?
/// SecItemCopyMatching([kSecClass: kSecClassIdentity, kSecAttrLabel: "mail", kSecReturnRef: true], &result)
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
    /// The attributes as in a result of the API.
    func dictionary(of itemClass: ItemClass) -> CFDictionary {
        var dictionary: CFDictionary = [:]
        for entry in entries { dictionary[entry.code.code] = entry.code.given(entry.value, in: itemClass) }
        return dictionary
    }
}
