package import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainModel

/// The state of a secret read from an archive.
package enum SecretState: Hashable, Sendable {
    /// The item has no secret.
    case absent
    /// The secret is in plaintext.
    case open
    /// The secret was sealed by another device, and no key of this device opens it.
    case sealedElsewhere
    /// The secret is as the keychain file stored it, and was not opened.
    case stored
    /// The secret is as the keychain file stored it, and its seal was opened and is intact.
    case storedWhole
    /// The keychain file stored the secret with a broken seal, so it is not available.
    case broken
    /// Only the metadata stream is being read.
    case notRead
}

/// Receives the records of an archive in order.
package protocol RecordVisitor {
    /// Receives an item; `line` and `secret` are valid only during the call.
    ///
    /// `secret` is in the form that `state` describes, and empty for `absent`, `broken` and `notRead`. An error ends
    /// the reading and is rethrown unchanged.
    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws
}

/// Reads the two streams in parallel and checks everything that binds them: order, UUIDs, counts and hashes.
struct RecordReader: ~Copyable {
    private let header: ArchiveHeader
    private let headerHash: SHA256Digest
    private let metadata: MetadataReader
    /// The source of the archive.
    let source: ArchiveSource

    init(header: ArchiveHeader, headerHash: SHA256Digest, metadata: consuming ProtectedSource) throws {
        let reader = try MetadataReader(metadata, header: header, headerHash: headerHash)
        source = reader.source
        self.metadata = reader
        self.header = header
        self.headerHash = headerHash
    }

    /// Reads only the metadata.
    consuming func readMetadata(_ visitor: inout some RecordVisitor) throws -> ReadMetadata {
        let source = source
        let nothing = SecretBytes(capacity: 0)
        let end = try metadata.readAll { item, line, _ in
            try visitor.take(item, line: line, secret: nothing, state: .notRead)
        }
        return ReadMetadata(source: source, contents: try end.contents.get())
    }

    /// Reads both streams.
    ///
    /// - Parameter device: opens secrets that this device sealed; those of other devices stay sealed.
    consuming func readAll(
        secrets source: consuming ProtectedSource, device: DeviceKey?, _ visitor: inout some RecordVisitor
    ) throws -> ReadStreams {
        var secrets = try SecretsReader(source, header: header, device: device)
        var secret = SecretBytes(capacity: 4096)
        let end = try metadata.readAll { item, line, ordinal in
            let state = try secrets.next(of: item, line: line, ordinal: ordinal, into: &secret)
            try visitor.take(item, line: line, secret: secret, state: state)
        }
        let hashes = try secrets.finish(contents: end.last.contents, headerHash: headerHash)
        guard hashes.whole == end.last.other else {
            throw ArchiveFailure.damaged(rule: "the metadata belongs to other secrets")
        }
        guard hashes.metadata == end.hash else {
            throw ArchiveFailure.damaged(rule: "the secrets belong to other metadata")
        }
        return ReadStreams(contents: try end.contents.get(), metadata: hashes.metadata, secrets: hashes.whole)
    }
}

/// The result of reading the metadata.
package struct ReadMetadata: Hashable, Sendable {
    /// The source of the archive.
    package let source: ArchiveSource
    /// The counts of the archive.
    package let contents: ArchiveContents
}

/// The result of reading both streams completely: the counts, and the hashes of the decompressed streams.
package struct ReadStreams: Hashable, Sendable {
    /// The counts of the archive.
    package let contents: ArchiveContents
    /// The hash of the metadata up to its last line, which follows from the rest.
    let metadata: SHA256Digest
    let secrets: SHA256Digest
}

/// Reads the secrets stream for a `RecordReader`.
private struct SecretsReader: ~Copyable {
    private let mode: ArchiveMode
    private var lines: HashedLines
    private var seal: SecretSeal?
    private var opened: SecretBytes

