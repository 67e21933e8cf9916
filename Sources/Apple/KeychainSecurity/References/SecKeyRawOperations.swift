// Fence: reads and writes buffers of the caller, as Apple's functions do.
internal import Foundation
internal import KCCryptography
internal import KCKeychainModel

/// How data is padded before an operation with `SecKeyRawSign`, `SecKeyEncrypt` and their counterparts.
///
/// The empty set is no padding.
public struct SecPadding: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt32

    /// Creates a padding from Apple's number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS #1 v1.5; for a signature, of data that already names its hash function.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// OAEP with SHA-1, for encryption.
    public static let OAEP = SecPadding(rawValue: 2)
    /// For an ECDSA signature: two concatenated numbers instead of DER.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// Not supported, as on Apple's systems: MD2.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// Not supported, as on iOS: MD5.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS #1 v1.5 signature of a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS #1 v1.5 signature of a SHA-224 digest.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS #1 v1.5 signature of a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS #1 v1.5 signature of a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS #1 v1.5 signature of a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}

// The algorithms of the paddings are those of SecKey.c in Apple's Security-61901.

/// Signs a digest; `SecKeyCreateSignature` is the newer form.
///
/// ```swift
/// func sign(_ digest: [UInt8], with key: SecKey) -> [UInt8]? {
///     var signature = [UInt8](repeating: 0, count: 512)
///     var length = signature.count
///     let status = SecKeyRawSign(key, .PKCS1SHA256, digest, digest.count, &signature, &length)
///     return status == errSecSuccess ? Array(signature.prefix(length)) : nil
/// }
/// ```
///
/// - Parameters:
///   - key: a private RSA key or one on a NIST curve.
///   - padding: for an elliptic curve, `sigRaw`, or anything else for DER.
///   - dataToSign: the digest.
///   - dataToSignLen: its number of bytes.
///   - sig: the place for the signature.
///   - sigLen: the size of the place; set to the length of the signature.
/// - Returns: `errSecSuccess`; `errSecParam` for a padding that the key has no use for, a digest of the wrong length,
///   or too small a place.
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>, _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard dataToSignLen >= 0, let algorithm = key.signatureAlgorithm(padding, digestSize: dataToSignLen) else {
        return errSecParam
    }
    let digest = unsafe data(dataToSign, dataToSignLen)
    return unsafe perform(into: sig, sigLen) { error in
        unsafe SecKeyCreateSignature(key, algorithm, digest, error) as Data?
    }
}

/// Verifies the signature of a digest; `SecKeyVerifySignature` is the newer form.
///
/// - Parameters:
///   - key: the public key.
///   - padding: as for `SecKeyRawSign`.
///   - signedData: the digest.
///   - signedDataLen: its number of bytes.
///   - sig: the signature.
///   - sigLen: its number of bytes.
/// - Returns: `errSecSuccess`; −9809 (`errSSLCrypto`) if the signature is wrong; `errSecParam`.
@discardableResult
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>, _ sigLen: Int
) -> OSStatus {
    guard signedDataLen >= 0, sigLen >= 0,
        let algorithm = key.signatureAlgorithm(padding, digestSize: signedDataLen)
    else { return errSecParam }
    let digest = unsafe data(signedData, signedDataLen)
    let signature = unsafe data(sig, sigLen)
    var error: Unmanaged<CFError>?
    if unsafe SecKeyVerifySignature(key, algorithm, digest, signature, &error) { return errSecSuccess }
    return unsafe status(of: error)
}

/// Encrypts data for a public key; `SecKeyCreateEncryptedData` is the newer form.
///
/// - Parameters:
///   - key: a public RSA key.
///   - padding: `PKCS1`, `OAEP` or none.
///   - plainText: the data.
///   - plainTextLen: its number of bytes.
///   - cipherText: the place for the encrypted data.
///   - cipherTextLen: the size of the place; set to the length of the encrypted data.
/// - Returns: `errSecSuccess`; `errSecParam`, as for `SecKeyRawSign`.
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard plainTextLen >= 0, let algorithm = key.encryptionAlgorithm(padding) else { return errSecParam }
    let plain = unsafe data(plainText, plainTextLen)
    return unsafe perform(into: cipherText, cipherTextLen) { error in
        unsafe SecKeyCreateEncryptedData(key, algorithm, plain, error) as Data?
    }
}

