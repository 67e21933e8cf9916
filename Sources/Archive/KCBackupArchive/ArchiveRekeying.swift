internal import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainModel
internal import KCTarArchive

extension OpenedArchive {
    /// Makes the same archive with different keys: both streams are encrypted again, under fresh file keys.
    ///
    /// Someone who could open the old archive knows its file keys, and could write other contents below a new header
    /// that kept them; the new archive would then seem to come from someone who has the new keys.
    ///
    /// This changes the checksums, so only the device that made the archive can do it: it must sign them.
    ///
    /// - Parameter keys: keys made for the ID of this archive.
    /// - Returns: the archive, durable, read back and compared with this one item by item, and not yet named.
    /// - Throws: `ArchiveFailure`: `damaged`, `noMatchingIdentity` for an inspect key, `age`, `limit`, `stream`, `file`,
    ///   `cryptography`, `notRekeyable`.
    package func rekeyed(
        to keys: ArchiveKeys, by device: DeviceKey, inFolder folder: String
    ) throws -> FinishedArchive {
        guard header.mode == .encrypted else { throw ArchiveFailure.notRekeyable(.unencrypted) }
        guard signer == device.signingPublicKey else { throw ArchiveFailure.notRekeyable(.otherDevice) }
        precondition(keys.archiveID == header.archiveID, "the keys are made for this archive")
        let protection = ArchiveProtection.encrypted(keys)
        do {
            // Verify everything before copying anything: damage must not get a new signature.
            let before = try ContentFingerprint.read(from: self, device)
            let output = try UnnamedFile(inFolder: folder)
            var container = try ArchiveContainer(output, modified: header.created.seconds)
            let headerBytes = try archive.parts.read(.header, limit: ArchiveLimits.headerSize)
            guard SHA256.hash(headerBytes.span) == archive.headerHash else { throw ArchiveFailure.checksum(.header) }
            try container.append(.header, headerBytes)
            if let identity = keys.identityMember { try container.append(.identity, identity) }
            let newKeys = try protection.fileKeys()
            let newMetadata = try reencrypt(.metadata, under: newKeys.metadata, folder, &container)
            let newSecrets = try reencrypt(.secrets, under: newKeys.secrets, folder, &container)
            try container.finish(signedBy: device)
            try output.synchronize()
            let written = try ArchiveFile(output.file).prove()
            let after = written.open(metadata: newMetadata, secrets: newSecrets)
            guard try ContentFingerprint.read(from: after, device) == before else {
                throw ArchiveFailure.damaged(rule: "what is in the new archive differs from what is in the old one")
            }
            let contents = try after.contents()
            return FinishedArchive(
                output: output, header: header, contents: contents, size: try output.file.size(),
                checksum: written.checksum, fingerprint: before)
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Encrypts the bytes of one stream again, and returns what opens them.
    private func reencrypt(
        _ kind: StreamKind, under key: NewFileKey?, _ folder: String, _ container: inout ArchiveContainer
    ) throws -> StreamOpener {
        let member: ArchiveMember = kind == .metadata ? .metadata(header.mode) : .secrets(header.mode)
        var source = try opened(archive.source(member), kind == .metadata ? metadata : secrets)
        var sink = try ProtectedSink(UnnamedFile(inFolder: folder), under: key)
        try source.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
        let opener = sink.opener
        try container.append(member, try sink.finish())
        return opener
    }

    /// The counts of the archive.
    private func contents() throws -> ArchiveContents {
        var visitor = DiscardingVisitor()
        return try readMetadata(&visitor).contents
    }
}

private struct DiscardingVisitor: RecordVisitor {
    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState) {}
}
