// Fence: returns an error through a pointer, as Apple's function does.
internal import ByteStreams
internal import CertificateItems
internal import Cryptography
public import Foundation
internal import KeychainModel

/// Creates a private key, to be stored with `kSecValueRef`.
///
/// ```swift
/// let bytes = try Data(contentsOf: URL(filePath: "/etc/mail/key.pkcs1"))
/// if let key = SecKeyCreateWithData(
///     bytes, [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate], nil)
/// {
///     SecItemAdd([kSecClass: kSecClassKey, kSecValueRef: key, kSecAttrLabel: "mail"], nil)
/// }
/// ```
///
/// - Parameters:
///   - keyData: the key in the form of `SecKeyCopyExternalRepresentation`: PKCS #1 for RSA, for elliptic curves the
///     point followed by the number.
///   - attributes: `kSecAttrKeyType` (RSA, elliptic curves and Edwards curves), and `kSecAttrKeyClass`, which must be
///     private: public and symmetric keys are stored as data with `SecItemAdd`.
///   - error: set to the reason, with `errSecParam`, `errSecUnimplemented` or `errSecDecode`.
/// - Returns: nil if the bytes are not such a key.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    func refuse(_ status: OSStatus) -> SecKey? {
        let reason = SecCopyErrorMessageString(status, nil) ?? ""
        let failure = NSError(
            domain: statusDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: reason])
        unsafe error?.pointee = Unmanaged.passRetained(failure)
        return nil
    }
    guard let given = try? ItemRequest.changes(attributes, of: .key).attributes,
        case .number(let type) = given[.type], case .number(let half) = given[.kcls]
    else { return refuse(errSecParam) }
    guard half == KeyClass.privateKey.rawValue, let kind = KeyKind(keyType: type) else {
        return refuse(errSecUnimplemented)
    }
    do throws(CertificateFailure) {
        let bytes = SecretBytes(copying: keyData)
        return try SecKey(PrivateKey(externalRepresentation: bytes, kind: kind))
    } catch {
        return refuse(error.status)
    }
}

/// The domain of errors whose code is an `OSStatus`.
let statusDomain = "NSOSStatusErrorDomain"