    init(_ source: consuming ProtectedSource, header: ArchiveHeader, device: DeviceKey?) throws {
        var lines = try HashedLines(source, kind: .secrets, lineLimit: ItemLimits.secretLineSize)
        let place = lines.nextPlace
        let start = try lines.next { line in
            try place.parsed(StreamStart(parsing: line, kind: .secrets, archiveID: header.archiveID, mode: header.mode))
        }
        let seal = try Self.seal(start, header: header, device: device)
        mode = header.mode
        self.lines = lines
        self.seal = seal
        opened = SecretBytes(capacity: 4096)
    }

    /// The seal of this device, if it sealed the secrets of the archive.
    private static func seal(
        _ start: StreamStart, header: ArchiveHeader, device: DeviceKey?
    ) throws(ArchiveFailure) -> SecretSeal? {
        guard let commitment = start.sealCommitment, let device else { return nil }
        let own = try cryptography(
            SecretSeal(device: device, deviceID: device.id, archiveID: header.archiveID, mode: header.mode))
        if constantTimeEqual(own.commitment, commitment) { return own }
        guard header.device != device.id else {
            throw .damaged(rule: "the secrets are sealed by another device than the archive names")
        }
        return nil
    }

    /// Reads the line that belongs to `item`, opens the secret if possible, and stores it in `secret`.
    mutating func next(
        of item: Item, line: borrowing Span<UInt8>, ordinal: UInt64, into secret: inout SecretBytes
    ) throws -> SecretState {
        let place = lines.nextPlace
        let form = try lines.next { line in
            try place.parsed(item: item, SecretLine.decode(line, of: item, into: &secret))
        }
        let state: SecretState
        switch (mode, Travel(item.sealingAccessibility), form) {
        case (.unencrypted, .anyDevice, .stored), (.unencrypted, .thisDevice, .stored): return .stored
        case (.encrypted, .anyDevice, nil): state = .absent
        case (.encrypted, .anyDevice, .plain): state = .open
        case (.encrypted, .thisDevice, .sealed):
            guard secret.count == (item.secretSize ?? 0) + authenticationTagLength else {
                throw place.damaged("a secret does not have the stated size", item: item)
            }
            if seal == nil { return .sealedElsewhere }
            guard try open(&secret, line: line, ordinal: ordinal) else {
                throw place.damaged("a sealed secret is not genuine", item: item)
            }
            state = item.secretSize == nil ? .absent : .open
        default: throw place.damaged("a secret is not in the form that its item needs", item: item)
        }
        guard secret.count == item.secretSize ?? 0, (state == .absent) == (item.secretSize == nil) else {
            throw place.damaged("a secret does not have the stated size", item: item)
        }
        return state
    }

    /// Reads the last line; returns the hash of the complete stream and the metadata hash that the line states.
    mutating func finish(
        contents: ArchiveContents, headerHash: SHA256Digest
    ) throws -> (whole: SHA256Digest, metadata: SHA256Digest) {
        let place = lines.nextPlace
        let end = try lines.next { line in
            try place.parsed(StreamEnd(parsing: line, kind: .secrets))
        }
        guard end.header == headerHash else {
            throw ArchiveFailure.damaged(rule: "the secrets belong to another header")
        }
        guard end.contents == contents else {
            throw ArchiveFailure.damaged(rule: "the two streams state different numbers of items")
        }
        let whole = lines.takeHash().finalize()
        try lines.end()
        return (whole, end.other)
    }

    /// Replaces a sealed secret with its plaintext; false if the seal is not genuine.
    private mutating func open(
        _ secret: inout SecretBytes, line: borrowing Span<UInt8>, ordinal: UInt64
    ) throws(ArchiveFailure) -> Bool {
        opened.removeAll()
        do {
            try seal?.open(secret, line: line, ordinal: ordinal, into: &opened)
        } catch .authentication {
            return false
        } catch {
            throw .cryptography(error)
        }
        swap(&secret, &opened)
        return true
    }
}
