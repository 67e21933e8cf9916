internal import AgeEncryption
public import DeviceIdentity
internal import KeychainModel

/// A genuine archive with what opens it: the only value from which streams can be read.
public struct OpenedArchive {
    /// What opened the streams.
    public enum Opening: Hashable, Sendable {
        /// They are not encrypted.
        case withoutKey
        /// The archive's own identity, which is its only key: only somebody who knew the passphrase can have made it.
        case passphraseAlone
        /// The archive's own identity, beside which there are other recipients.
        case passphrase
        /// Identities that were given; they may open the metadata alone.
        case identities
    }

    /// What `kcbackup.json` says.
    public var header: ArchiveHeader { archive.header }
    /// The Ed25519 public key that signed, whose device ID is the one in the header.
    public var signer: [UInt8] { archive.signer }
    /// What opened the streams.
    public let opening: Opening
    private let archive: GenuineArchive
    private let metadata: StreamOpener
    private let secrets: StreamOpener

    init(_ archive: GenuineArchive, opening: Opening, metadata: StreamOpener, secrets: StreamOpener) {
        self.archive = archive
        self.opening = opening
        self.metadata = metadata
        self.secrets = secrets
    }

    /// False when an inspect key opened it, which reads the metadata alone.
    public var opensSecrets: Bool {
        switch secrets {
        case .clear, .opened: true
        case .closed: false
        }
    }

    /// Reads the metadata stream to its end.
    ///
    /// - Returns: how much the archive holds.
    /// - Throws: `ArchiveFailure`; nothing that the visitor got may be believed then.
    public func readMetadata(_ visitor: inout some RecordVisitor) throws(ArchiveFailure) -> ArchiveContents {
        try recordReader().readMetadata(&visitor)
    }

    /// Reads both streams to their ends.
    ///
    /// - Parameter device: opens what this device sealed.
    /// - Returns: how much the archive holds.
    /// - Throws: `ArchiveFailure`; nothing that the visitor got may be believed then. `noMatchingIdentity` where
    ///   `opensSecrets` is false.
    public func readAll(
        device: DeviceKey?, _ visitor: inout some RecordVisitor
    ) throws(ArchiveFailure) -> ArchiveContents {
        let secrets = try source(.secrets(header.mode), secrets)
        return try recordReader().readAll(secrets: secrets, device: device, &visitor)
    }

    private func recordReader() throws(ArchiveFailure) -> RecordReader {
        try RecordReader(
            header: header, headerHash: archive.headerHash, metadata: source(.metadata(header.mode), metadata))
    }

    private func source(_ member: ArchiveMember, _ opener: StreamOpener) throws(ArchiveFailure) -> ProtectedSource {
        let source = try archive.source(member)
        do {
            switch opener {
            case .clear: return ProtectedSource(clear: source)
            case .opened(let identity):
                let opened = try ProtectedSource(encrypted: source, identities: [identity])
                // Counted before, but maybe in other bytes than those that were proved.
                guard opening != .passphraseAlone || opened.recipientCount == 1 else {
                    throw ArchiveFailure.damaged(rule: "it was changed while it was being read")
                }
                return opened
            case .closed(let recipients): throw ArchiveFailure.noMatchingIdentity(recipients)
            }
        } catch {
            throw ArchiveFailure(any: error)
        }
    }
}
