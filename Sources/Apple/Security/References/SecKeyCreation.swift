// Fence: hands an error out through a pointer, as Apple's function does.
internal import ByteStreams
internal import CertificateItems
internal import Cryptography
public import Foundation
internal import KeychainModel

/// Makes an object of a private key, to be stored with `kSecValueRef`.
///
/// - Parameters:
///   - keyData: the key in the form that `SecKeyCopyExternalRepresentation` gives: PKCS #1 for RSA, for elliptic curves
///     the point and then the number.
///   - attributes: `kSecAttrKeyType` (RSA, elliptic curves and Edwards curves), and `kSecAttrKeyClass`, which must be
///     private: public and symmetric keys are stored as data with `SecItemAdd`.
///   - error: gets the reason, with `errSecParam`, `errSecUnimplemented` or `errSecDecode`.
/// - Returns: nil where the bytes are no such key.
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
