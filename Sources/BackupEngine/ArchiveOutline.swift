public import BackupArchive
internal import KeychainModel

/// What an archive shows of itself without any key.
///
/// Nothing of it is verified.
public struct ArchiveOutline: Hashable, Sendable {
    /// What `kcbackup.json` says.
    public let header: ArchiveHeader
    /// Bytes of the file.
    public let size: UInt64
    /// True when a passphrase opens it.
    public let hasPassphrase: Bool
    /// Kinds of recipients of the metadata stream, one entry each.
    public let metadataRecipients: [String]
    /// Kinds of recipients of the secrets stream, one entry each.
    public let secretsRecipients: [String]

    /// Reads the outline.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `stream`).
    public init(_ file: ArchiveFile) throws(ArchiveFailure) {
        header = file.header
        size = file.size
        hasPassphrase = file.hasPassphrase
        let recipients = try file.recipients()
        metadataRecipients = recipients.metadata
        secretsRecipients = recipients.secrets
    }
}
