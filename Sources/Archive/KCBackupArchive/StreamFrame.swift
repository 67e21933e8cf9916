internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Either of the two streams of an archive.
enum StreamKind: String {
    case metadata
    case secrets

    /// The other stream, whose hash is in the last line.
    var other: StreamKind { self == .metadata ? .secrets : .metadata }
}

/// The first line of a stream, which states its kind and its archive.
struct StreamStart: Equatable {
    let kind: StreamKind
    let archiveID: [UInt8]
    let mode: ArchiveMode
    /// In the metadata only.
    let source: ArchiveSource?
    /// In the secrets of an encrypted archive only; distinguishes another device's seal from a damaged one.
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

    /// Parses the line; throws if the stream is of another kind, archive or mode.
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

/// The last line of a stream: the counts, and the hashes that bind the parts of the archive together.
struct StreamEnd: Equatable {
    let kind: StreamKind
    let contents: ArchiveContents
    /// SHA-256 of `kcbackup.json`.
    let header: SHA256Digest
    /// In the secrets, the hash of the metadata stream up to its last line; in the metadata, that of the entire secrets
    /// stream.
    let other: SHA256Digest

    func encode(into line: inout some ByteBuffer & ~Copyable) {
        CanonicalJSON.literal("{\"end\":\"\(kind.rawValue)\",\"items\":", into: &line)
        contents.counts.encode(into: &line)
        CanonicalJSON.literal(
            ",\"complete\":\(contents.isComplete),\"omitted\":\(contents.omitted),\"damaged\":\(contents.damaged)",
            into: &line)
        CanonicalJSON.literal(",\"header\":\"\(header.hex)\",\"\(kind.other.rawValue)\":\"\(other.hex)\"}", into: &line)
    }

    /// True if a line claims to be the last one.
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

/// The numbers of items that an archive holds and omits.
package struct ArchiveContents: Hashable, Sendable {
    /// The items in the archive.
    package var counts: ItemCounts
    /// The number of items omitted because they must not be archived (WhenPasscodeSetThisDeviceOnly).
    package var omitted: Int
    /// The number of items omitted because they could not be read when the archive was made.
    package var damaged: Int

    /// True if every item that should be in the archive is in it.
    package var isComplete: Bool { damaged == 0 }

    /// Creates the counts.
    package init(counts: ItemCounts = ItemCounts(), omitted: Int = 0, damaged: Int = 0) {
        self.counts = counts
        self.omitted = omitted
        self.damaged = damaged
    }
}
