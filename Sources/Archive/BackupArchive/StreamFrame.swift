internal import ByteStreams
internal import Cryptography
package import KeychainModel

/// Which of the two streams of an archive.
enum StreamKind: String {
    case metadata
    case secrets

    /// The other one, whose hash the last line carries.
    var other: StreamKind { self == .metadata ? .secrets : .metadata }
}

/// The first line of a stream: what it is and which archive it belongs to.
struct StreamStart: Equatable {
    let kind: StreamKind
    let archiveID: [UInt8]
    let mode: ArchiveMode
    /// Only in the metadata.
    let source: ArchiveSource?
    /// Only in the secrets of an encrypted archive: tells another device's seal from a damaged one.
    let sealCommitment: [UInt8]?

    func encode(into line: inout some ByteBuffer & ~Copyable) {
        let archive = Hexadecimal.encode(archiveID)
        CanonicalJSON.literal(
            "{\"stream\":\"\(kind.rawValue)\",\"archive\":\"\(archive)\",\"mode\":\"\(mode.rawValue)\"", into: &line)
        if let source {
            CanonicalJSON.literal(",\"source\":", into: &line)
            source.encode(into: &line)
        }
        if let sealCommitment {
            CanonicalJSON.literal(",\"seal\":\"\(Hexadecimal.encode(sealCommitment))\"", into: &line)
        }
        CanonicalJSON.literal("}", into: &line)
    }

    /// Reads the line; a stream of another kind, archive or mode is refused.
    init(
        parsing bytes: borrowing Span<UInt8>, kind: StreamKind, archiveID: [UInt8], mode: ArchiveMode
    ) throws(MalformedLine) {
        var scanner = CanonicalScanner()
        let archive = Hexadecimal.encode(archiveID)
        guard
            scanner.skip(
                "{\"stream\":\"\(kind.rawValue)\",\"archive\":\"\(archive)\",\"mode\":\"\(mode.rawValue)\"", in: bytes)
        else { throw MalformedLine("the \(kind.rawValue) stream does not belong to this archive", at: 0) }
        self.kind = kind
        self.archiveID = archiveID
        self.mode = mode
        if kind == .metadata {
            try scanner.literal(",\"source\":", in: bytes)
            source = try ArchiveSource(&scanner, in: bytes)
        } else {
            source = nil
        }
        if kind == .secrets, mode == .encrypted {
            try scanner.literal(",\"seal\":", in: bytes)
            sealCommitment = try ArchiveHeader.hex(count: 32, &scanner, in: bytes)
        } else {
            sealCommitment = nil
        }
        try scanner.literal("}", in: bytes)
        try scanner.end(in: bytes)
    }

    init(
        kind: StreamKind, archiveID: [UInt8], mode: ArchiveMode, source: ArchiveSource? = nil,
        sealCommitment: [UInt8]? = nil
    ) {
        self.kind = kind
        self.archiveID = archiveID
        self.mode = mode
        self.source = source
        self.sealCommitment = sealCommitment
    }
}

/// The last line of a stream: how much there was, and the hashes that tie the parts of an archive together.
struct StreamEnd: Equatable {
    let kind: StreamKind
    let contents: ArchiveContents
    /// SHA-256 of `kcbackup.json`.
    let header: SHA256Digest
    /// In the secrets: of the metadata stream up to its last line; in the metadata: of the whole secrets stream.
    let other: SHA256Digest

    func encode(into line: inout some ByteBuffer & ~Copyable) {
        CanonicalJSON.literal("{\"end\":\"\(kind.rawValue)\",\"items\":", into: &line)
        contents.counts.encode(into: &line)
        CanonicalJSON.literal(
            ",\"complete\":\(contents.isComplete),\"omitted\":\(contents.omitted),\"damaged\":\(contents.damaged)",
            into: &line)
        CanonicalJSON.literal(",\"header\":\"\(header.hex)\",\"\(kind.other.rawValue)\":\"\(other.hex)\"}", into: &line)
    }

    /// True when a line is meant to be the last one.
    static func begins(_ bytes: borrowing Span<UInt8>) -> Bool {
        var scanner = CanonicalScanner()
        return scanner.skip("{\"end\":", in: bytes)
    }

    init(parsing bytes: borrowing Span<UInt8>, kind: StreamKind) throws(MalformedLine) {
        var scanner = CanonicalScanner()
        try scanner.literal("{\"end\":\"\(kind.rawValue)\",\"items\":", in: bytes)
        let counts = try ItemCounts(&scanner, in: bytes)
        try scanner.literal(",\"complete\":", in: bytes)
        let isComplete = scanner.skip("true", in: bytes)
        if !isComplete { try scanner.literal("false", in: bytes) }
        try scanner.literal(",\"omitted\":", in: bytes)
        let omitted = try scanner.integer(in: bytes)
        try scanner.literal(",\"damaged\":", in: bytes)
        let damaged = try scanner.integer(in: bytes)
        let possible = 0...Int64(ItemLimits.itemCount)
        guard possible.contains(omitted), possible.contains(damaged) else {
            throw MalformedLine("a count is out of range", at: scanner.position)
        }
        guard isComplete == (damaged == 0) else {
            throw MalformedLine("'complete' contradicts 'damaged'", at: scanner.position)
        }
        try scanner.literal(",\"header\":", in: bytes)
        header = try Self.digest(&scanner, in: bytes)
        try scanner.literal(",\"\(kind.other.rawValue)\":", in: bytes)
        other = try Self.digest(&scanner, in: bytes)
        try scanner.literal("}", in: bytes)
        try scanner.end(in: bytes)
        self.kind = kind
        contents = ArchiveContents(counts: counts, omitted: Int(omitted), damaged: Int(damaged))
    }

    init(kind: StreamKind, contents: ArchiveContents, header: SHA256Digest, other: SHA256Digest) {
        self.kind = kind
        self.contents = contents
        self.header = header
        self.other = other
    }

    private static func digest(
        _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> SHA256Digest {
        let bytes = try ArchiveHeader.hex(count: 32, &scanner, in: bytes)
        guard let digest = SHA256Digest(hex: Hexadecimal.encode(bytes)) else {
            throw MalformedLine("a hash is expected", at: scanner.position)
        }
        return digest
    }
}

/// How much an archive holds, and what it does not hold.
package struct ArchiveContents: Hashable, Sendable {
    /// The items in the archive.
    package var counts: ItemCounts
    /// Items left out because they are in no archive (WhenPasscodeSetThisDeviceOnly).
    package var omitted: Int
    /// Items left out because they could not be read when the archive was made.
    package var damaged: Int

    /// True when every item that belongs in the archive is in it.
    package var isComplete: Bool { damaged == 0 }

    /// Counts items.
    package init(counts: ItemCounts = ItemCounts(), omitted: Int = 0, damaged: Int = 0) {
        self.counts = counts
        self.omitted = omitted
        self.damaged = damaged
    }
}
