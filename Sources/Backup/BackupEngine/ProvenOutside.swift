package import BackupArchive
internal import DeviceIdentity

/// An archive whose outside was proved: everything that can be checked without a key, to its last byte.
///
/// Container, checksums and signature fit. Whether the streams open, and what is in them, was not seen.
package struct ProvenOutside {
    /// What it shows without a key, which is what its device signed.
    package let outline: ArchiveOutline
    /// Who made it; never `passphrase`, which takes the passphrase to know.
    package let origin: Origin

    /// Proves the outside of `file`, hashing every byte once.
    ///
    /// - Parameter local: nil where there is no device key yet; then no archive is from this device.
    /// - Throws: `ArchiveFailure` (`damaged`, `limit`, `stream`).
    package init(_ file: ArchiveFile, local: LocalIdentity?) throws(ArchiveFailure) {
        let genuine = try file.prove()
        try genuine.proveStreams()
        outline = try ArchiveOutline(file)
        origin = Origin(signer: genuine.signer, local: local, opening: nil)
    }
}
