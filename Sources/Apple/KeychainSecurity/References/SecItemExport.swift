// Fence: takes parameters and returns data through pointers, as Apple's function does.
public import Foundation
internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// Exports certificates, keys and identities as a file.
///
/// ```swift
/// var result: CFTypeRef?
/// let query = [kSecClass: kSecClassIdentity, kSecAttrLabel: "mail", kSecReturnRef: true] as CFDictionary
/// SecItemCopyMatching(query, &result)
/// if let identity = result {
///     var parameters = SecItemImportExportKeyParameters()
///     let passphrase = "walnut" as AnyObject
///     parameters.passphrase = Unmanaged.passUnretained(passphrase)
///     var file: CFData?
///     let status = SecItemExport(identity, .formatPKCS12, [], &parameters, &file)
///     if status == errSecSuccess { try file?.write(to: URL(filePath: "mail.p12")) }
/// }
/// ```
///
/// - Parameters:
///   - secItemOrArray: a `SecCertificate`, `SecKey` or `SecIdentity`, or an array of them.
///   - outputFormat: with `formatUnknown`, PKCS #12 for identities, DER for one certificate, OpenSSL's format for one
///     key, and PEM for anything else.
///   - flags: `pemArmour` for PEM.
///   - keyParams: the passphrase, which `formatPKCS12` and `formatWrappedPKCS8` need; if given, private keys in PEM are
///     encrypted too.
///   - exportedData: set to the file; unchanged if the call fails.
/// - Returns: `errSecSuccess`; `errSecParam` if there are no objects, or objects of other types;
///   `errSecUnsupportedFormat` if the format cannot hold the items; `errSecPassphraseRequired`;
///   `errSecDataNotAvailable` for a private key that is not extractable.
@discardableResult
public func SecItemExport(
    _ secItemOrArray: Any, _ outputFormat: SecExternalFormat, _ flags: SecItemImportExportFlags,
    _ keyParams: UnsafePointer<SecItemImportExportKeyParameters>?, _ exportedData: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    do {
        let passphrase = try unsafe keyParams?.pointee.secret()
        let file = try ExportedObjects(secItemOrArray).encoded(
            outputFormat, isArmored: flags.contains(.pemArmour), passphrase: passphrase)
        unsafe exportedData.pointee = file.data as CFData
        return errSecSuccess
    } catch let failure as CertificateFailure {
        return failure.status
    } catch {
        return CallFailure(error).status
    }
}

extension SecItemImportExportKeyParameters {
    /// Returns the passphrase, if there is one.
    ///
    /// - Throws: `CallFailure` (`errSecParam` for an object that is not a passphrase, `errSecUnimplemented` if the user
    ///   is to be asked).
    func secret() throws(CallFailure) -> SecretBytes? {
        if flags.contains(.securePassphrase) { throw CallFailure(errSecUnimplemented) }
        guard let object = unsafe passphrase?.takeUnretainedValue() else { return nil }
        if let text = object as? String { return SecretBytes(copying: text.utf8) }
        if let data = object as? Data { return SecretBytes(copying: data) }
        throw CallFailure(errSecParam)
    }
}

/// The exported objects, grouped by kind.
private struct ExportedObjects {
    private var identities: [PKCS12.Identity] = []
    private var certificates: [X509Certificate] = []
    private var privateKeys: [PrivateKey] = []
    private var publicKeys: [PublicKey] = []
    private var symmetricKeys: [SecKey] = []

    init(_ given: Any) throws {
        let objects = given as? [Any] ?? [given]
        if objects.isEmpty { throw CallFailure(errSecParam) }
        for object in objects {
            switch try ReferencedObject(object) {
            case .certificate(let certificate): certificates.append(certificate.certificate)
            case .identity(let identity):
                identities.append(
                    PKCS12.Identity(
                        key: try identity.key.exportableKey(), certificate: identity.certificate.certificate,
                        friendlyName: identity.key.attributes.text(.labl)))
            case .key(let key):
                switch key.attributes.number(.kcls) {
                case KeyClass.privateKey.rawValue: privateKeys.append(try key.exportableKey())
                case KeyClass.publicKey.rawValue: publicKeys.append(try key.publicKey())
                default: symmetricKeys.append(try key.requireExtractable())
                }
            }
        }
    }

