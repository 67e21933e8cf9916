internal import CKCLibCrypto
internal import Glibc
package import KCByteStreams

/// Random bytes for keys, and for public values that must be unique.
package enum RandomBytes {
    /// Creates `count` secret bytes with libcrypto's private generator (`RAND_priv_bytes`).
    ///
    /// - Throws: `CryptographyFailure.randomness` if the generator cannot be seeded.
    package static func secret(count: Int) throws(CryptographyFailure) -> SecretBytes {
        var secret = SecretBytes(capacity: count)
        if count == 0 { return secret }
        let length = try LibCrypto.int32(count, "number of random bytes")
        unsafe try secret.append(length: count, failure: .randomness) {
            unsafe RAND_priv_bytes($0, length)
        }
        return secret
    }

    /// Creates `count` public bytes (salts, nonces, identifiers) with `getentropy`.
    ///
    /// The kernel is asked each time, so that a copied or forked process does not repeat them.
    ///
    /// - Throws: `CryptographyFailure.randomness` if the kernel refuses.
    package static func bytes(count: Int) throws(CryptographyFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let status = unsafe bytes.withUnsafeMutableBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: rest.prefix(kernelLimit))
                guard let start = piece.baseAddress, unsafe getentropy(start, piece.count) == 0 else { return false }
                unsafe rest = rest.dropFirst(kernelLimit)
            }
            return true
        }
        guard status else { throw .randomness }
        return bytes
    }

    // getentropy(3) returns at most 256 bytes per call, and never fewer than requested.
    private static let kernelLimit = 256
}
