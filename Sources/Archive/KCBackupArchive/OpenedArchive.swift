internal import KCAgeEncryption
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCKeychainModel

/// A genuine archive together with its keys; its streams can be read only through this type.
package struct OpenedArchive {
    /// How the streams were opened.
    package enum Opening: Hashable, Sendable {
        /// They are not encrypted.
        case withoutKey
        /// The archive's own identity, which is its only key: only someone who knew the passphrase can have made the
        /// archive.
        case passphraseAlone
        /// The archive's own identity, in addition to which there are other recipients.
        case passphrase
        /// The given identities, which may open only the metadata.
        case identities
    }

    /// The contents of `kcbackup.json`.
    package var header: ArchiveHeader { archive.header }
    /// The Ed25519 public key of the signature, whose device ID is the one in the header.
    package var signer: [UInt8] { archive.signer }
    /// How the streams were opened.
    package let opening: Opening
    let archive: GenuineArchive
    let metadata: StreamOpener
    let secrets: StreamOpener

    init(_ archive: GenuineArchive, opening: Opening, metadata: StreamOpener, secrets: StreamOpener) {
        self.archive = archive
        self.opening = opening
        self.metadata = metadata
        self.secrets = secrets
    }

    /// False if an inspect key opened the archive, which reads only the metadata.
    package var opensSecrets: Bool {
        switch secrets {
        case .clear, .opened: true
        case .closed: false
        }
    }

    /// The size of both streams in bytes.
    package var size: UInt64 { archive.extent.streams }
    /// The size of the metadata stream in bytes.
    package var metadataSize: UInt64 { archive.extent.metadata }
    /// The number of bytes read from the file so far, including repeated reads; see `OpenFile.bytesRead`.
    package var bytesRead: UInt64 {
        get { archive.extent.read }
        nonmutating set { archive.parts.file.bytesRead = newValue }
    }

    /// Verifies both streams, for callers that will not read both.
    ///
    /// - Parameter step: called once per piece.
    package func proveStreams(_ step: () -> Void = {}) throws(ArchiveFailure) {
        try archive.proveStreams(step)
    }

    /// Reads the metadata stream to its end.
    ///
    /// - Throws: `ArchiveFailure` and what the visitor throws; the visitor must then discard what it received.
    package func readMetadata(_ visitor: inout some RecordVisitor) throws -> ReadMetadata {
        try archive.blamingDamageFirst {
            try recordReader(archive.source(.metadata(header.mode))).readMetadata(&visitor)
        }
    }

    /// Returns the source of the archive; this verifies both streams.
    ///
    /// - Parameter step: called once per piece.
    /// - Throws: `ArchiveFailure`.
    package func source(_ step: () -> Void = {}) throws -> ArchiveSource {
        try archive.proveStreams(step)
        return try recordReader(archive.sourceAgain(.metadata(header.mode))).source
    }

    /// Reads both streams to their ends.
    ///
    /// - Parameter device: opens secrets that this device sealed.
    /// - Returns: what was found, for `readAgain`.
    /// - Throws: `ArchiveFailure` and what the visitor throws; the visitor must then discard what it received.
    ///   `noMatchingIdentity` if `opensSecrets` is false.
    package func readAll(device: DeviceKey?, _ visitor: inout some RecordVisitor) throws -> ReadStreams {
        try archive.blamingDamageFirst {
            let secrets = try opened(archive.source(.secrets(header.mode)), secrets)
            return try recordReader(archive.source(.metadata(header.mode)))
                .readAll(secrets: secrets, device: device, &visitor)
        }
    }

    /// Reads both streams again without hashing the file; their content must be what `readAll` found.
    ///
    /// - Throws: the same as `readAll`, and `damaged` if the content has changed.
    package func readAgain(
        _ first: ReadStreams, device: DeviceKey?, _ visitor: inout some RecordVisitor
    ) throws {
        let secrets = try opened(archive.sourceAgain(.secrets(header.mode)), secrets)
        let second = try recordReader(archive.sourceAgain(.metadata(header.mode)))
            .readAll(secrets: secrets, device: device, &visitor)
        guard second == first else { throw ArchiveFailure.damaged(rule: "it changed while it was being read") }
    }

    private func recordReader(_ source: consuming ProvenSource) throws -> RecordReader {
        try RecordReader(
            header: header, headerHash: archive.headerHash, metadata: opened(source, metadata))
    }

    /// The plaintext of a stream; throws `ArchiveFailure.noMatchingIdentity` if no key opens it.
    func opened(
        _ source: consuming ProvenSource, _ opener: StreamOpener
    ) throws(ArchiveFailure) -> ProtectedSource {
        do {
            switch opener {
            case .clear: return ProtectedSource(clear: source)
            case .opened(let key):
                let opened = try ProtectedSource(encrypted: source, under: key)
                // The recipients were counted before, but possibly in other bytes than those being read now.
                guard opening != .passphraseAlone || opened.recipientCount == 1 else {
                    throw ArchiveFailure.damaged(rule: "it changed while it was being read")
                }
                return opened
            case .closed(let recipients):
                throw ArchiveFailure.noMatchingIdentity(recipients, hasPassphrase: archive.hasPassphrase)
            }
        } catch AgeFailure.headerAuthentication {
            // The header was genuine when the key was found.
            throw .damaged(rule: "it changed while it was being read")
        } catch {
            throw ArchiveFailure(any: error)
        }
    }
}
