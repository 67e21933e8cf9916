internal import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainModel
internal import KCTarArchive

extension OpenedArchive {
    /// Makes the same archive with different keys: its age files get new headers, and their contents stay the same.
    ///
    /// This changes the checksums, so only the device that made the archive can do it: it must sign them.
    ///
    /// - Parameter keys: keys made for the ID of this archive.
    /// - Returns: the archive, durable, compared with this one and not yet named.
    /// - Throws: `ArchiveFailure`: `damaged`, `noMatchingIdentity` for an inspect key, `age`, `limit`, `stream`, `file`,
    ///   `cryptography`, `notRekeyable`.
    package func rekeyed(
        to keys: ArchiveKeys, by device: DeviceKey, inFolder folder: String
    ) throws -> FinishedArchive {
        guard header.mode == .encrypted else { throw ArchiveFailure.notRekeyable(.unencrypted) }
        guard signer == device.signingPublicKey else { throw ArchiveFailure.notRekeyable(.otherDevice) }
        guard case .opened(let metadataKey) = metadata else { throw ArchiveFailure.noMatchingIdentity([]) }
        guard case .opened(let secretsKey) = secrets else { throw ArchiveFailure.noMatchingIdentity([]) }
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
            let mode = header.mode
            let newMetadata = try rewrap(
                .metadata(mode), metadataKey, protection.recipients(of: .metadata), folder, &container)
            let newSecrets = try rewrap(
                .secrets(mode), secretsKey, protection.recipients(of: .secrets), folder, &container)
            try container.finish(signedBy: device)
            try output.synchronize()
            let after = try ArchiveFile(output.file).prove()
                .open(metadata: .opened(by: newMetadata), secrets: .opened(by: newSecrets))
            guard try ContentFingerprint.read(from: after, device) == before else {
                throw ArchiveFailure.damaged(rule: "what is in the new archive differs from what is in the old one")
            }
            let contents = try after.contents()
            return FinishedArchive(
                output: output, header: header, contents: contents, size: try output.file.size(), fingerprint: before)
        } catch {
            throw ArchiveFailure(any: error)
        }
    }

    /// Writes one stream with a new header, and returns the identity that opens it.
    private func rewrap(
        _ member: ArchiveMember, _ key: any Identity, _ recipients: [any Recipient], _ folder: String,
        _ container: inout ArchiveContainer
    ) throws -> any Identity {
        var rekeying = try AgeRekeying(archive.source(member), identities: [key], recipients: recipients)
        var sink = UnnamedFileSink(try UnnamedFile(inFolder: folder))
        try rekeying.write(to: &sink)
        try container.append(member, try sink.finish())
        return rekeying.reader
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
