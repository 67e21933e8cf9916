internal import AgeEncryption
package import ByteStreams
internal import Cryptography
internal import DeviceIdentity
internal import KeychainModel
internal import TarArchive

/// An archive that was opened for reading: its container is sound, its header understood, nothing proved yet.
///
/// Nothing but the header and the kinds of keys can be read from it; `prove()` gives what can be opened.
package struct ArchiveFile {
    /// What `kcbackup.json` says.
    package let header: ArchiveHeader
    /// True when a passphrase opens it.
    package let hasPassphrase: Bool
    /// Its size in bytes.
    package let size: UInt64
    private let headerHash: SHA256Digest
    private let parts: ArchiveParts

    /// Opens a file by its path; symbolic links in the last component are not followed.
    ///
    /// - Throws: `ArchiveFailure` (`file`, `notAnArchive`, `newerFormat`, `damaged`).
    package init(path: String) throws(ArchiveFailure) {
        do {
            try self.init(OpenFile.reading(path))
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Reads the container and the header.
    ///
    /// - Throws: `ArchiveFailure` (`notAnArchive`, `newerFormat`, `damaged`, `stream`).
    package init(_ file: OpenFile) throws(ArchiveFailure) {
        do {
            size = try file.size()
            try Self.refuseNewerFormat(file)
            let directory = try TarDirectory.read(file)
            guard let first = directory.members.first, first.name == ArchiveMember.header.name else {
                throw ArchiveFailure.notAnArchive
            }
            let bytes = try ArchiveParts.read(first, of: file, limit: ArchiveLimits.headerSize)
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
            parts = ArchiveParts(
                file: file, places: Dictionary(uniqueKeysWithValues: zip(expected, directory.members)))
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Proves that a device signed the checksums, and that the header and what a passphrase opens are what it signed.
    ///
    /// The streams, which make up nearly all of an archive, are compared with their checksums while they are read: one
    /// that was read to its end without an error is what was signed. `GenuineArchive.proveStreams` does it at once.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `limit`, `stream`).
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
            header: header, headerHash: headerHash, hasPassphrase: hasPassphrase, signer: signer,
            recipients: recipients, parts: parts, digests: digests)
    }

    /// The kinds of recipients of both streams, readable without a key; empty in an unencrypted archive.
    ///
    /// Every age header is checked, that of `identity.age` too.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `limit`, `stream`).
    package func recipients() throws(ArchiveFailure) -> StreamRecipients {
        guard header.mode == .encrypted else { return StreamRecipients(metadata: [], secrets: []) }
        do {
            let metadata = try AgeHeader.read(from: parts.slice(.metadata(header.mode)))
            let secrets = try AgeHeader.read(from: parts.slice(.secrets(header.mode)))
            try metadata.requireX25519()
            try secrets.requireX25519()
            guard secrets.stanzas.count <= metadata.stanzas.count else {
                throw ArchiveFailure.damaged(rule: "the secrets have more recipients than the metadata")
            }
            if hasPassphrase { try checkIdentity() }
            return StreamRecipients(metadata: metadata.stanzas.map(\.type), secrets: secrets.stanzas.map(\.type))
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Checks what can be checked of `identity.age` without the passphrase, whether it is going to be used or not.
    private func checkIdentity() throws {
        let name = ArchiveMember.identity.name
        let bytes = try parts.read(.identity, limit: ArchiveLimits.identitySize)
        do {
            try AgeHeader.read(from: MemorySource(copying: bytes)).requirePassphrase()
        } catch AgeFailure.malformedHeader(let rule) {
            throw ArchiveFailure.damaged(rule: "\(rule), found in the header of '\(name)'")
        }
    }

    /// A newer format may have other members and another container profile, so its version is looked at first.
    private static func refuseNewerFormat(_ file: OpenFile) throws(ArchiveFailure) {
        var bytes: [UInt8] = []
        do {
            try bytes.append(upTo: 1024) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        } catch {
            throw ArchiveFailure(error)
        }
        let start = bytes.span
        guard start.count > 512, start.starts(with: ArchiveMember.header.name) else { throw .notAnArchive }
        // Everything else is judged when the whole header is read.
        try ArchiveHeader.refuseNewerFormat(start.extracting(512...))
    }
}

/// The kinds of recipients of the two streams, one entry for each recipient.
package struct StreamRecipients: Hashable, Sendable {
    /// Who can read the metadata.
    package let metadata: [String]
    /// Who can read the secrets.
    package let secrets: [String]
}

/// The members of an open archive and where their bytes are.
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

    /// Reads both streams and compares them with their checksums; calls `step` once a piece.
    func requireStreams(
        _ mode: ArchiveMode, _ digests: [ArchiveMember: SHA256Digest], _ step: () -> Void = {}
    ) throws(ArchiveFailure) {
        for member in [ArchiveMember.metadata(mode), .secrets(mode)] {
            guard try hash(member, step) == digests[member] else { throw .checksum(member) }
        }
    }

    /// Bytes of members; nothing for one that is not there.
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
