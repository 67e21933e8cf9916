package import KCByteStreams
internal import CKCLibCrypto

/// A hash function for reading files of other programs; this program's own formats do not rely on the old ones.
package enum HashFunction: String, CaseIterable, Hashable, Sendable {
    case md5 = "MD5"
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"

    /// The length of a hash in bytes.
    package var length: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    /// Appends the hash of `bytes` to `output`, since it may be a key.
    ///
    /// - Throws: `CryptographyFailure.library`; nothing is appended.
    package func hash(_ bytes: borrowing Span<UInt8>, into output: inout SecretBytes) throws(CryptographyFailure) {
        let algorithm = unsafe try LibCrypto.require(algorithm, "finding a hash function")
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(CryptographyFailure) in
            unsafe try output.append(length: length, failure: .library("hashing")) { output in
                unsafe EVP_Digest(buffer.baseAddress, buffer.count, output, nil, algorithm, nil)
            }
        }
    }

    /// The hash of `bytes`.
    ///
    /// - Throws: `CryptographyFailure.library`.
    package func hash(_ bytes: borrowing Span<UInt8>) throws(CryptographyFailure) -> SecretBytes {
        var output = SecretBytes(capacity: length)
        try hash(bytes, into: &output)
        return output
    }

    var algorithm: OpaquePointer? {
        switch self {
        case .md5: unsafe LibCrypto.md5
        case .sha1: unsafe LibCrypto.sha1
        case .sha256: unsafe LibCrypto.sha256
        case .sha512: unsafe LibCrypto.sha512
        }
    }
}
