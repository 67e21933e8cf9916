internal import ByteStreams
internal import Cryptography
internal import GzipStreams
internal import KeychainModel

/// Cuts a decompressed stream into lines and hashes them, in wiped memory that grows no further than the longest line
/// allowed.
struct LineReader: ~Copyable {
    private var source: GzipDecoder<ProtectedSource>
    private var buffer: SecretBytes
    private var hash: SHA256
    // Offsets in `buffer`: hashed up to here ≤ the line that was lent last ≤ the next line ≤ searched up to here.
    private var hashed = 0
    private var lastLine = 0
    private var start = 0
    private var searched = 0
    private let lineLimit: Int

    // Enough that a refill, which moves what is left of the last line, does not count.
    private static let pieceSize = 256 << 10

    init(_ source: consuming ProtectedSource, lineLimit: Int) throws(ArchiveFailure) {
        self.source = try Self.decoder(source)
        buffer = SecretBytes(capacity: Self.pieceSize)
        hash = SHA256()
        self.lineLimit = lineLimit
    }

    private static func decoder(
        _ source: consuming ProtectedSource
    ) throws(ArchiveFailure) -> GzipDecoder<ProtectedSource> {
        do {
            return try GzipDecoder(source, outputLimit: ArchiveLimits.streamSize)
        } catch {
            throw ArchiveFailure(error)
        }
    }

    /// Lends the next line, without its line feed, to `body`.
    ///
    /// - Throws: `ArchiveFailure.damaged` when the stream ends, even if at a line feed: a stream says itself when it
    ///   is over, by its last line.
    mutating func next<R>(
        _ body: (borrowing Span<UInt8>) throws(ArchiveFailure) -> R
    ) throws(ArchiveFailure) -> R {
        let end = try findLineEnd()
        let start = self.start
        let result = try buffer.withBytes { bytes throws(ArchiveFailure) in
            try body(bytes.extracting(start..<end))
        }
        lastLine = start
        self.start = end + 1
        searched = self.start
        return result
    }

    /// The hash of all lines with their line feeds, with or without the line that was lent last; to be asked once.
    mutating func digest(withLastLine: Bool) -> SHA256Digest {
        hashLines(upTo: withLastLine ? start : lastLine)
        var hash = SHA256()
        swap(&hash, &self.hash)
        return hash.finalize()
    }

    /// Makes sure that nothing follows the last line.
    mutating func end() throws(ArchiveFailure) {
        guard start == buffer.count, try fill() == 0 else {
            throw .damaged(rule: "something follows the last line of a stream")
        }
    }

    private mutating func findLineEnd() throws(ArchiveFailure) -> Int {
        while true {
            let from = searched
            if let end = buffer.withBytes({ bytes in bytes.firstIndex(of: UInt8(ascii: "\n"), from: from) }) {
                guard end - start <= lineLimit else { throw lineTooLong }
                return end
            }
            searched = buffer.count
            guard searched - start <= lineLimit else { throw lineTooLong }
            guard try fill() > 0 else { throw .damaged(rule: "a stream ends without its last line") }
        }
    }

    /// Moves what is left to the front, reads on, and returns how many bytes came.
    private mutating func fill() throws(ArchiveFailure) -> Int {
        hashLines(upTo: start)
        buffer.removeFirst(start)
        searched -= start
        hashed = 0
        lastLine = 0
        start = 0
        let before = buffer.count
        do {
            try buffer.append(upTo: Self.pieceSize) { output throws(StreamFailure) in
                try source.read(into: &output)
            }
        } catch {
            throw ArchiveFailure(error)
        }
        return buffer.count - before
    }

    private mutating func hashLines(upTo end: Int) {
        let from = hashed
        buffer.withBytes { bytes in hash.update(bytes.extracting(from..<end)) }
        hashed = end
    }

    private var lineTooLong: ArchiveFailure { .limit("line length: \(lineLimit) bytes are the limit") }
}
