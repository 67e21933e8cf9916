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
    private let kind: StreamKind
    private var number = 0

    // Enough that a refill, which moves what is left of the last line, does not count.
    private static let pieceSize = 256 << 10

    init(_ source: consuming ProtectedSource, kind: StreamKind, lineLimit: Int) throws(ArchiveFailure) {
        self.source = try Self.decoder(source)
        buffer = SecretBytes(capacity: Self.pieceSize)
        hash = SHA256()
        self.lineLimit = lineLimit
        self.kind = kind
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

    /// Where the next line is, for messages; the first line has number 1.
    var nextPlace: LinePlace { LinePlace(kind: kind, number: number + 1) }

    /// Lends the next line, without its line feed, to `body`.
    ///
    /// - Throws: what `body` throws, and `ArchiveFailure`: `damaged` when the stream ends, even if at a line feed, since
    ///   a stream says itself when it is over, by its last line.
    mutating func next<R>(_ body: (borrowing Span<UInt8>) throws -> R) throws -> R {
        let end = try findLineEnd()
        let start = self.start
        let result = try buffer.withBytes { bytes in try body(bytes.extracting(start..<end)) }
        number += 1
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
            throw .damaged(rule: "something follows the last line of the \(kind.rawValue)")
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
            guard try fill() > 0 else { throw .damaged(rule: "the \(kind.rawValue) end without their last line") }
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

    private var lineTooLong: ArchiveFailure {
        .limit("length of line \(number + 1) of the \(kind.rawValue): \(lineLimit) bytes are the limit")
    }
}

/// A line of a stream, as messages name it.
struct LinePlace {
    let kind: StreamKind
    let number: Int

    /// Damage that was found there.
    ///
    /// - Parameter item: the item of the line, where that is known.
    func damaged(_ rule: String, item: Item? = nil) -> ArchiveFailure {
        let item = item.map { " (\($0.itemClass.rawValue) \($0.uuid))" } ?? ""
        return .damaged(rule: "line \(number) of the \(kind.rawValue)\(item): \(rule)")
    }

    /// Turns a malformed line into damage.
    func parsed<R>(item: Item? = nil, _ body: () throws(MalformedLine) -> R) throws(ArchiveFailure) -> R {
        do {
            return try body()
        } catch {
            throw damaged(error.rule, item: item)
        }
    }
}
