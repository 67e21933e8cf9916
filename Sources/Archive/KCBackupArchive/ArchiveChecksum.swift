package import KCCryptography

/// The SHA-256 of the `SHA256SUMS` of an archive, which distinguishes it from every other file.
///
/// `SHA256SUMS` has the checksums of all other members, and is what the device signs. Two intact archives with one
/// checksum have the same members, byte for byte; after a rekey, an archive has another one. Reading it takes no more
/// than the ends of the members: it does not show that they are intact.
package struct ArchiveChecksum: Hashable, Sendable {
    /// The hash.
    package let digest: SHA256Digest

    /// Creates a checksum that was recorded.
    package init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// Computes the checksum from the contents of `SHA256SUMS`.
    init(of checksums: [UInt8]) {
        digest = SHA256.hash(checksums.span)
    }
}
