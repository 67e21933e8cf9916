internal import CKCLibCrypto
package import KCByteStreams

/// A hash function, for complete input.
///
/// The program's own formats are hashed with `SHA256`.
package enum HashFunction: String, CaseIterable, Hashable, Sendable {
    /// Only to read files of other programs.
    case md5 = "MD5"
    case sha1 = "SHA1"
    case sha224 = "SHA224"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    /// The length of a hash in bytes.
    package var length: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The hash of public bytes; traps like `SHA256`.
    package func digest(of bytes: borrowing Span<UInt8>) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe EVP_Digest(buffer.baseAddress, buffer.count, &digest, nil, algorithm, nil)
        }
        precondition(status == 1, "libcrypto cannot hash")
        return digest
    }

    /// Appends the hash of `bytes` to `output`, since it may be a key.
    ///
    /// - Throws: `CryptographyFailure.library`, also where libcrypto has no MD5; nothing is appended.
    package func hash(_ bytes: borrowing Span<UInt8>, into output: inout SecretBytes) throws(CryptographyFailure) {
        let algorithm = unsafe try LibCrypto.require(algorithm, "finding a hash function")
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(CryptographyFailure) in
            unsafe try output.append(length: length, failure: .library("hashing")) { output in
                unsafe EVP_Digest(buffer.baseAddress, buffer.count, output, nil, algorithm, nil)
            }
        }
    }

    /// The hash of `bytes`, which may be a key.
    ///
    /// - Throws: `CryptographyFailure.library`, also where libcrypto has no MD5.
    package func hash(_ bytes: borrowing Span<UInt8>) throws(CryptographyFailure) -> SecretBytes {
        var output = SecretBytes(capacity: length)
        try hash(bytes, into: &output)
        return output
    }

    /// The hash of secret bytes.
    ///
    /// - Throws: `CryptographyFailure.library`, also where libcrypto has no MD5.
    package func hash(_ bytes: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes {
        try bytes.withBytes { bytes throws(CryptographyFailure) in try hash(bytes) }
    }

    /// Appends the hash of secret bytes to `output`.
    ///
    /// - Throws: as `hash(_:)`; nothing is appended.
    package func hash(_ bytes: borrowing SecretBytes, into output: inout SecretBytes) throws(CryptographyFailure) {
        try bytes.withBytes { bytes throws(CryptographyFailure) in try hash(bytes, into: &output) }
    }

    var algorithm: OpaquePointer? {
        switch self {
        case .md5: unsafe LibCrypto.md5
        case .sha1: unsafe LibCrypto.sha1
        case .sha224: unsafe LibCrypto.sha224
        case .sha256: unsafe LibCrypto.sha256
        case .sha384: unsafe LibCrypto.sha384
        case .sha512: unsafe LibCrypto.sha512
        }
    }
}
