package import BackupArchive
internal import KeychainModel

/// What an archive shows of itself without any key.
///
/// Nothing of it is verified.
package struct ArchiveOutline: Hashable, Sendable {
    /// What `kcbackup.json` says.
    package let header: ArchiveHeader
    /// Bytes of the file.
    package let size: UInt64
    /// True when a passphrase opens it.
    package let hasPassphrase: Bool
    /// Kinds of recipients of the metadata stream, one entry each.
    package let metadataRecipients: [String]
    /// Kinds of recipients of the secrets stream, one entry each.
    package let secretsRecipients: [String]

    /// Reads the outline.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `stream`).
    package init(_ file: ArchiveFile) throws(ArchiveFailure) {
        header = file.header
        size = file.size
        hasPassphrase = file.hasPassphrase
        let recipients = try file.recipients()
        metadataRecipients = recipients.metadata
        secretsRecipients = recipients.secrets
    }
}
