internal import ByteStreams
internal import CLibCrypto

/// Why a cryptographic operation did not happen.
package enum CryptographyFailure: Error, Hashable, Sendable {
    /// A tag, a wrapped key or a signature does not fit its key and its data.
    case authentication
    /// libcrypto refused an operation that cannot fail by its input (memory, a crippled configuration).
    case library(String)
    /// There is no memory for a key derivation that takes this many bytes.
    case outOfMemory(bytes: Int)
    /// The operating system gives no random numbers.
    case randomness
    /// A length or a number lies outside what the operation is defined for; the text names which.
    case unsupportedParameters(String)
}

/// The one funnel through which libcrypto's answers become Swift errors, and the algorithms it was asked for once.
///
/// Fetching an algorithm costs more than using it, so each is fetched on first use and kept for the process's life.
@safe enum LibCrypto {
    nonisolated(unsafe) static let sha1 = unsafe EVP_MD_fetch(nil, "SHA1", nil)
    nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) static let sha512 = unsafe EVP_MD_fetch(nil, "SHA512", nil)
    nonisolated(unsafe) static let hmac = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
    nonisolated(unsafe) static let aes256GCM = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
    nonisolated(unsafe) static let chaCha20Poly1305 = unsafe EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)
    nonisolated(unsafe) static let aes256Wrap = unsafe EVP_CIPHER_fetch(nil, "AES-256-WRAP", nil)

    /// Accepts libcrypto's 1 for success, and only that.
    static func check(_ status: Int32, _ operation: StaticString) throws(CryptographyFailure) {
        if status != 1 { throw failure(operation) }
    }

    /// Unwraps a pointer that libcrypto returns as NULL when it fails.
    static func require(_ pointer: OpaquePointer?, _ operation: StaticString) throws(CryptographyFailure)
        -> OpaquePointer
    {
        guard let pointer = unsafe pointer else { throw failure(operation) }
        return unsafe pointer
    }

    /// Makes the error of `operation` and empties libcrypto's queue, which would otherwise grow.
    static func failure(_ operation: StaticString) -> CryptographyFailure {
        ERR_clear_error()
        return .library("\(operation)")
    }

    /// Makes the error of a tag that does not fit.
    static func authenticationFailure() -> CryptographyFailure {
        ERR_clear_error()
        return .authentication
    }

    /// Refuses what does not fit into the C `int` of the EVP interfaces.
    static func int32(_ count: Int, _ what: StaticString) throws(CryptographyFailure) -> Int32 {
        guard let count = Int32(exactly: count) else { throw .unsupportedParameters("\(what)") }
        return count
    }

    /// Refuses a value that does not have exactly `count` bytes.
    static func require(_ count: Int, is expected: Int, _ what: StaticString) throws(CryptographyFailure) {
        guard count == expected else { throw .unsupportedParameters("\(what)") }
    }
}

extension SecretBytes {
    /// Appends exactly `length` (at least 1) bytes that `fill` writes; `fill` returns 1 for success.
    ///
    /// On any other answer what it wrote is wiped, nothing is appended, and `failure` is thrown.
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
