internal import CKCLibCrypto
package import KCByteStreams

/// The cost of scrypt: N = 2^logN, with r = 8 and p = 1.
package struct ScryptCost: Hashable, Sendable {
    /// The accepted range: 2^22 takes 4 GiB and about 13 seconds; age has the same limit.
    package static let range = 1...22

    /// The binary logarithm of N.
    package let logN: Int

    /// Creates a cost in `range`; nil for any other value.
    package init?(logN: Int) {
        guard Self.range.contains(logN) else { return nil }
        self.logN = logN
    }

    /// The memory that a derivation needs, in bytes (128 · r · N).
    package var memoryInBytes: Int { 128 * 8 << logN }
}

/// The password-based key derivation function scrypt (RFC 7914) with r = 8 and p = 1.
package enum Scrypt {
    /// Derives `count` bytes from a passphrase; slow and memory-hard by design.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for `count` outside 1...64, `outOfMemory`).
    package static func derive(
        passphrase: borrowing SecretBytes, salt: [UInt8], cost: ScryptCost, count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        guard (1...64).contains(count) else { throw .unsupportedParameters("scrypt output length") }
        // libcrypto's default limit of 32 MiB rejects logN from 15 on; 1 MiB more covers its small buffers.
        let memoryLimit = UInt64(cost.memoryInBytes) + 128 * 8 + 1_048_576
        var key = SecretBytes(capacity: count)
        try passphrase.withBytes { span throws(CryptographyFailure) in
            try unsafe span.withUnsafeBufferPointer { bytes throws(CryptographyFailure) in
                unsafe try key.append(length: count, failure: .outOfMemory(bytes: cost.memoryInBytes)) { output in
                    unsafe bytes.withMemoryRebound(to: CChar.self) { passphrase in
                        unsafe EVP_PBE_scrypt(
                            passphrase.baseAddress, passphrase.count, salt, salt.count, 1 << cost.logN, 8, 1,
                            memoryLimit, output, count)
                    }
                }
            }
        }
        return key
    }
}
