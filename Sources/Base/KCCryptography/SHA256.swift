internal import CKCLibCrypto

/// A SHA-256 digest.
package struct SHA256Digest: Hashable, Sendable {
    /// The 32 bytes.
    package let bytes: [UInt8]

    /// Creates a digest from 32 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses 64 lower-case hexadecimal digits, as `sha256sum` prints them; nil for anything else.
    package init?(hex: some StringProtocol) {
        guard let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    fileprivate init(trusted bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The 64 lower-case hexadecimal digits, as `sha256sum` prints them.
    package var hex: String { Hexadecimal.encode(bytes) }
}

/// Incremental SHA-256 (FIPS 180-4).
///
/// Hashing cannot fail because of its input; it traps without memory or without SHA-256 in libcrypto.
@safe package struct SHA256: ~Copyable {
    private let context: OpaquePointer

    /// Starts a new hash.
    package init() {
        guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex2(context, LibCrypto.sha256, nil) == 1
        else { preconditionFailure("libcrypto cannot hash") }
        unsafe self.context = unsafe context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    /// Adds bytes.
    package mutating func update(_ bytes: borrowing Span<UInt8>) {
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
        }
        precondition(status == 1, "libcrypto cannot hash")
    }

    /// Returns the digest.
    package consuming func finalize() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: 32)
        let status = unsafe EVP_DigestFinal_ex(context, &bytes, nil)
        precondition(status == 1, "libcrypto cannot hash")
        return SHA256Digest(trusted: bytes)
    }

    /// Hashes complete input.
    package static func hash(_ bytes: borrowing Span<UInt8>) -> SHA256Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }
}
