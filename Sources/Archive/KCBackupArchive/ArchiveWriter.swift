internal import KCAgeEncryption
package import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel
internal import KCTarArchive

/// Writes an archive: first the records into two spooled streams, then everything into the container (docs/format.md).
///
/// No file has a name until the caller publishes the finished archive, so dropping the writer leaves nothing behind.
package struct ArchiveWriter: ~Copyable {
    private let mode: ArchiveMode
    private let source: ArchiveSource
    private let protection: ArchiveProtection
    private let archiveID: [UInt8]
    private let device: DeviceKey
    private let folder: String
    private var metadata: StreamWriter
    private var secrets: StreamWriter
    private var seal: SecretSeal
    private var counts = ItemCounts()
    private var previous: Item?
    private var line: SecretBytes
    private var sealed: SecretBytes
    private var fingerprint: ContentFingerprint

    /// Starts an archive in `folder`.
    ///
    /// - Throws: `ArchiveFailure` (`file` if the folder is not writable, `age`, `cryptography`).
    package init(
        _ protection: ArchiveProtection, of source: ArchiveSource, device: DeviceKey, folder: String
    ) throws(ArchiveFailure) {
        // Before anything is read, not when all of it is.
        do { try TarLibrary.require() } catch { throw ArchiveFailure(error) }
        let mode = protection.mode
        let archiveID = if case .encrypted(let keys) = protection { keys.archiveID } else { try randomID() }
        let seal = try cryptography(SecretSeal(device: device, deviceID: device.id, archiveID: archiveID, mode: mode))
        let fingerprint = try cryptography(ContentFingerprint(device, mode))
        let keys = try protection.fileKeys()
        let metadata = try Self.stream(
            StreamStart(kind: .metadata, archiveID: archiveID, mode: mode, source: source),
            under: keys.metadata, inFolder: folder)
        let secrets = try Self.stream(
            StreamStart(
                kind: .secrets, archiveID: archiveID, mode: mode,
                sealCommitment: mode == .encrypted ? seal.commitment : nil),
            under: keys.secrets, inFolder: folder)
        self.metadata = metadata
        self.secrets = secrets
        self.seal = seal
        self.fingerprint = fingerprint
        line = SecretBytes(capacity: 65_536)
        sealed = SecretBytes(capacity: 4_096)
        self.mode = mode
        self.source = source
        self.protection = protection
        self.archiveID = archiveID
        self.device = device
        self.folder = folder
    }

    /// Adds an item; items must be added in archive order.
    ///
    /// Input that breaks a rule of the format is rejected here, since an archive that no reader accepts is useless.
    ///
    /// - Parameters:
    ///   - line: the metadata line of `item`.
    ///   - secret: in plaintext for an encrypted archive, as the keychain stores it for an unencrypted one.
    /// - Throws: `ArchiveFailure`: `damaged` for an item that is out of order, has a secret of another size, or must
    ///   not be archived; `limit`; `stream`; `cryptography`.
    package mutating func append(
        _ item: Item, line metadataLine: borrowing Span<UInt8>, secret: borrowing SecretBytes
    ) throws(ArchiveFailure) {
        guard source.admits(item, in: mode) else {
            throw .damaged(rule: "an item that is in no archive was to be archived")
        }
        guard previous?.precedes(item) ?? true else {
            throw .damaged(rule: "the items to be archived are not in order, or one is there twice")
        }
        guard mode == .unencrypted || secret.count == item.secretSize ?? 0 else {
            throw .damaged(rule: "a secret to be archived does not have the stated size")
        }
        let ordinal = UInt64(counts.total)
        guard ordinal < UInt64(ItemLimits.itemCount) else {
            throw .limit("items: \(ItemLimits.itemCount) are the limit")
        }
        previous = item
        counts[item.itemClass] += 1
        try failing(as: ArchiveFailure.cryptography, fingerprint.add(metadataLine, secret))
        line.removeAll()
        line.append(metadataLine)
        line.append(UInt8(ascii: "\n"))
        do {
            try metadata.write(line, of: metadataLine)
        } catch {
            throw ArchiveFailure(error)
        }

        line.removeAll()
        switch (mode, Travel(item.sealingAccessibility)) {
        case (.unencrypted, _): SecretLine.encode(item.uuid, .stored, secret, into: &line)
        case (.encrypted, .anyDevice):
            SecretLine.encode(item.uuid, item.secretSize == nil ? nil : .plain, secret, into: &line)
        case (.encrypted, .thisDevice), (.encrypted, .nowhere):
            sealed.removeAll()
            try failing(
                as: ArchiveFailure.cryptography, seal.seal(secret, line: metadataLine, ordinal: ordinal, into: &sealed))
            SecretLine.encode(item.uuid, .sealed, sealed, into: &line)
        }
        try write(to: .secrets)
    }

    /// Ends the streams, builds the container, reads it back and compares every item with the one that was added.
    ///
    /// - Parameters:
    ///   - omitted: the number of items that must not be archived.
    ///   - damaged: the number of items that could not be read.
    /// - Returns: the file, durable and verified, but not yet named.
    package consuming func finish(
        omitted: Int, damaged: Int, created: Timestamp, tool: String
    ) throws(ArchiveFailure) -> FinishedArchive {
        let added = try cryptography(fingerprint.finishBoth())
        let openers = (metadata: metadata.opener, secrets: secrets.opener)
        let contents = ArchiveContents(counts: counts, omitted: omitted, damaged: damaged)
        let header = ArchiveHeader(
            archiveID: archiveID, created: created, device: device.id, tool: tool, store: store(contents.counts))
        let headerBytes = header.encoded()
        let headerHash = SHA256.hash(headerBytes.span)
        let metadataHash = metadata.takeHash()
        try end(.secrets, StreamEnd(kind: .secrets, contents: contents, header: headerHash, other: metadataHash))
        let secretsHash = secrets.takeHash()
        try end(.metadata, StreamEnd(kind: .metadata, contents: contents, header: headerHash, other: secretsHash))
        do {
            let streams = (metadata: try metadata.finish(), secrets: try secrets.finish())
            let output = try UnnamedFile(inFolder: folder)
            var container = try ArchiveContainer(output, modified: created.seconds)
            try container.append(.header, headerBytes)
            if case .encrypted(let keys) = protection, let identity = keys.identityMember {
                try container.append(.identity, identity)
            }
            try container.append(.metadata(mode), streams.metadata)
            try container.append(.secrets(mode), streams.secrets)
            try container.finish(signedBy: device)
            try output.synchronize()
            let written = try ArchiveFile(output.file).prove()
            let opened = written.open(metadata: openers.metadata, secrets: openers.secrets)
            // Metadata is compared by hash, since each line is archived unchanged. Secrets are compared in plaintext,
            // since each is sealed or encoded in between. Reading checks that every secret belongs to its item.
            let found = try opened.readOwn(device)
            guard found.streams.metadata == metadataHash, found.secrets == added.secrets else {
                throw ArchiveFailure.damaged(rule: "what is in it differs from what was read from its source")
            }
            return FinishedArchive(
                output: output, header: header, contents: contents, size: try output.file.size(),
                checksum: written.checksum, fingerprint: added.whole)
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    private func store(_ counts: ItemCounts) -> ArchiveHeader.Store? {
        guard case .unencrypted(let keychain) = protection else { return nil }
        return ArchiveHeader.Store(keychain: keychain, counts: counts)
    }

    private static func stream(
        _ start: StreamStart, under key: NewFileKey?, inFolder folder: String
    ) throws(ArchiveFailure) -> StreamWriter {
        do {
            var stream = try StreamWriter(UnnamedFile(inFolder: folder), under: key)
            var line: [UInt8] = []
            start.encode(into: &line)
            line.append(UInt8(ascii: "\n"))
            try stream.write(line.span)
            return stream
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    private mutating func end(_ kind: StreamKind, _ end: StreamEnd) throws(ArchiveFailure) {
        line.removeAll()
        end.encode(into: &line)
        try write(to: kind)
    }

    private mutating func write(to kind: StreamKind) throws(ArchiveFailure) {
        line.append(UInt8(ascii: "\n"))
        do {
            switch kind {
            case .metadata: try metadata.write(line)
            case .secrets: try secrets.write(line)
            }
        } catch {
            throw ArchiveFailure(error)
        }
    }
}

/// A complete, durable and verified archive that is not yet named.
package struct FinishedArchive {
    let output: UnnamedFile
    /// The contents of its `kcbackup.json`.
    package let header: ArchiveHeader
    /// The numbers of items that it holds and omits.
    package let contents: ArchiveContents
    /// The size of the archive in bytes.
    package let size: UInt64
    /// The checksum that distinguishes the archive from every other file.
    package let checksum: ArchiveChecksum
    /// 32 bytes that are equal for all archives of one mode that this device made from the same items and secrets.
    ///
    /// They reveal nothing without the device's key.
    package let fingerprint: [UInt8]

    /// Names the archive in the folder where it was made; an existing name is left alone.
    package func publish(as name: String) throws(FileFailure) {
        try output.publish(as: name)
    }

    /// Replaces a file in the folder where the archive was made, atomically, if it is still as it was read.
    ///
    /// - Throws: `FileFailure` (`changed`, `system`); the old file is then unchanged.
    package func replace(_ name: String, ifStill expected: EntryStatus) throws(FileFailure) {
        guard try output.replace(name, ifStill: expected) else { throw FileFailure(name, .changed) }
    }

    /// Opens the archive for reading, without a name.
    package func reopened() throws(ArchiveFailure) -> ArchiveFile { try ArchiveFile(output.file) }

    /// Passes all bytes of the archive to `consume`, in pieces.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, and what `consume` throws.
    package func forEachPiece(_ consume: (borrowing Span<UInt8>) throws -> Void) throws {
        var source = try FileSlice(whole: output.file)
        var piece = SecretBytes(capacity: 65_536)
        while true {
            piece.removeAll()
            try piece.append(upTo: 65_536) { span throws(StreamFailure) in try source.read(into: &span) }
            if piece.isEmpty { return }
            try piece.withBytes(consume)
        }
    }
}
