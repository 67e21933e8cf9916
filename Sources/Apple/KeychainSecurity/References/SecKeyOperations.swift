// Fence: returns errors through a pointer, as Apple's functions do.
public import Foundation
internal import KCByteStreams
internal import KCCryptography

/// An operation with a key.
public enum SecKeyOperationType: CFIndex, Hashable, Sendable {
    /// `SecKeyCreateSignature`.
    case sign = 0
    /// `SecKeyVerifySignature`.
    case verify = 1
    /// `SecKeyCreateEncryptedData`.
    case encrypt = 2
    /// `SecKeyCreateDecryptedData`.
    case decrypt = 3
    /// `SecKeyCopyKeyExchangeResult`.
    case keyExchange = 4
}

/// The names of the parameters of `SecKeyCopyKeyExchangeResult`.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    private let name: String

    /// The key in the parameter dictionary.
    public var rawValue: CFString { name as CFString }

    /// Creates a parameter name.
    public init(rawValue: CFString) { name = rawValue as String }

    /// The number of bytes to derive; a number.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// Additional input to the key derivation; data.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

/// True if a key supports an operation with an algorithm.
///
/// Private keys sign, decrypt and exchange; public keys verify and encrypt.
///
/// ```swift
/// let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
/// if let key = SecKeyCreateRandomKey(attributes as CFDictionary, nil) {
///     print(SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA256))
/// }
/// ```
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
    KeyAlgorithm(algorithm)?.supports(operation, key) ?? false
}

/// Signs data with a private key.
///
/// ```swift
/// var result: CFTypeRef?
/// let query = [kSecClass: kSecClassKey, kSecAttrLabel: "mail", kSecReturnRef: true] as CFDictionary
/// SecItemCopyMatching(query, &result)
/// if let key = result as? SecKey {
///     var error: Unmanaged<CFError>?
///     let message = Data("hello".utf8) as CFData
///     let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error)
///     if signature == nil, let reason = error?.takeRetainedValue() { print(reason) }
/// }
/// ```
///
/// - Parameters:
///   - key: the private key.
///   - algorithm: a signature algorithm for the type of the key.
///   - dataToSign: the message or its digest, depending on the algorithm.
///   - error: set to the reason, with `errSecParam` if the key does not support the algorithm or the digest has the
///     wrong length.
/// - Returns: the signature, or nil with an error.
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe bytes(.sign, key, algorithm, error) { algorithm throws(CertificateFailure) in
        guard case .signature(let form, let isMessage) = algorithm else { throw .unsupported("") }
        let digest = try digest(of: dataToSign as Data, form, isMessage)
        return Data(try key.privateKey().sign(digest.span, form))
    }
}

/// True if the signature was made over the data with the private half of a public key.
///
/// ```swift
/// func isFromAda(_ message: Data, signature: Data, publicKey: SecKey) -> Bool {
///     SecKeyVerifySignature(
///         publicKey, .ecdsaSignatureMessageX962SHA256, message as CFData, signature as CFData, nil)
/// }
/// ```
///
/// - Parameters:
///   - key: the public key.
///   - algorithm: the algorithm that the data was signed with.
///   - signedData: the message or its digest, depending on the algorithm.
///   - signature: the result of `SecKeyCreateSignature`.
///   - error: set to the reason if the result is false: `errSecVerifyFailed`, or `errSecParam` as in
///     `SecKeyCreateSignature`.
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let isGenuine = unsafe attempt(.verify, key, algorithm, error) { algorithm throws(CertificateFailure) in
        guard case .signature(let form, let isMessage) = algorithm else { throw .unsupported("") }
        let digest = try digest(of: signedData as Data, form, isMessage)
        return try key.publicKey().verifies(Array(signature as Data), of: digest.span, form)
    }
    if isGenuine == false { unsafe set(error, errSecVerifyFailed) }
    return isGenuine ?? false
}

/// Encrypts data for a public key.
///
/// ```swift
/// func seal(_ message: Data, for publicKey: SecKey) -> Data? {
///     let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
///     return SecKeyCreateEncryptedData(publicKey, algorithm, message as CFData, nil) as Data?
/// }
/// ```
///
/// - Parameters:
///   - key: the public key.
///   - algorithm: an encryption algorithm for the type of the key.
///   - plaintext: the data.
///   - error: set to the reason, with `errSecParam`, which includes data that is too long for the algorithm.
/// - Returns: the encrypted data, or nil with an error.
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe bytes(.encrypt, key, algorithm, error) { algorithm throws(CertificateFailure) in
        let (own, plain) = (try key.publicKey(), Array(plaintext as Data))
        switch algorithm {
        case .encryption(.raw):
            let room = (own.sizeInBits + 7) / 8 - plain.count
            return Data(try own.encrypt(([UInt8](repeating: 0, count: max(0, room)) + plain).span, .raw))
        case .encryption(let form): return Data(try own.encrypt(plain.span, form))
        case .hybrid(let hash): return Data(try HybridEncryption.seal(plain, for: own, hash))
        case .ecies(let hash, let derivesNonce):
            return Data(try HybridEncryption.sealECIES(plain, for: own, hash, derivesNonce: derivesNonce))
        case .signature, .exchange: throw .unsupported("")
        }
    }
}

