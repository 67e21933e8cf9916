// Fence: returns objects through pointers, as Apple's functions do.
internal import Foundation
internal import KCCryptography

/// Finds the private key for a certificate in the keychain, and joins the two into an identity.
///
/// ```swift
/// let file = try Data(contentsOf: URL(filePath: "/etc/mail/mail.der"))
/// if let certificate = SecCertificateCreateWithData(nil, file as CFData) {
///     var identity: SecIdentity?
///     let status = SecIdentityCreateWithCertificate(nil, certificate, &identity)
///     if status == errSecItemNotFound { print("the key is not in the keychain") }
/// }
/// ```
///
/// - Parameters:
///   - keychainOrArray: ignored, as there is only one keychain.
///   - certificate: the certificate, which need not be in the keychain.
///   - identity: set to the identity; unchanged if there is none.
/// - Returns: `errSecSuccess`, `errSecItemNotFound` if the key is not in the keychain, or another status of
///   `SecItemCopyMatching`.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?, _ certificate: SecCertificate, _ identity: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    unsafe KeychainClient.shared.identity(of: certificate, identity)
}

/// Joins a certificate and a private key; nil if they do not belong together.
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard let half = try? privateKey.privateKey().publicKey, half == certificate.certificate.publicKey else {
        return nil
    }
    return SecIdentity(certificate, privateKey)
}

extension KeychainClient {
    func identity(of certificate: SecCertificate, _ identity: UnsafeMutablePointer<SecIdentity?>) -> OSStatus {
        var found: CFTypeRef?
        let query: CFDictionary = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrApplicationLabel: Data(certificate.certificate.publicKeyHash),
            kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnRef: true,
        ]
        let status = unsafe copyMatching(query, &found)
        guard status == errSecSuccess else { return status }
        guard let key = found as? SecKey else { return errSecItemNotFound }
        unsafe identity.pointee = SecIdentity(certificate, key)
        return errSecSuccess
    }
}
