internal import CKCLibCrypto
internal import KCByteStreams

/// Why a cryptographic operation failed.
package enum CryptographyFailure: Error, Hashable, Sendable {
    /// A tag, wrapped key or signature does not match its key and data.
    case authentication
    /// libcrypto failed for a reason other than the input (memory, a broken configuration).
    case library(String)
    /// This library, which is loaded only where it is needed, is missing, or lacks a function.
    case libraryMissing(String)
    /// Not enough memory for a key derivation that needs this many bytes.
    case outOfMemory(bytes: Int)
    /// The operating system provides no random numbers.
    case randomness
    /// A length or number is outside the range that the operation supports; the text names it.
    case unsupportedParameters(String)
    /// The key is held by a security chip, which does not let it be used.
    case chip(ChipFailure)
}

/// Converts libcrypto's results into Swift errors, and caches the algorithms it fetches.
///
/// Fetching an algorithm costs more than using it, so each is fetched once and kept for the life of the process.
@safe enum LibCrypto {
    nonisolated(unsafe) static let md5 = unsafe EVP_MD_fetch(nil, "MD5", nil)
    nonisolated(unsafe) static let sha1 = unsafe EVP_MD_fetch(nil, "SHA1", nil)
    nonisolated(unsafe) static let sha224 = unsafe EVP_MD_fetch(nil, "SHA224", nil)
    nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) static let sha384 = unsafe EVP_MD_fetch(nil, "SHA384", nil)
    nonisolated(unsafe) static let sha512 = unsafe EVP_MD_fetch(nil, "SHA512", nil)
    nonisolated(unsafe) static let sha3256 = unsafe EVP_MD_fetch(nil, "SHA3-256", nil)
    nonisolated(unsafe) static let shake256 = unsafe EVP_MD_fetch(nil, "SHAKE256", nil)
    nonisolated(unsafe) static let hmac = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
    nonisolated(unsafe) static let aes256GCM = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
    nonisolated(unsafe) static let chaCha20Poly1305 = unsafe EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)
    nonisolated(unsafe) static let aes256Wrap = unsafe EVP_CIPHER_fetch(nil, "AES-256-WRAP", nil)

    /// Checks for libcrypto's success code, 1.
    static func check(_ status: Int32, _ operation: StaticString) throws(CryptographyFailure) {
        if status != 1 { throw failure(operation) }
    }

    /// Unwraps a pointer that is NULL on failure.
    static func require(_ pointer: OpaquePointer?, _ operation: StaticString) throws(CryptographyFailure)
        -> OpaquePointer
    {
        guard let pointer = unsafe pointer else { throw failure(operation) }
        return unsafe pointer
    }

    /// Creates the error of `operation` and clears libcrypto's error queue, which would otherwise grow.
    static func failure(_ operation: StaticString) -> CryptographyFailure {
        ERR_clear_error()
        return .library("\(operation)")
    }

    /// Creates the error for an invalid tag.
    static func authenticationFailure() -> CryptographyFailure {
        ERR_clear_error()
        return .authentication
    }

    /// Throws if `count` does not fit into the C `int` of the EVP functions.
    static func int32(_ count: Int, _ what: StaticString) throws(CryptographyFailure) -> Int32 {
        guard let count = Int32(exactly: count) else { throw .unsupportedParameters("\(what)") }
        return count
    }

    /// Throws if a value does not have exactly `expected` bytes.
    static func require(_ count: Int, is expected: Int, _ what: StaticString) throws(CryptographyFailure) {
        guard count == expected else { throw .unsupportedParameters("\(what)") }
    }
}

extension SecretBytes {
    /// Appends exactly `length` (at least 1) bytes that `fill` writes; `fill` returns 1 for success.
    ///
    /// On any other result the output is wiped, nothing is appended, and `failure` is thrown.
    mutating func append(
        length: Int, failure: CryptographyFailure, _ fill: (UnsafeMutablePointer<UInt8>) -> Int32
    ) throws(CryptographyFailure) {
        try append(upTo: length) { output throws(CryptographyFailure) in
            let status: Int32 = unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                guard let start = buffer.baseAddress else { return 0 }
                let status = unsafe fill(start)
                if status == 1 { count += length } else { unsafe OPENSSL_cleanse(start, length) }
                return status
            }
            if status != 1 {
                ERR_clear_error()
                throw failure
            }
        }
    }
}
