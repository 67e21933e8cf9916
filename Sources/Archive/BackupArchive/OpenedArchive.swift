internal import AgeEncryption
package import DeviceIdentity
internal import KeychainModel

/// A genuine archive with what opens it: the only value from which streams can be read.
package struct OpenedArchive {
    /// What opened the streams.
    package enum Opening: Hashable, Sendable {
        /// They are not encrypted.
        case withoutKey
        /// The archive's own identity, which is its only key: only someone who knew the passphrase can have made it.
        case passphraseAlone
        /// The archive's own identity, beside which there are other recipients.
        case passphrase
        /// Identities that were given; they may open the metadata alone.
        case identities
    }

    /// What `kcbackup.json` says.
    package var header: ArchiveHeader { archive.header }
    /// The Ed25519 public key that signed, whose device ID is the one in the header.
    package var signer: [UInt8] { archive.signer }
    /// What opened the streams.
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

    /// False when an inspect key opened it, which reads the metadata alone.
    package var opensSecrets: Bool {
        switch secrets {
        case .clear, .opened: true
        case .closed: false
        }
    }

    /// Bytes of both streams.
    package var size: UInt64 { archive.extent.streams }
    /// Bytes of the metadata stream.
    package var metadataSize: UInt64 { archive.extent.metadata }
    /// How many bytes of the file were read so far, whenever and how often.
    package var bytesRead: UInt64 { archive.extent.read }

    /// Proves both streams, for callers that will not read both.
    ///
    /// - Parameter step: called once a piece.
    /// - Throws: `ArchiveFailure` (`damaged`, `stream`).
    package func proveStreams(_ step: () -> Void = {}) throws(ArchiveFailure) {
        try archive.proveStreams(step)
    }

    /// Reads the metadata stream to its end.
    ///
    /// - Throws: `ArchiveFailure` and what the visitor throws; nothing that it got may be believed then.
    package func readMetadata(_ visitor: inout some RecordVisitor) throws -> ReadMetadata {
        try archive.blamingDamageFirst {
            try recordReader(archive.source(.metadata(header.mode))).readMetadata(&visitor)
        }
    }

    /// What the archive was made of; both streams are proved for that.
    ///
    /// - Parameter step: called once a piece.
    /// - Throws: `ArchiveFailure`.
    package func source(_ step: () -> Void = {}) throws -> ArchiveSource {
        try archive.proveStreams(step)
        return try recordReader(archive.sourceAgain(.metadata(header.mode))).source
    }

    /// Reads both streams to their ends.
    ///
    /// - Parameter device: opens what this device sealed.
    /// - Returns: what was found, for `readAgain`.
    /// - Throws: `ArchiveFailure` and what the visitor throws; nothing that it got may be believed then.
    ///   `noMatchingIdentity` where `opensSecrets` is false.
    package func readAll(device: DeviceKey?, _ visitor: inout some RecordVisitor) throws -> ReadStreams {
        try archive.blamingDamageFirst {
            let secrets = try opened(archive.source(.secrets(header.mode)), secrets)
            return try recordReader(archive.source(.metadata(header.mode)))
                .readAll(secrets: secrets, device: device, &visitor)
        }
    }

    /// Reads both streams once more, without hashing the file again: what is in them must be what `readAll` found.
    ///
    /// - Throws: as `readAll`, and `damaged` when their content has changed.
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

    private func opened(
        _ source: consuming ProvenSource, _ opener: StreamOpener
    ) throws(ArchiveFailure) -> ProtectedSource {
        do {
            switch opener {
            case .clear: return ProtectedSource(clear: source)
            case .opened(let identity):
                let opened = try ProtectedSource(encrypted: source, identities: [identity])
                // Counted before, but maybe in other bytes than those that were proved.
                guard opening != .passphraseAlone || opened.recipientCount == 1 else {
                    throw ArchiveFailure.damaged(rule: "it changed while it was being read")
                }
                return opened
            case .closed(let recipients): throw ArchiveFailure.noMatchingIdentity(recipients)
            }
        } catch {
            throw ArchiveFailure(any: error)
        }
    }
}
