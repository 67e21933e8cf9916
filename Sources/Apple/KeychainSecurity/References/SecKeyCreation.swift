// Fence: returns an error through a pointer, as Apple's function does.
public import Foundation
internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// Creates a key from its bytes, for use or for storing with `kSecValueRef`.
///
/// ```swift
/// let bytes = try Data(contentsOf: URL(filePath: "/etc/mail/key.pkcs1"))
/// if let key = SecKeyCreateWithData(
///     bytes as CFData, [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate] as CFDictionary,
///     nil)
/// {
///     SecItemAdd([kSecClass: kSecClassKey, kSecValueRef: key, kSecAttrLabel: "mail"] as CFDictionary, nil)
/// }
/// ```
///
/// - Parameters:
///   - keyData: the key in the form of `SecKeyCopyExternalRepresentation`: PKCS #1 for RSA; for elliptic curves, the
///     point, followed in a private key by the private scalar.
///   - attributes: `kSecAttrKeyType` (RSA, elliptic curves and Edwards curves) and `kSecAttrKeyClass` (private or
///     public). To store a symmetric key, add it as data with `SecItemAdd`.
///   - error: set to the reason, with `errSecParam`, `errSecUnimplemented` or `errSecDecode`.
/// - Returns: nil if the bytes are not a key of this type.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    func refuse(_ status: OSStatus) -> SecKey? {
        let reason = SecCopyErrorMessageString(status, nil) as String? ?? ""
        let failure = NSError(
            domain: statusDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: reason])
        unsafe error?.pointee = Unmanaged.passRetained(failure)
        return nil
    }
    guard let given = try? ItemRequest.changes(CallDictionary(attributes), of: .key).attributes,
        case .number(let type) = given[.type], case .number(let half) = given[.kcls]
    else { return refuse(errSecParam) }
    guard half == KeyClass.privateKey.rawValue || half == KeyClass.publicKey.rawValue, let kind = KeyKind(keyType: type)
    else {
        return refuse(errSecUnimplemented)
    }
    do throws(CertificateFailure) {
        if half == KeyClass.publicKey.rawValue {
            return try SecKey(PublicKey(externalRepresentation: Array(keyData as Data), kind: kind))
        }
        let bytes = SecretBytes(copying: keyData as Data)
        return try SecKey(PrivateKey(externalRepresentation: bytes, kind: kind))
    } catch {
        return refuse(error.status)
    }
}

/// Generates a key, and stores it if it is to be permanent.
///
/// ```swift
/// let key = SecKeyCreateRandomKey(
///     [
///         kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
///         kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data("org.example.mail".utf8)],
///     ] as CFDictionary, nil)
/// ```
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` and `kSecAttrKeySizeInBits` (RSA 1,024 to 16,384, elliptic curves 256, 384 or 521,
///     Ed25519 and X25519 256); attributes for both halves; attributes for one half under `kSecPrivateKeyAttrs` or
///     `kSecPublicKeyAttrs`. A half with `kSecAttrIsPermanent` is added to the keychain.
///   - error: set to the reason: `errSecParam`; `errSecUnimplemented` for the Secure Enclave and other tokens; or a
///     status of `SecItemAdd`.
/// - Returns: the private key, or nil with an error; in that case, nothing is stored.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    do throws(CallFailure) {
        return try KeyPair(CallDictionary(parameters)).stored(by: .shared).privateKey
    } catch let failure {
        unsafe set(error, failure.status)
        return nil
    }
}

/// Generates a key as `SecKeyCreateRandomKey` does, and returns both halves.
///
/// ```swift
/// var (publicKey, privateKey): (SecKey?, SecKey?)
/// let status = SecKeyGeneratePair(
///     [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 3072] as CFDictionary, &publicKey, &privateKey)
/// ```
///
/// - Returns: `errSecSuccess`, or the error code of `SecKeyCreateRandomKey`.
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    do throws(CallFailure) {
        let pair = try KeyPair(CallDictionary(parameters)).stored(by: .shared)
        unsafe publicKey?.pointee = pair.publicKey
        unsafe privateKey?.pointee = pair.privateKey
        return errSecSuccess
    } catch {
        return error.status
    }
}

/// The domain of errors whose code is an `OSStatus`.
let statusDomain = "NSOSStatusErrorDomain"
