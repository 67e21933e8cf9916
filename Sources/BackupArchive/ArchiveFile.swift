public import AgeEncryption
public import ByteStreams
internal import Cryptography
public import DeviceIdentity
internal import KeychainModel
internal import TarArchive

/// An archive that was opened for reading: its container is sound, its header understood, nothing proved yet.
public final class ArchiveFile {
    /// What `kcbackup.json` says.
    public let header: ArchiveHeader
    /// True when a passphrase opens it.
    public let hasPassphrase: Bool
    /// Its size in bytes.
    public let size: UInt64
    private let file: OpenFile
    private let headerHash: SHA256Digest
    private let members: [ArchiveMember: TarMember]
    /// What the members were when they were proved; empty before that.
    private var proven: [ArchiveMember: SHA256Digest] = [:]

    /// Opens a file by its path; symbolic links in the last component are not followed.
    ///
    /// - Throws: `ArchiveFailure` (`file`, `notAnArchive`, `newerFormat`, `damaged`).
    public convenience init(path: String) throws(ArchiveFailure) {
        do {
            try self.init(OpenFile.reading(path))
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Reads the container and the header.
    ///
    /// - Throws: `ArchiveFailure` (`notAnArchive`, `newerFormat`, `damaged`, `stream`).
    public init(_ file: OpenFile) throws(ArchiveFailure) {
        do {
            size = try file.size()
            try Self.refuseNewerFormat(file)
            let directory = try TarDirectory.read(file)
            guard let first = directory.members.first, first.name == ArchiveMember.header.name else {
                throw ArchiveFailure.notAnArchive
            }
            let bytes = try Self.read(first, of: file, limit: ArchiveLimits.headerSize)
            let header = try bytes.withBytes { span throws(ArchiveFailure) in try ArchiveHeader(parsing: span) }
            let hasPassphrase = directory.members.contains { $0.name == ArchiveMember.identity.name }
            let expected = ArchiveMember.all(header.mode, withPassphrase: hasPassphrase)
            guard directory.members.map(\.name) == expected.map(\.name),
                header.mode == .encrypted || !hasPassphrase
            else { throw ArchiveFailure.damaged(rule: "it does not have exactly the members of its mode, in order") }
            guard directory.members.allSatisfy({ $0.modified == header.created.seconds }) else {
                throw ArchiveFailure.damaged(rule: "a member has another time than the archive")
            }
            self.header = header
            headerHash = bytes.withBytes { SHA256.hash($0) }
            self.hasPassphrase = hasPassphrase
            members = Dictionary(uniqueKeysWithValues: zip(expected, directory.members))
            self.file = file
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Proves that every member is what its device signed; from then on a stream that was changed since is refused.
    ///
    /// - Returns: the public key that signed, whose device ID is the one in the header.
    /// - Throws: `ArchiveFailure` (`damaged`, `stream`).
    @discardableResult
    public func proveGenuine() throws(ArchiveFailure) -> [UInt8] {
        let text = try read(.checksums, limit: ArchiveLimits.checksumsSize)
        let signature = try read(.signature, limit: ArchiveLimits.signatureSize)
        do {
            let summed = ArchiveMember.summed(header.mode, withPassphrase: hasPassphrase)
            var digests: [ArchiveMember: SHA256Digest] = [:]
            var sums: [(name: String, digest: SHA256Digest)] = []
            for member in summed {
                var source = HashingSource(try slice(member))
                // Locking a megabyte of memory takes longer than hashing a small member.
                let length = members[member]?.length ?? 0
                try source.forEachPiece(upTo: Int(min(max(length, 1), 1 << 20))) { _ in }
                let digest = source.finalize()
                digests[member] = digest
                sums.append((member.name, digest))
            }
            guard Checksums.encode(sums) == text, digests[.header] == headerHash else {
                throw ArchiveFailure.damaged(rule: "a member does not have its checksum")
            }
            let publicKey = try SSHSignature.verify(signature, message: text)
            guard DeviceID(publicKey: publicKey) == header.device else {
                throw ArchiveFailure.damaged(rule: "it is signed by another device than it names")
            }
            proven = digests
            return publicKey
        } catch is SSHSignatureFailure {
            throw .damaged(rule: "the signature does not fit")
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// The kinds of recipients of a stream, readable without a key; empty in an unencrypted archive.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `stream`).
    public func recipientKinds(ofSecrets: Bool) throws(ArchiveFailure) -> [String] {
        guard header.mode == .encrypted else { return [] }
        do {
            let slice = try slice(ofSecrets ? .secrets(header.mode) : .metadata(header.mode))
            return try AgeHeader.read(from: slice).stanzas.map(\.type)
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Opens the archive's own identity with a passphrase.
    ///
    /// - Throws: `ArchiveFailure` (`noPassphraseSet`, `wrongPassphrase`, `limit`, `damaged`, `age`).
    public func unlock(passphrase: borrowing SecretBytes) throws(ArchiveFailure) -> ArchiveKey {
        guard hasPassphrase else { throw .noPassphraseSet }
        do {
            let identity = ScryptIdentity(passphrase: passphrase)
            var decryptor = try AgeDecryptor(slice(.identity), identities: [identity])
            let text = try decryptor.readAll(limit: ArchiveLimits.identitySize, as: "identity size")
            let parsed = try IdentityFile.parse(text)
            guard parsed.identities.count == 1, parsed.comments.contains(IdentityNote.archive(header.archiveID)) else {
                throw ArchiveFailure.damaged(rule: "the passphrase's identity belongs to another archive")
            }
            let recipients = try (recipientKinds(ofSecrets: true).count, recipientKinds(ofSecrets: false).count)
            let isOnlyKey = parsed.comments.contains(IdentityNote.onlyKey) && recipients == (1, 1)
            return ArchiveKey(identities: parsed.identities, provesOrigin: isOnlyKey)
        } catch AgeFailure.noMatchingIdentity {
            throw .damaged(rule: "'\(ArchiveMember.identity.name)' is not for a passphrase")
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Reads the metadata stream to its end.
    ///
    /// - Returns: how much the archive holds.
    /// - Throws: `ArchiveFailure`; nothing that the visitor got may be believed then.
    public func readMetadata(
        _ key: ArchiveKey?, _ visitor: inout some RecordVisitor
    ) throws(ArchiveFailure) -> ArchiveContents {
        try recordReader(key).readMetadata(&visitor)
    }

    /// Reads both streams to their ends.
    ///
    /// - Parameter device: opens what this device sealed.
    /// - Returns: how much the archive holds.
    /// - Throws: `ArchiveFailure`; nothing that the visitor got may be believed then.
    public func readAll(
        _ key: ArchiveKey?, device: DeviceKey?, _ visitor: inout some RecordVisitor
    ) throws(ArchiveFailure) -> ArchiveContents {
        try recordReader(key).readAll(
            secrets: source(.secrets(header.mode), key), device: device, &visitor)
    }

    private func recordReader(_ key: ArchiveKey?) throws(ArchiveFailure) -> RecordReader {
        try RecordReader(header: header, headerHash: headerHash, metadata: source(.metadata(header.mode), key))
    }

    private func source(_ member: ArchiveMember, _ key: ArchiveKey?) throws(ArchiveFailure) -> ProtectedSource {
        let source = try ProvenSource(slice(member), expected: proven[member])
        guard header.mode == .encrypted else { return ProtectedSource(clear: source) }
        guard let key else { throw .keyNeeded(passphraseOpens: hasPassphrase) }
        do {
            return try ProtectedSource(encrypted: source, identities: key.identities)
        } catch {
            throw ArchiveFailure(error)
        }
    }

    private func slice(_ member: ArchiveMember) throws(ArchiveFailure) -> FileSlice {
        guard let place = members[member] else { throw .damaged(rule: "'\(member.name)' is missing") }
        return FileSlice(file, offset: place.offset, length: place.length)
    }

    private func read(_ member: ArchiveMember, limit: Int) throws(ArchiveFailure) -> [UInt8] {
        guard let place = members[member] else { throw .damaged(rule: "'\(member.name)' is missing") }
        return try Self.read(place, of: file, limit: limit).withBytes { span in span.indices.map { span[$0] } }
    }

    private static func read(
        _ member: TarMember, of file: OpenFile, limit: Int
    ) throws(ArchiveFailure) -> SecretBytes {
        guard member.length <= UInt64(limit) else {
            throw .limit("size of '\(member.name)': \(limit) bytes are the limit")
        }
        do {
            var slice = FileSlice(file, offset: member.offset, length: member.length)
            return try slice.readAll(limit: limit, as: "member size")
        } catch {
            throw ArchiveFailure(error)
        }
    }

    /// A newer format may have other members and another container profile, so its version is looked at first.
    private static func refuseNewerFormat(_ file: OpenFile) throws(ArchiveFailure) {
        var start = SecretBytes(capacity: 1024)
        do {
            try start.append(upTo: 1024) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        } catch {
            throw ArchiveFailure(error)
        }
        try start.withBytes { bytes throws(ArchiveFailure) in
            let name = ArchiveMember.header.name.utf8.span
            guard bytes.count > 512 else { throw .notAnArchive }
            for index in name.indices where bytes[index] != name[index] { throw .notAnArchive }
            // Everything else is judged when the whole header is read.
            try ArchiveHeader.refuseNewerFormat(bytes.extracting(512...))
        }
    }
}

/// What opens the streams of an encrypted archive.
public struct ArchiveKey: Sendable {
    /// Tried in order against the recipients of a stream.
    let identities: [any Identity]
    /// True when only somebody who knew the passphrase can have made the archive.
    public let provesOrigin: Bool

    /// Uses identities from the user's identity files.
    public init(identities: [any Identity]) {
        self.init(identities: identities, provesOrigin: false)
    }

    /// The same key with more identities to try.
    public func adding(_ identities: [any Identity]) -> ArchiveKey {
        ArchiveKey(identities: self.identities + identities, provesOrigin: provesOrigin)
    }

    init(identities: [any Identity], provesOrigin: Bool) {
        self.identities = identities
        self.provesOrigin = provesOrigin
    }
}
