internal import CKCLibCrypto
package import KCByteStreams

/// The password-based key derivation function PBKDF2 (RFC 8018) with HMAC.
package enum PBKDF2 {
    /// Derives `count` bytes (at least 1); `rounds` is at least 1, and limiting it is up to the caller.
    package static func derive(
        password: borrowing SecretBytes, salt: borrowing Span<UInt8>, rounds: Int, hash: HashFunction, count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        let rounds = try LibCrypto.int32(rounds, "PBKDF2 rounds")
        let length = try LibCrypto.int32(count, "PBKDF2 output length")
        let saltLength = try LibCrypto.int32(salt.count, "PBKDF2 salt length")
        let passwordLength = try LibCrypto.int32(password.count, "password length")
        guard rounds >= 1, length >= 1 else { throw .unsupportedParameters("PBKDF2 rounds or output length") }
        let algorithm = unsafe try LibCrypto.require(hash.algorithm, "finding a hash function")
        var key = SecretBytes(capacity: count)
        try unsafe salt.withUnsafeBufferPointer { salt throws(CryptographyFailure) in
            try password.withBytes { span throws(CryptographyFailure) in
                try unsafe span.withUnsafeBufferPointer { bytes throws(CryptographyFailure) in
                    unsafe try key.append(length: count, failure: .library("PBKDF2")) { output in
                        unsafe bytes.withMemoryRebound(to: CChar.self) { password in
                            unsafe PKCS5_PBKDF2_HMAC(
                                password.baseAddress, passwordLength, salt.baseAddress, saltLength, rounds, algorithm,
                                length, output)
                        }
                    }
                }
            }
        }
        return key
    }
}
