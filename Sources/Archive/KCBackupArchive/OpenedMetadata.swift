package import KCAgeEncryption
internal import KCByteStreams
internal import KCKeychainModel

/// A genuine archive of which the metadata alone can be read, also if its keys would open the secrets.
package struct OpenedMetadata {
    private let archive: OpenedArchive

    fileprivate init(_ archive: OpenedArchive) { self.archive = archive }

    /// The contents of `kcbackup.json`.
    package var header: ArchiveHeader { archive.header }

    /// Verifies both streams, of which `read` reads one.
    package func proveStreams() throws(ArchiveFailure) { try archive.proveStreams() }

    /// Reads the metadata stream to its end.
    ///
    /// - Throws: `ArchiveFailure` and what the visitor throws; the visitor must then discard what it received.
    package func read(_ visitor: inout some RecordVisitor) throws -> ReadMetadata {
        try archive.readMetadata(&visitor)
    }
}

extension GenuineArchive {
    /// Opens the metadata with identities of its recipients, or without a key if the archive is not encrypted.
    ///
    /// No key is tried on the secrets.
    ///
    /// - Throws: `keyNeeded` for an encrypted archive without identities.
    package func openMetadata(identities: [any Identity]) throws(ArchiveFailure) -> OpenedMetadata {
        let closed = StreamOpener.closed(recipients: recipients.secrets)
        if header.mode == .unencrypted {
            return OpenedMetadata(OpenedArchive(self, opening: .withoutKey, metadata: .clear, secrets: closed))
        }
        if identities.isEmpty { throw .keyNeeded(passphraseOpens: hasPassphrase) }
        let metadata = try openers([.metadata(header.mode)], among: identities)[0]
        guard case .opened = metadata else {
            throw .noMatchingIdentity(recipients.metadata, hasPassphrase: hasPassphrase)
        }
        return OpenedMetadata(OpenedArchive(self, opening: .identities, metadata: metadata, secrets: closed))
    }
}