/// Decrypts data with a private key; `SecKeyCreateDecryptedData` is the newer form.
///
/// Without padding, zeros at the start of the result are dropped.
///
/// - Parameters:
///   - key: a private RSA key.
///   - padding: as for `SecKeyEncrypt`.
///   - cipherText: the encrypted data.
///   - cipherTextLen: its number of bytes.
///   - plainText: the place for the data.
///   - plainTextLen: the size of the place; set to the length of the data.
/// - Returns: `errSecSuccess`; `errSecParam`, as for `SecKeyRawSign`.
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard cipherTextLen >= 0, let algorithm = key.encryptionAlgorithm(padding) else { return errSecParam }
    let sealed = unsafe data(cipherText, cipherTextLen)
    return unsafe perform(into: plainText, plainTextLen) { error in
        let plain = unsafe SecKeyCreateDecryptedData(key, algorithm, sealed, error) as Data?
        return padding == [] ? plain.map { $0.drop { $0 == 0 } } : plain
    }
}

extension SecKey {
    fileprivate func signatureAlgorithm(_ padding: SecPadding, digestSize: Int) -> SecKeyAlgorithm? {
        switch kind {
        case .rsa:
            switch padding {
            case []: .rsaSignatureRaw
            case .PKCS1: .rsaSignatureDigestPKCS1v15Raw
            case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
            case .PKCS1SHA224: .rsaSignatureDigestPKCS1v15SHA224
            case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
            case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
            case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
            default: nil
            }
        case .ec:
            switch (padding, digestSize) {
            case (.sigRaw, _): .ecdsaSignatureRFC4754
            case (.PKCS1, 20): .ecdsaSignatureDigestX962SHA1
            case (.PKCS1, 28): .ecdsaSignatureDigestX962SHA224
            case (.PKCS1, 32): .ecdsaSignatureDigestX962SHA256
            case (.PKCS1, 48): .ecdsaSignatureDigestX962SHA384
            case (.PKCS1, 64): .ecdsaSignatureDigestX962SHA512
            // As in Apple's SecKey.c: any other padding, or none, selects DER.
            default: .ecdsaSignatureDigestX962
            }
        default: nil
        }
    }

    fileprivate func encryptionAlgorithm(_ padding: SecPadding) -> SecKeyAlgorithm? {
        guard kind == .rsa else { return nil }
        switch padding {
        case []: return .rsaEncryptionRaw
        case .PKCS1: return .rsaEncryptionPKCS1
        case .OAEP: return .rsaEncryptionOAEPSHA1
        default: return nil
        }
    }
}

/// Runs an operation, and copies its result to the place of the caller if it fits.
private func perform(
    into place: UnsafeMutablePointer<UInt8>, _ size: UnsafeMutablePointer<Int>,
    _ operation: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Data?
) -> OSStatus {
    var error: Unmanaged<CFError>?
    guard let result = unsafe operation(&error) else { return unsafe status(of: error) }
    guard unsafe result.count <= size.pointee else { return errSecParam }
    unsafe size.pointee = result.count
    unsafe result.copyBytes(to: place, count: result.count)
    return errSecSuccess
}

private func data(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CFData {
    unsafe CFDataCreate(nil, bytes, count)
}

/// The status in an error, which this releases.
private func status(of error: Unmanaged<CFError>?) -> OSStatus {
    let status = unsafe error.map { unsafe OSStatus($0.takeRetainedValue().code) } ?? errSecInternal
    // The older functions have a code of their own for a wrong signature.
    return status == errSecVerifyFailed ? errSSLCrypto : status
}

private let errSSLCrypto: OSStatus = -9809
