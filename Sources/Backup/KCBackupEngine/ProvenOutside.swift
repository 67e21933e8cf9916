package import KCBackupArchive
internal import KCDeviceIdentity

/// An archive of which everything was verified that can be verified without a key.
///
/// The container, the checksums and the signature are valid, to the last byte. The streams were not opened.
package struct ProvenOutside {
    /// The properties that the archive shows without a key, covered by the signature.
    package let outline: ArchiveOutline
    /// Who made the archive; never `passphrase`, because that requires the passphrase.
    package let origin: Origin

    /// Verifies everything that needs no key, hashing every byte of `file` once.
    ///
    /// - Parameter local: nil if there is no device key yet; then no archive counts as made by this device.
    package init(_ file: ArchiveFile, local: LocalIdentity?) throws(ArchiveFailure) {
        let genuine = try file.prove()
        try genuine.proveStreams()
        outline = try ArchiveOutline(file)
        origin = Origin(signer: genuine.signer, local: local, opening: nil)
    }
}
