internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// Reads the metadata stream; a background thread decodes lines while the caller reads on and processes decoded items.
///
/// A small archive needs no thread. If the system cannot create one, the caller's thread decodes everything.
struct MetadataReader: ~Copyable {
    private var lines: HashedLines
    private let header: ArchiveHeader
    private let headerHash: SHA256Digest
    /// The source of the archive.
    let source: ArchiveSource

    init(_ stream: consuming ProtectedSource, header: ArchiveHeader, headerHash: SHA256Digest) throws {
        var lines = try HashedLines(stream, kind: .metadata, lineLimit: ItemLimits.metadataLineSize)
        let place = lines.nextPlace
        let start = try lines.next { line in
            try place.parsed(
                StreamStart(parsing: line, kind: .metadata, archiveID: header.archiveID, mode: header.mode))
        }
        guard let source = start.source else { throw ArchiveFailure.damaged(rule: "the metadata name no source") }
        self.source = source
        self.header = header
        self.headerHash = headerHash
        self.lines = lines
    }

    /// Passes each item with its line and its number, from 0, to `body`, which runs on the caller's thread.
    ///
    /// - Throws: what `body` throws; a fault of the stream is thrown only after all items before it were passed on.
    consuming func readAll(_ body: (Item, borrowing Span<UInt8>, UInt64) throws -> Void) throws -> MetadataEnd {
        // Three batches: one is being passed on, one is being decoded and one is being read.
        let batches = [MetadataBatch(), MetadataBatch(), MetadataBatch()]
        var turn = 0
        let hash = lines.takeHash()
        fill(batches[0])
        let decoder = MetadataDecoder(after: hash, inBackground: batches[0].outcome == nil) {
            [source, mode = header.mode] in
            source.admits($0, in: mode)
        }
        decoder.start(batches[0])
        while true {
            let batch = batches[turn % batches.count]
            let next = batches[(turn + 1) % batches.count]
            if batch.outcome == nil { fill(next) }
            decoder.wait()
            if batch.outcome == nil { decoder.start(next) }
            try batch.visit(body)
            if let outcome = batch.outcome {
                return try finish(try outcome.get(), decoder)
            }
            turn += 1
        }
    }

    /// Reads lines until the batch is full or nothing more can be read.
    private mutating func fill(_ batch: MetadataBatch) {
        batch.removeAll(startingAt: lines.nextPlace)
        do {
            while !batch.isFull {
                let place = lines.nextPlace
                let end = try lines.next { line -> StreamEnd? in
                    if StreamEnd.begins(line) {
                        return try place.parsed(StreamEnd(parsing: line, kind: .metadata))
                    }
                    batch.append(line)
                    return nil
                }
                if let end {
                    batch.outcome = .success(end)
                    return
                }
            }
        } catch {
            batch.outcome = .failure(error)
        }
    }

    private mutating func finish(_ end: StreamEnd, _ decoder: MetadataDecoder) throws -> MetadataEnd {
        let hash = decoder.takeHash()
        do {
            return MetadataEnd(last: end, hash: hash, contents: .success(try contents(end, decoder)))
        } catch {
            return MetadataEnd(last: end, hash: hash, contents: .failure(error))
        }
    }

    private mutating func contents(
        _ end: StreamEnd, _ decoder: MetadataDecoder
    ) throws(ArchiveFailure) -> ArchiveContents {
        guard end.header == headerHash else { throw .damaged(rule: "the metadata belongs to another header") }
        let counts = decoder.counts
        guard end.contents.counts == counts, header.store.map({ $0.counts == counts }) ?? true else {
            throw .damaged(rule: "the number of items is not the one that is stated")
        }
        if let repeated = decoder.repeatedUUID() {
            throw .damaged(rule: "two items have the same UUID \(repeated)")
        }
        try lines.end()
        return end.contents
    }
}

/// The end of a metadata stream.
struct MetadataEnd {
    /// The contents of its last line.
    let last: StreamEnd
    /// The hash of all lines before the last one.
    let hash: SHA256Digest
    /// The counts of the archive, or a failure if they contradict what was read.
    let contents: Result<ArchiveContents, ArchiveFailure>
}
