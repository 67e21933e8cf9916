// Fence: returns objects through pointers, as Apple's functions do.
internal import ByteStreams
internal import Cryptography
public import Foundation
internal import KeychainModel

/// A key of the keychain or of a PKCS #12 file as an object.
///
/// It can be stored, found and exported; signing and decrypting are not supported.
public final class SecKey: Sendable, CustomStringConvertible {
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
}

/// The stored form of a key: PKCS #1 for RSA, for elliptic curves the point followed by the number.
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
public final class SecIdentity: Sendable, CustomStringConvertible {
    let certificate: SecCertificate
    let key: SecKey

    init(_ certificate: SecCertificate, _ key: SecKey) {
        self.certificate = certificate
        self.key = key
    }

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
