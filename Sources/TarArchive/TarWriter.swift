public import ByteStreams

/// Writes a tar of the one profile that archives have: strict ustar, regular files, mode 0600 (docs/format.md,
/// "Container").
///
/// libarchive makes the bytes and puts them into a buffer that is drained into the sink after each call, so that a
/// failure of the sink is thrown here and never travels through C.
public struct TarWriter<Downstream: ByteSink & ~Copyable>: ~Copyable {
    private var downstream: Downstream
    private let archive: WritingArchive
    private let modified: Int64

    /// Starts a container whose members all have the time `modified`, in seconds since 1970.
    ///
    /// - Throws: `StreamFailure` (`library`, also for a time outside `TarProfile.timeRange`).
    public init(to downstream: consuming Downstream, modified: Int64) throws(StreamFailure) {
        guard TarProfile.timeRange.contains(modified) else {
            throw StreamFailure(.writingContainer, .library("the time does not fit into a tar header"))
        }
        let archive = try WritingArchive()
        self.archive = archive
        self.downstream = downstream
        self.modified = modified
    }

    /// Adds a member of exactly `length` bytes, which `source` must deliver.
    ///
    /// - Throws: `StreamFailure`: `truncated` or `malformed` when `source` has fewer or more bytes, `limitExceeded`
    ///   beyond `TarProfile.sizeLimit`, and what source and sink throw. The container is lost then.
    public mutating func append<Source: ByteSource & ~Copyable>(
        _ name: String, length: UInt64, from source: inout Source
    ) throws(StreamFailure) {
        guard length <= TarProfile.sizeLimit else {
            throw StreamFailure(
                .writingContainer,
                .limitExceeded("member size", found: length, allowed: Int(TarProfile.sizeLimit)))
        }
        try archive.beginMember(name, length: length, modified: modified)
        var written: UInt64 = 0
        try source.forEachPiece(upTo: 1 << 18) { piece throws(StreamFailure) in
            written += UInt64(piece.count)
            guard written <= length else {
                throw StreamFailure(.writingContainer, .malformed("a member is longer than was stated"))
            }
            try archive.write(piece)
            try drain()
        }
        guard written == length else { throw StreamFailure(.writingContainer, .truncated, offset: written) }
        try archive.endMember()
        try drain()
    }

    /// Adds a member that is in memory.
    ///
    /// - Throws: `StreamFailure`.
    public mutating func append(_ name: String, _ bytes: [UInt8]) throws(StreamFailure) {
        var source = MemorySource(copying: bytes)
        try append(name, length: UInt64(bytes.count), from: &source)
    }

    /// Writes the end of the container and finishes the stage below.
    ///
    /// - Throws: `StreamFailure`.
    public consuming func finish() throws(StreamFailure) -> Downstream.Output {
        try archive.end()
        try drain()
        return try downstream.finish()
    }

    private mutating func drain() throws(StreamFailure) {
        let pending = archive.takePending()
        if !pending.isEmpty { try downstream.write(pending.span) }
    }
}
