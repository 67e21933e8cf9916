// Fence: hands objects out through pointers, as Apple's functions do.
internal import ByteStreams
internal import Cryptography
public import Foundation
internal import KeychainModel

/// A key of the keychain or of a PKCS #12 file as an object.
///
/// It can be stored, found and handed on; nothing is signed or decrypted with it here.
public final class SecKey: Sendable, CustomStringConvertible {
    /// The attributes that a key item has, dates and rules of access apart.
    let attributes: Attributes
    /// The key itself, in the form in which it is stored.
    let material: SecretBytes

    init(_ attributes: Attributes, _ material: consuming SecretBytes) {
        self.attributes = attributes
        self.material = material
    }

    /// Algorithm and size, never the key.
    public var description: String {
        "<SecKey: type \(attributes.number(.type) ?? 0), \(attributes.number(.bsiz) ?? 0) bits>"
    }

    /// The key as the API hands it out: ordinary memory, which nothing wipes.
    var data: Data { material.data }
}

/// The stored form of a key: PKCS #1 for RSA, for elliptic curves the point and then the number.
///
/// - Returns: always a value; `error` is for source compatibility.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    key.data
}

/// The attributes of a key, under the names of queries.
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

    /// The subject of the certificate.
    public var description: String { "<SecIdentity: \(certificate.certificate.subjectSummary ?? "")>" }
}

/// Gives the certificate of an identity.
///
/// - Returns: `errSecSuccess`.
public func SecIdentityCopyCertificate(
    _ identity: SecIdentity, _ certificate: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    unsafe certificate.pointee = identity.certificate
    return errSecSuccess
}

/// Gives the private key of an identity.
///
/// - Returns: `errSecSuccess`.
public func SecIdentityCopyPrivateKey(_ identity: SecIdentity, _ key: UnsafeMutablePointer<SecKey?>) -> OSStatus {
    unsafe key.pointee = identity.key
    return errSecSuccess
}

extension Attributes {
    /// The attributes as a result of the API shows them.
    func dictionary(of itemClass: ItemClass) -> CFDictionary {
        var dictionary: CFDictionary = [:]
        for entry in entries { dictionary[entry.code.code] = entry.code.given(entry.value, in: itemClass) }
        return dictionary
    }
}
