package import KCAgeEncryption
package import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// An archive whose checksums were signed by a device; only `ArchiveFile.prove()` creates one.
///
/// The header and the identity have been verified. A stream is verified while it is read: its end is reported only if
/// the complete stream matches its signed checksum, so a stream that was read to its end is genuine.
///
/// A single kind of key opens the archive, and the result says which; it cannot be opened with two kinds at once.
package struct GenuineArchive {
    /// The contents of `kcbackup.json`.
    package let header: ArchiveHeader
    /// True if a passphrase opens the archive.
    package let hasPassphrase: Bool
    /// The Ed25519 public key of the signature, whose device ID is the one in the header.
    package let signer: [UInt8]
    /// The checksum that distinguishes the archive from every other file.
    package let checksum: ArchiveChecksum
    let headerHash: SHA256Digest
    let recipients: StreamRecipients
    let parts: ArchiveParts
    let digests: [ArchiveMember: SHA256Digest]

    /// Opens an unencrypted archive.
    ///
    /// - Throws: `ArchiveFailure.keyNeeded` for an encrypted one.
    package func open() throws(ArchiveFailure) -> OpenedArchive {
        guard header.mode == .unencrypted else { throw .keyNeeded(passphraseOpens: hasPassphrase) }
        return OpenedArchive(self, opening: .withoutKey, metadata: .clear, secrets: .clear)
    }

    /// Opens an encrypted archive with identities of its recipients, which must open at least the metadata.
    package func open(identities: [any Identity]) throws(ArchiveFailure) -> OpenedArchive {
        let (metadata, secrets) = try openers(among: identities)
        guard case .opened = metadata else {
            throw .noMatchingIdentity(recipients.metadata, hasPassphrase: hasPassphrase)
        }
        return OpenedArchive(self, opening: .identities, metadata: metadata, secrets: secrets)
    }

    /// Opens an encrypted archive with its passphrase, which means with its own identity and nothing else.
    ///
    /// - Throws: `ArchiveFailure` (`noPassphraseSet`, `wrongPassphrase`, `limit`, `damaged`, `stream`): `damaged` also
    ///   if the identity does not open both streams, or if its note about being the only key is wrong.
    package func open(passphrase: borrowing SecretBytes) throws(ArchiveFailure) -> OpenedArchive {
        guard hasPassphrase else { throw .noPassphraseSet }
        let (identity, isOnlyKey) = try ownIdentity(passphrase)
        // Every key opens the metadata, so its recipients are all keys.
        guard isOnlyKey == (recipients.metadata.count == 1) else {
            throw .damaged(
                rule: isOnlyKey
                    ? "the passphrase is noted as its only key, and it has other recipients"
                    : "the passphrase is noted as one of several keys, and it has no other recipient")
        }
        let (metadata, secrets) = try openers(among: [identity])
        guard case .opened = metadata, case .opened = secrets else {
            throw .damaged(rule: "a stream does not open with the identity that the passphrase opens")
        }
        return OpenedArchive(
            self, opening: isOnlyKey ? .passphraseAlone : .passphrase, metadata: metadata, secrets: secrets)
    }

    /// Opens an archive that this process has just written, with the keys used for writing.
    func open(metadata: StreamOpener, secrets: StreamOpener) -> OpenedArchive {
        OpenedArchive(self, opening: .identities, metadata: metadata, secrets: secrets)
    }

    /// Opens `identity.age` and reads its note.
    private func ownIdentity(
        _ passphrase: borrowing SecretBytes
    ) throws(ArchiveFailure) -> (identity: NativeIdentity, isOnlyKey: Bool) {
        do {
            var decryptor = try AgeDecryptor(
                source(.identity), identities: [ScryptIdentity(passphrase: passphrase)])
            let text = try decryptor.readAll(limit: ArchiveLimits.identitySize, as: "identity size")
            let parsed = try IdentityFile.parse(text)
            guard parsed.identities.count == 1, let identity = parsed.identities.first else {
                throw ArchiveFailure.damaged(rule: "'\(ArchiveMember.identity.name)' holds several identities")
            }
            guard parsed.comments.contains(IdentityNote.archive(header.archiveID)) else {
                throw ArchiveFailure.damaged(rule: "the passphrase's identity belongs to another archive")
            }
            for isOnlyKey in [true, false] {
                let expected = IdentityNote.text(of: identity, archiveID: header.archiveID, isOnlyKey: isOnlyKey)
                if constantTimeEqual(text, expected) { return (identity, isOnlyKey) }
            }
            throw ArchiveFailure.damaged(
                rule: "what '\(ArchiveMember.identity.name)' holds is not in its one spelling")
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// True if one of these identities opens the secrets; only the header of their stream is read.
    ///
    /// - Throws: `ArchiveFailure` (`stream` if the file cannot be read).
    package func hasSecrets(for identities: [any Identity]) throws(ArchiveFailure) -> Bool {
        let stream = try parts.slice(.secrets(header.mode))
        do throws(AgeFailure) {
            let header = try AgeHeader.read(from: stream)
            return try FileKey.unwrap([header], with: identities)[0] != nil
        } catch .malformedHeader {
            return false
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Returns the openers of the two streams; a plugin is run once for both.
    private func openers(
        among identities: [any Identity]
    ) throws(ArchiveFailure) -> (metadata: StreamOpener, secrets: StreamOpener) {
        let openers = try openers([.metadata(header.mode), .secrets(header.mode)], among: identities)
        return (openers[0], openers[1])
    }

    /// Returns an opener for each of some streams.
    func openers(
        _ members: [ArchiveMember], among identities: [any Identity]
    ) throws(ArchiveFailure) -> [StreamOpener] {
        var headers: [AgeHeader] = []
        let keys: [FileKey?]
        do {
            for member in members { headers.append(try AgeHeader.read(from: parts.slice(member))) }
            keys = try FileKey.unwrap(headers, with: identities)
        } catch {
            // A damaged header must not look like a wrong key.
            try proveStreams()
            throw ArchiveFailure(any: error)
        }
        if keys.contains(where: { $0 == nil }) { try proveStreams() }
        return zip(headers, keys).map { header, key in
            key.map { .opened(by: $0) } ?? .closed(recipients: header.stanzas.map(\.displayedType))
        }
    }

    /// Reads and verifies both streams without interpreting them, for callers that will not read both themselves.
    ///
    /// - Parameter step: called once per piece.
    package func proveStreams(_ step: () -> Void = {}) throws(ArchiveFailure) {
        try parts.requireStreams(header.mode, digests, step)
    }

    /// The sizes of both streams and of the metadata, and the number of bytes read from the file so far.
    var extent: (streams: UInt64, metadata: UInt64, read: UInt64) {
        let metadata = parts.size(.metadata(header.mode))
        return (metadata + parts.size(.secrets(header.mode)), metadata, parts.file.bytesRead)
    }

    /// Runs `body`; if it fails, verifies the streams first, since damage may be the cause.
    func blamingDamageFirst<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            try proveStreams()
            throw error
        }
    }

    /// The bytes of a member; the source reaches its end only if the bytes are those that were signed.
    func source(_ member: ArchiveMember) throws(ArchiveFailure) -> ProvenSource {
        guard let digest = digests[member] else { throw .damaged(rule: "'\(member.name)' is missing") }
        return try ProvenSource(parts.slice(member), of: member, expected: digest)
    }

    /// The bytes of a member for a second reading; the caller compares the content with that of the first.
    func sourceAgain(_ member: ArchiveMember) throws(ArchiveFailure) -> ProvenSource {
        try ProvenSource(parts.slice(member), of: member, expected: nil)
    }
}

/// How a stream is opened.
enum StreamOpener {
    /// The stream is not encrypted.
    case clear
    case opened(by: FileKey)
    /// None of the given identities opens it; the value lists the kinds of its recipients.
    case closed(recipients: [String])
}
