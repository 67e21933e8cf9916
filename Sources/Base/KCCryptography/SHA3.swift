internal import CKCLibCrypto
internal import KCByteStreams

/// The functions of FIPS 202 that hybrid keys need, for complete and secret input.
enum SHA3 {
    /// The SHA3-256 of `bytes`, 32 bytes.
    static func hash256(_ bytes: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes {
        let algorithm = unsafe try LibCrypto.require(LibCrypto.sha3256, "finding SHA3-256")
        var output = SecretBytes(capacity: 32)
        try bytes.withBytes { bytes throws(CryptographyFailure) in
            try unsafe bytes.withUnsafeBufferPointer { buffer throws(CryptographyFailure) in
                unsafe try output.append(length: 32, failure: .library("hashing")) { output in
                    unsafe EVP_Digest(buffer.baseAddress, buffer.count, output, nil, algorithm, nil)
                }
            }
        }
        return output
    }

    /// The first `count` bytes of the SHAKE256 of `bytes`.
    static func shake256(
        _ bytes: borrowing SecretBytes, count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        let algorithm = unsafe try LibCrypto.require(LibCrypto.shake256, "finding SHAKE256")
        let context = unsafe try LibCrypto.require(unsafe EVP_MD_CTX_new(), "hashing")
        defer { unsafe EVP_MD_CTX_free(context) }
        try LibCrypto.check(unsafe EVP_DigestInit_ex2(context, algorithm, nil), "hashing")
        let status = bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        }
        try LibCrypto.check(status, "hashing")
        var output = SecretBytes(capacity: count)
        unsafe try output.append(length: count, failure: .library("hashing")) { output in
            unsafe EVP_DigestFinalXOF(context, output, count)
        }
        return output
    }
}
