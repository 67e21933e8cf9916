package import KCBackupArchive
internal import KCKeychainModel

/// The properties that an archive shows without any key.
///
/// None of them is verified.
package struct ArchiveOutline: Hashable, Sendable {
    /// The contents of `kcbackup.json`.
    package let header: ArchiveHeader
    /// The size of the file in bytes.
    package let size: UInt64
    /// The checksum that distinguishes the archive from every other file.
    package let checksum: ArchiveChecksum
    /// True if a passphrase opens the archive.
    package let hasPassphrase: Bool
    /// The kinds of recipients of the metadata stream, one for each recipient.
    package let metadataRecipients: [String]
    /// The kinds of recipients of the secrets stream, one for each recipient.
    package let secretsRecipients: [String]
    /// Where something opens the archive.
    package var reach: KeyReach

    /// Reads the outline.
    package init(_ file: ArchiveFile) throws(ArchiveFailure) {
        header = file.header
        size = file.size
        checksum = try file.checksum()
        hasPassphrase = file.hasPassphrase
        let recipients = try file.recipients()
        metadataRecipients = recipients.metadata
        secretsRecipients = recipients.secrets
        reach = hasPassphrase || header.mode == .unencrypted ? .anywhere : .itsKeys
    }
}