    func encoded(
        _ format: SecExternalFormat, isArmored: Bool, passphrase: borrowing SecretBytes?
    ) throws -> SecretBytes {
        switch format {
        case .formatUnknown:
            return try encoded(suitingFormat, isArmored: isArmored, passphrase: passphrase)
        case .formatPEMSequence: return try pem(passphrase, isTraditional: false)
        case .formatPKCS12: return try armored(pkcs12(passphrase), isArmored, "PKCS12")
        case .formatX509Cert:
            guard certificates.count == count else { throw unsupported }
            if isArmored { return try pem(nil, isTraditional: false) }
            guard let certificate = try one(certificates, among: count) else { throw unsupported }
            return SecretBytes(certificate.der.span)
        case .formatOpenSSL, .formatBSAFE:
            if isArmored { return try pem(passphrase, isTraditional: true) }
            if let key = publicKeys.first, count == 1 { return SecretBytes(key.subjectPublicKeyInfo.span) }
            guard let key = try one(privateKeys, among: count) else { throw unsupported }
            if format == .formatBSAFE, key.kind != .rsa { throw unsupported }
            return try key.traditional()
        case .formatWrappedPKCS8:
            guard let key = try one(privateKeys, among: count) else { throw unsupported }
            switch passphrase {
            case .some(let passphrase):
                return try armored(key.encryptedPKCS8(passphrase: passphrase), isArmored, "ENCRYPTED PRIVATE KEY")
            case .none: throw CertificateFailure.passphraseRequired
            }
        case .formatRawKey:
            guard !isArmored, let key = try one(symmetricKeys, among: count) else { throw unsupported }
            return key.material.copy()
        case .formatSSH, .formatWrappedOpenSSL, .formatWrappedSSH, .formatWrappedLSH, .formatPKCS7,
            .formatNetscapeCertSequence, .formatSSHv2:
            throw unsupported
        }
    }

    private var count: Int {
        identities.count + certificates.count + privateKeys.count + publicKeys.count + symmetricKeys.count
    }

    private var unsupported: CertificateFailure { .unsupported("items that a file of this format cannot hold") }

    private var suitingFormat: SecExternalFormat {
        if identities.count == count { return .formatPKCS12 }
        if count > 1 { return .formatPEMSequence }
        if certificates.count == 1 { return .formatX509Cert }
        return symmetricKeys.isEmpty ? .formatOpenSSL : .formatRawKey
    }

    /// Returns the only object; without PEM, a file cannot hold several.
    private func one<Object>(_ objects: [Object], among count: Int) throws(CertificateFailure) -> Object? {
        guard count == 1 else { throw unsupported }
        return objects.first
    }

    private func armored(_ file: consuming SecretBytes, _ isArmored: Bool, _ label: String) -> SecretBytes {
        if !isArmored { return file }
        var text = SecretBytes(capacity: 2 * file.count)
        file.withBytes { text.appendPEM($0, label: label) }
        return text
    }

    private func pkcs12(_ passphrase: borrowing SecretBytes?) throws -> SecretBytes {
        // PKCS #12 files hold identities, and a key without a certificate is not one.
        guard privateKeys.isEmpty, publicKeys.isEmpty, symmetricKeys.isEmpty else { throw unsupported }
        switch passphrase {
        case .some(let passphrase):
            return try PKCS12.make(identities: identities, certificates: certificates, passphrase: passphrase)
        case .none: throw CertificateFailure.passphraseRequired
        }
    }

    private func pem(_ passphrase: borrowing SecretBytes?, isTraditional: Bool) throws -> SecretBytes {
        guard symmetricKeys.isEmpty else { throw unsupported }
        var text = SecretBytes(capacity: 4_096)
        for certificate in identities.map(\.certificate) + certificates {
            text.appendPEM(certificate.der.span, label: "CERTIFICATE")
        }
        for key in identities.map(\.key) + privateKeys {
            try key.appendPEM(to: &text, passphrase: passphrase, isTraditional: isTraditional)
        }
        for key in publicKeys { text.appendPEM(key.subjectPublicKeyInfo.span, label: "PUBLIC KEY") }
        return text
    }
}

extension SecKey {
    /// The private key, if it is extractable.
    fileprivate func exportableKey() throws -> PrivateKey { try requireExtractable().privateKey() }

    fileprivate func requireExtractable() throws(CallFailure) -> SecKey {
        if attributes.number(.extr) == 0 { throw CallFailure(errSecDataNotAvailable) }
        return self
    }
}
