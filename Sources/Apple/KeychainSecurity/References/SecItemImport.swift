// Fence: takes parameters and returns objects through pointers, as Apple's function does.
public import Foundation
internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// Reads the certificates, keys and identities in a file; adds nothing to a keychain.
///
/// ```swift
/// let file = try Data(contentsOf: URL(filePath: "/etc/mail/mail.pem"))
/// var items: CFArray?
/// let status = SecItemImport(file as CFData, nil, nil, nil, [], nil, nil, &items)
/// for item in items as? [AnyObject] ?? [] { SecItemAdd([kSecValueRef: item] as CFDictionary, nil) }
/// ```
///
/// - Parameters:
///   - importedData: the file: certificates and keys in PEM or DER, PKCS #7, PKCS #8, PKCS #12.
///   - fileNameOrExtension: ignored; the format is detected from the content.
///   - inputFormat: set to the format; its previous value is ignored.
///   - itemType: set to the kind of items; its previous value is ignored.
///   - flags: ignored; PEM is detected.
///   - keyParams: the passphrase, and whether to refuse several private keys.
///   - importKeychain: nil; use `SecItemAdd` to add the objects in `outItems`, with any attributes.
///   - outItems: set to the identities, followed by the keys and certificates that belong to no identity.
/// - Returns: `errSecSuccess`; `errSecPassphraseRequired`; `errSecAuthFailed` for a wrong passphrase;
///   `errSecUnknownFormat` for another kind of file; `errSecDecode` for a malformed one; `errSecUnsupportedFormat`;
///   `errSecMultiplePrivKeys`; `errSecParam`.
@discardableResult
public func SecItemImport(
    _ importedData: CFData, _ fileNameOrExtension: CFString?, _ inputFormat: UnsafeMutablePointer<SecExternalFormat>?,
    _ itemType: UnsafeMutablePointer<SecExternalItemType>?, _ flags: SecItemImportExportFlags,
    _ keyParams: UnsafePointer<SecItemImportExportKeyParameters>?, _ importKeychain: SecKeychain?,
    _ outItems: UnsafeMutablePointer<CFArray?>?
) -> OSStatus {
    do {
        let passphrase = try unsafe keyParams?.pointee.secret()
        let bytes = SecretBytes(copying: importedData as Data)
        let format = bytes.withBytes { CertificateFormat(of: $0) }
        let imported = try bytes.withBytes { (span) throws(CertificateFailure) in
            try ImportedItems(reading: span, passphrase: passphrase)
        }
        let isPrivate = imported.items.map { $0.draft.attributes.number(.kcls) == KeyClass.privateKey.rawValue }
        if unsafe keyParams?.pointee.flags.contains(.importOnlyOne) == true, isPrivate.count(where: \.self) > 1 {
            return errSecMultiplePrivKeys
        }
        let objects = try imported.objects()
        unsafe inputFormat?.pointee = imported.format(format)
        unsafe itemType?.pointee = imported.kind
        unsafe outItems?.pointee = objects as CFArray
        return errSecSuccess
    } catch let failure as CertificateFailure {
        return failure.status
    } catch {
        return CallFailure(error).status
    }
}

extension ImportedItems {
    /// The identities, followed by the items that belong to no identity.
    fileprivate func objects() throws(CertificateFailure) -> [AnyObject] {
        var objects: [AnyObject] = []
        var placed: Set<Int> = []
        for pair in identities {
            guard let certificate = try object(pair.certificate) as? SecCertificate,
                let key = try object(pair.key) as? SecKey
            else { continue }
            objects.append(SecIdentity(certificate, key))
            placed.formUnion([pair.key, pair.certificate])
        }
        for index in items.indices where !placed.contains(index) { objects.append(try object(index)) }
        return objects
    }

    private func object(_ index: Int) throws(CertificateFailure) -> AnyObject {
        let item = items[index]
        guard item.draft.itemClass == .certificate else {
            return SecKey(item.draft.attributes, item.secret.copy())
        }
        return SecCertificate(try X509Certificate(der: item.secret.withBytes { span in span.indices.map { span[$0] } }))
    }

    /// The kind of the only item; `itemTypeAggregate` if there are several.
    fileprivate var kind: SecExternalItemType {
        guard let item = items.first, items.count == 1 else { return .itemTypeAggregate }
        if item.draft.itemClass == .certificate { return .itemTypeCertificate }
        return item.draft.attributes.number(.kcls) == KeyClass.privateKey.rawValue
            ? .itemTypePrivateKey : .itemTypePublicKey
    }

    /// Returns Apple's name for the format; nil becomes `formatUnknown`.
    fileprivate func format(_ format: CertificateFormat?) -> SecExternalFormat {
        switch format {
        case .pem: items.count == 1 && kind == .itemTypeCertificate ? .formatX509Cert : .formatPEMSequence
        case .certificate: .formatX509Cert
        case .encryptedPKCS8: .formatWrappedPKCS8
        case .pkcs8, .pkcs1, .sec1, .publicKey: .formatOpenSSL
        case .pkcs12: .formatPKCS12
        case .pkcs7: .formatPKCS7
        case nil: .formatUnknown
        }
    }
}