/// Decrypts data with a private key.
///
/// ```swift
/// func open(_ sealed: Data, with privateKey: SecKey) -> Data? {
///     let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
///     return SecKeyCreateDecryptedData(privateKey, algorithm, sealed as CFData, nil) as Data?
/// }
/// ```
///
/// - Parameters:
///   - key: the private key.
///   - algorithm: the algorithm that the data was encrypted with.
///   - ciphertext: the result of `SecKeyCreateEncryptedData`.
///   - error: set to the reason, with `errSecParam`, which includes data that was not encrypted for this key.
/// - Returns: the data, in memory that is not wiped, or nil with an error.
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe bytes(.decrypt, key, algorithm, error) { algorithm throws(CertificateFailure) in
        let (own, sealed) = (try key.privateKey(), Array(ciphertext as Data))
        switch algorithm {
        case .encryption(let form): return try own.decrypt(sealed.span, form).data
        case .hybrid(let hash): return try HybridEncryption.open(sealed, with: own, hash).data
        case .ecies(let hash, let derivesNonce):
            return try HybridEncryption.openECIES(sealed, with: own, hash, derivesNonce: derivesNonce).data
        case .signature, .exchange: throw .unsupported("")
        }
    }
}

/// Computes the shared secret of a private key and another party's public key (Diffie-Hellman).
///
/// ```swift
/// func secret(of own: SecKey, with theirs: SecKey) -> Data? {
///     SecKeyCopyKeyExchangeResult(
///         own, .ecdhKeyExchangeStandardX963SHA256, theirs,
///         [SecKeyKeyExchangeParameter.requestedSize.rawValue: 32] as CFDictionary, nil) as Data?
/// }
/// ```
///
/// - Parameters:
///   - privateKey: this party's private key.
///   - algorithm: a key exchange algorithm that both types of key support.
///   - publicKey: the other party's public key, on the same curve.
///   - parameters: `requestedSize`, which algorithms with a key derivation need, and `sharedInfo`.
///   - error: set to the reason, with `errSecParam`.
/// - Returns: the shared secret, in memory that is not wiped, or nil with an error.
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe bytes(.keyExchange, privateKey, algorithm, error) { algorithm throws(CertificateFailure) in
        guard case .exchange(let hash) = algorithm else { throw .unsupported("") }
        let shared = try privateKey.privateKey().sharedSecret(with: publicKey.publicKey())
        guard let hash else { return shared.data }
        let info = parameters[SecKeyKeyExchangeParameter.sharedInfo.rawValue] ?? Data()
        guard let size = parameters[SecKeyKeyExchangeParameter.requestedSize.rawValue] as? NSNumber,
            let count = Int(exactly: size), (1...largestSecret).contains(count), let info = info as? Data
        else { throw .malformed("the parameters of an exchange") }
        return try X963.derive(shared, info: Array(info), count: count, hash: hash).data
    }
}

// In bytes; far more than any key needs.
private let largestSecret = 1 << 16

private func digest(
    of data: Data, _ form: SignatureForm, _ isMessage: Bool
) throws(CertificateFailure) -> [UInt8] {
    guard isMessage, let hash = form.hash else { return Array(data) }
    return hash.digest(of: Array(data).span)
}

/// Runs an operation that produces bytes; see `attempt`.
private func bytes(
    _ operation: SecKeyOperationType, _ key: SecKey, _ algorithm: SecKeyAlgorithm,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    _ body: (KeyAlgorithm) throws(CertificateFailure) -> Data
) -> CFData? {
    unsafe attempt(operation, key, algorithm, error, body) as CFData?
}

/// Runs an operation if the key supports it; returns nil and sets the error if it does not, or if `body` fails.
private func attempt<Result>(
    _ operation: SecKeyOperationType, _ key: SecKey, _ algorithm: SecKeyAlgorithm,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    _ body: (KeyAlgorithm) throws(CertificateFailure) -> Result
) -> Result? {
    guard let parsed = KeyAlgorithm(algorithm), parsed.supports(operation, key) else {
        unsafe set(error, errSecParam)
        return nil
    }
    do throws(CertificateFailure) {
        return try body(parsed)
    } catch let failure {
        if case .library = failure { unsafe set(error, errSecInternal) } else { unsafe set(error, errSecParam) }
        return nil
    }
}

/// Sets an error whose code is a status.
func set(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ status: OSStatus) {
    let failure = NSError(
        domain: statusDomain, code: Int(status),
        userInfo: [NSLocalizedDescriptionKey: SecCopyErrorMessageString(status, nil) as String? ?? ""])
    unsafe error?.pointee = Unmanaged.passRetained(failure)
}
