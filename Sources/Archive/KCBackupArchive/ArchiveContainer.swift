internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCTarArchive

/// Writes the finished members into the tar archive, followed by their checksums and the signature of these.
struct ArchiveContainer: ~Copyable {
    private var tar: TarWriter<UnnamedFileSink>
    private var sums: [(name: String, digest: SHA256Digest)]

    init(_ output: UnnamedFile, modified: Int64) throws(StreamFailure) {
        let tar = try TarWriter(to: UnnamedFileSink(output), modified: modified)
        self.tar = tar
        sums = []
    }

    mutating func append(_ member: ArchiveMember, _ bytes: [UInt8]) throws(StreamFailure) {
        try tar.append(member.name, bytes)
        sums.append((member.name, SHA256.hash(bytes.span)))
    }

    mutating func append(_ member: ArchiveMember, _ file: SpooledFile) throws(StreamFailure) {
        var source = HashingSource(file.source)
        try tar.append(member.name, length: file.length, from: &source)
        sums.append((member.name, source.finalize()))
    }

    /// Adds the checksums and the signature and finishes the container.
    consuming func finish(signedBy device: DeviceKey) throws {
        let checksums = Checksums.encode(sums)
        try tar.append(ArchiveMember.checksums.name, checksums)
        try tar.append(ArchiveMember.signature.name, try SSHSignature.sign(message: checksums, with: device))
        _ = try tar.finish()
    }
}
