internal import ByteStreams
internal import Cryptography
internal import DeviceIdentity
internal import KeychainModel
internal import TarArchive

/// Puts the finished members into the tar, with their checksums and the signature over these.
struct ArchiveContainer {
    let mode: ArchiveMode
    let device: DeviceKey
    let header: [UInt8]
    let identity: [UInt8]?
    let metadata: SpooledFile
    let secrets: SpooledFile

    func write(to output: UnnamedFile, modified: Int64) throws {
        var tar = try TarWriter(to: UnnamedFileSink(output), modified: modified)
        var sums: [(name: String, digest: SHA256Digest)] = []
        func append(_ member: ArchiveMember, _ bytes: [UInt8]) throws {
            try tar.append(member.name, bytes)
            sums.append((member.name, SHA256.hash(bytes.span)))
        }
        func append(_ member: ArchiveMember, _ file: SpooledFile) throws {
            var source = HashingSource(file.source)
            try tar.append(member.name, length: file.length, from: &source)
            sums.append((member.name, source.finalize()))
        }
        try append(.header, header)
        if let identity { try append(.identity, identity) }
        try append(.metadata(mode), metadata)
        try append(.secrets(mode), secrets)
        let checksums = Checksums.encode(sums)
        try tar.append(ArchiveMember.checksums.name, checksums)
        try tar.append(ArchiveMember.signature.name, try SSHSignature.sign(message: checksums, with: device))
        _ = try tar.finish()
    }
}

extension ArchiveFailure {
    /// Sorts any failure of the layers below.
    init(any error: any Error) {
        switch error {
        case let failure as ArchiveFailure: self = failure
        case let failure as StreamFailure: self.init(failure)
        case let failure as AgeFailure: self.init(failure)
        case let failure as FileFailure: self = .file(failure)
        case let failure as MalformedLine: self.init(failure)
        case let failure as CryptographyFailure: self = .cryptography("\(failure)")
        default: self = .cryptography("an unforeseen failure")
        }
    }
}

internal import AgeEncryption
