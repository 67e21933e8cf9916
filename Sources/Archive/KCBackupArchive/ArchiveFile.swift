internal import KCAgeEncryption
package import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCTarArchive

/// An archive opened for reading: its container is valid and its header is known, but nothing is verified yet.
///
/// Only the header and the kinds of keys can be read from it; `prove()` returns an archive that can be opened.
package struct ArchiveFile {
    /// The contents of `kcbackup.json`.
    package let header: ArchiveHeader
    /// True if a passphrase opens the archive.
    package let hasPassphrase: Bool
    /// The size of the archive in bytes.
    package let size: UInt64
    /// The status of the file when it was opened.
    package let status: EntryStatus
    private let headerHash: SHA256Digest
    private let parts: ArchiveParts

    /// True if the file is an archive, though perhaps a damaged one; false if it cannot be read.
    package static func isArchive(at path: String) -> Bool {
        do throws(ArchiveFailure) {
            _ = try ArchiveFile(path: path)
            return true
        } catch {
            switch error {
            case .damaged, .newerFormat, .limit: return true
            default: return false
            }
        }
    }

    /// Opens a file by its path; symbolic links in the last component are not followed.
    package init(path: String) throws(ArchiveFailure) {
        try self.init(failing(as: ArchiveFailure.file, OpenFile.reading(path)))
    }

    /// Reads the container and the header.
    package init(_ file: OpenFile) throws(ArchiveFailure) {
        do {
            status = try EntryStatus(file)
            size = status.size
            try Self.refuseNewerFormat(file)
            let directory = try TarDirectory.read(file)
            guard let first = directory.members.first, first.name.exact == ArchiveMember.header.name.exact else {
                throw ArchiveFailure.notAnArchive
            }
            let bytes = try ArchiveParts.read(first, of: file, limit: ArchiveLimits.headerSize)
            let header = try bytes.withBytes { span throws(ArchiveFailure) in try ArchiveHeader(parsing: span) }
            let hasPassphrase = directory.members.contains { $0.name.exact == ArchiveMember.identity.name.exact }
            let expected = ArchiveMember.all(header.mode, withPassphrase: hasPassphrase)
            guard directory.members.map(\.name.exact) == expected.map(\.name.exact),
                header.mode == .encrypted || !hasPassphrase
            else { throw ArchiveFailure.damaged(rule: "it does not have exactly the members of its mode, in order") }
            guard directory.members.allSatisfy({ $0.modified == header.created.seconds }) else {
                throw ArchiveFailure.damaged(rule: "a member has another time than the archive")
            }
            self.header = header
            headerHash = bytes.withBytes { SHA256.hash($0) }
            self.hasPassphrase = hasPassphrase
            parts = ArchiveParts(
                file: file, places: Dictionary(uniqueKeysWithValues: zip(expected, directory.members)))
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Returns what distinguishes the archive from every other file.
    package func checksum() throws(ArchiveFailure) -> ArchiveChecksum {
        ArchiveChecksum(of: try parts.read(.checksums, limit: ArchiveLimits.checksumsSize))
    }

    /// Verifies that a device signed the checksums, and that the header and `identity.age` match them.
    ///
    /// The streams, which make up nearly all of an archive, are compared with their checksums while they are read: a
    /// stream that is read to its end without an error is the one that was signed. `GenuineArchive.proveStreams`
    /// verifies both at once.
    package func prove() throws(ArchiveFailure) -> GenuineArchive {
        let text = try parts.read(.checksums, limit: ArchiveLimits.checksumsSize)
        let signature = try parts.read(.signature, limit: ArchiveLimits.signatureSize)
        let signer: [UInt8]
        let digests: [ArchiveMember: SHA256Digest]
        do {
            digests = try Checksums.decode(text, of: ArchiveMember.summed(header.mode, withPassphrase: hasPassphrase))
            guard digests[.header] == headerHash else { throw ArchiveFailure.checksum(.header) }
            if hasPassphrase, digests[.identity] != (try parts.hash(.identity)) {
                throw ArchiveFailure.checksum(.identity)
            }
            signer = try SSHSignature.verify(signature, message: text)
        } catch is SSHSignatureFailure {
            throw .damaged(rule: "the signature does not fit")
        } catch {
            throw ArchiveFailure(any: error)
        }
        guard DeviceID(publicKey: signer) == header.device else {
            throw .damaged(rule: "it is signed by another device than it names")
        }
        let recipients: StreamRecipients
        do {
            recipients = try self.recipients()
        } catch {
            try parts.requireStreams(header.mode, digests)
            throw error
        }
        return GenuineArchive(
            header: header, hasPassphrase: hasPassphrase, signer: signer, checksum: ArchiveChecksum(of: text),
            headerHash: headerHash, recipients: recipients, parts: parts, digests: digests)
    }

    /// The kinds of recipients of both streams, which can be read without a key; empty for an unencrypted archive.
    ///
    /// Every age header is checked, including that of `identity.age`.
    package func recipients() throws(ArchiveFailure) -> StreamRecipients {
        guard header.mode == .encrypted else { return StreamRecipients(metadata: [], secrets: []) }
        do {
            let metadata = try AgeHeader.read(from: parts.slice(.metadata(header.mode)))
            let secrets = try AgeHeader.read(from: parts.slice(.secrets(header.mode)))
            try metadata.requirePublicKeys()
            try secrets.requirePublicKeys()
            guard secrets.stanzas.count <= metadata.stanzas.count else {
                throw ArchiveFailure.damaged(rule: "the secrets have more recipients than the metadata")
            }
            if hasPassphrase { try checkIdentity() }
            return StreamRecipients(metadata: metadata.stanzas.map(\.type), secrets: secrets.stanzas.map(\.type))
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Checks `identity.age` as far as possible without the passphrase, whether it will be used or not.
    private func checkIdentity() throws {
        let name = ArchiveMember.identity.name
        let bytes = try parts.read(.identity, limit: ArchiveLimits.identitySize)
        do {
            try AgeHeader.read(from: MemorySource(copying: bytes)).requirePassphrase()
        } catch AgeFailure.malformedHeader(let rule) {
            throw ArchiveFailure.damaged(rule: "\(rule), found in the header of '\(name)'")
        }
    }

    /// Checks the format version first, since a newer format may have other members and another container profile.
    private static func refuseNewerFormat(_ file: OpenFile) throws(ArchiveFailure) {
        var bytes: [UInt8] = []
        do {
            try bytes.append(upTo: 1024) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        } catch {
            throw ArchiveFailure(error)
        }
        let start = bytes.span
        guard start.count > 512, start.starts(with: ArchiveMember.header.name) else { throw .notAnArchive }
        // Everything else is checked when the complete header is read.
        try ArchiveHeader.refuseNewerFormat(start.extracting(512...))
    }
}

/// The kinds of recipients of the two streams, with one entry per recipient.
package struct StreamRecipients: Hashable, Sendable {
    /// The recipients that can read the metadata.
    package let metadata: [String]
    /// The recipients that can read the secrets.
    package let secrets: [String]
}

/// The members of an open archive and the locations of their bytes.
struct ArchiveParts {
    let file: OpenFile
    let places: [ArchiveMember: TarMember]

    func slice(_ member: ArchiveMember) throws(ArchiveFailure) -> FileSlice {
        try place(member).data(in: file)
    }

    func read(_ member: ArchiveMember, limit: Int) throws(ArchiveFailure) -> [UInt8] {
        try Self.read(place(member), of: file, limit: limit).withBytes { span in span.indices.map { span[$0] } }
    }

    func hash(_ member: ArchiveMember, _ step: () -> Void = {}) throws(ArchiveFailure) -> SHA256Digest {
        var source = HashingSource(try slice(member))
        // Locking a megabyte of memory takes longer than hashing a small member.
        let pieceSize = Int(min(max(try place(member).length, 1), 1 << 20))
        do {
            try source.forEachPiece(upTo: pieceSize) { _ in step() }
        } catch {
            throw ArchiveFailure(any: error)
        }
        return source.finalize()
    }

    /// Reads both streams and compares them with their checksums; calls `step` once per piece.
    func requireStreams(
        _ mode: ArchiveMode, _ digests: [ArchiveMember: SHA256Digest], _ step: () -> Void = {}
    ) throws(ArchiveFailure) {
        for member in [ArchiveMember.metadata(mode), .secrets(mode)] {
            guard try hash(member, step) == digests[member] else { throw .checksum(member) }
        }
    }

    /// The size of members in bytes; 0 for a missing member.
    func size(_ members: ArchiveMember...) -> UInt64 {
        members.reduce(0) { $0 + (places[$1]?.length ?? 0) }
    }

    private func place(_ member: ArchiveMember) throws(ArchiveFailure) -> TarMember {
        guard let place = places[member] else { throw .damaged(rule: "'\(member.name)' is missing") }
        return place
    }

    static func read(_ member: TarMember, of file: OpenFile, limit: Int) throws(ArchiveFailure) -> SecretBytes {
        guard member.length <= UInt64(limit) else {
            throw .limit("size of '\(member.name)': \(limit) bytes are the limit")
        }
        do {
            var slice = member.data(in: file)
            return try slice.readAll(limit: limit, as: "member size")
        } catch {
            throw ArchiveFailure(error)
        }
    }
}
