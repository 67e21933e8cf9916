// Fence: returns an array through a pointer, as Apple's function does.
public import Foundation
internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// Reads the identities in a PKCS #12 file; adds nothing to a keychain.
///
/// ```swift
/// let file = try Data(contentsOf: URL(filePath: "/etc/mail/mail.p12"))
/// var items: CFArray?
/// let options = [kSecImportExportPassphrase: "walnut"] as CFDictionary
/// let status = SecPKCS12Import(file as CFData, options, &items)
/// let first = (items as? [[String: Any]])?.first
/// let identity = first?[kSecImportItemIdentity as String] as? SecIdentity
/// ```
///
/// - Parameters:
///   - data: the file.
///   - options: the passphrase, under `kSecImportExportPassphrase`.
///   - items: set to one dictionary for each identity: `kSecImportItemIdentity`, `kSecImportItemCertChain` (its own
///     certificate, followed by those of its issuers that are in the file), `kSecImportItemTrust` (a `SecTrust` for
///     these, with the policy of X.509 alone), `kSecImportItemKeyID` and, if the file has one, `kSecImportItemLabel`.
/// - Returns: `errSecSuccess`; `errSecPassphraseRequired` if the file needs a passphrase and none is given;
///   `errSecAuthFailed` for a wrong passphrase; `errSecUnknownFormat` for another kind of file; `errSecDecode` for a
///   malformed file; `errSecUnsupportedFormat` for a cipher that this system does not support; `errSecParam`.
@discardableResult
public func SecPKCS12Import(
    _ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    var passphrase: SecretBytes?
    if let given = options[kSecImportExportPassphrase] {
        guard let text = given as? String else { return errSecParam }
        passphrase = SecretBytes(copying: text.utf8)
    }
    do throws(CertificateFailure) {
        let contents = try PKCS12.open(Array(data as Data).span, passphrase: passphrase)
        var imported: [CallDictionary] = []
        for identity in contents.identities { imported.append(try dictionary(identity, contents)) }
        unsafe items.pointee = imported.map(object) as CFArray
        return errSecSuccess
    } catch {
        return error.status
    }
}

private func dictionary(
    _ identity: PKCS12.Identity, _ contents: PKCS12.Contents
) throws(CertificateFailure) -> CallDictionary {
    let key = try SecKey(identity.key)
    let chain = chain(from: identity.certificate, among: contents)
    var dictionary: CallDictionary = [
        kSecImportItemIdentity as String: SecIdentity(SecCertificate(identity.certificate), key),
        kSecImportItemCertChain as String: chain.map { SecCertificate($0) },
        kSecImportItemKeyID as String: Data(identity.localKeyID ?? identity.key.publicKeyHash),
    ]
    dictionary[kSecImportItemTrust] = SecTrust(
        TrustSettings(certificates: chain, policies: [SecPolicyCreateBasicX509()]))
    if let name = identity.friendlyName { dictionary[kSecImportItemLabel] = name }
    return dictionary
}

/// Returns a certificate and those of its issuers that are in the file, matched by name.
private func chain(from leaf: X509Certificate, among contents: PKCS12.Contents) -> [X509Certificate] {
    let others = contents.certificates.map(\.value) + contents.identities.map(\.certificate)
    var chain = [leaf]
    // A self-signed certificate ends the chain; no certificate may occur in it twice.
    while let last = chain.last, last.issuer != last.subject,
        let issuer = others.first(where: { $0.subject == last.issuer && !chain.contains($0) })
    {
        chain.append(issuer)
    }
    return chain
}

extension SecKey {
    /// Creates an object for a private key, with the attributes of its item.
    convenience init(_ key: PrivateKey, label: String? = nil) throws(CertificateFailure) {
        let draft = try ItemDraft(privateKey: key, label: label)
        self.init(draft.attributes, try key.externalRepresentation())
    }
}

extension CertificateFailure {
    /// The status for callers of the API.
    var status: OSStatus {
        switch self {
        case .malformed: errSecDecode
        case .unknownFormat: errSecUnknownFormat
        case .passphraseRequired: errSecPassphraseRequired
        case .wrongPassphrase: errSecAuthFailed
        case .unsupported: errSecUnsupportedFormat
        case .tooLarge: errSecDataTooLarge
        case .library: errSecInternal
        }
    }
}
