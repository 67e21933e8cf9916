internal import ByteStreams
internal import Cryptography
internal import GzipStreams
internal import KeychainModel

/// The lines of one stream of an archive, decompressed and hashed.
struct HashedLines: ~Copyable {
    private var lines: LineReader<GzipDecoder<ProtectedSource>>
    private var hash: SHA256? = SHA256()
    private var isHashed = true
    private let lineLimit: Int
    private let kind: StreamKind

    // Enough that a refill, which moves what is left of the last line, does not count.
    private static let pieceSize = 256 << 10

    init(_ source: consuming ProtectedSource, kind: StreamKind, lineLimit: Int) throws(ArchiveFailure) {
        lines = LineReader(try Self.decoder(source), pieceSize: Self.pieceSize)
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
    var nextPlace: LinePlace { LinePlace(kind: kind, number: lines.number + 1) }

    /// Lends the next line, without its line feed, to `body`.
    ///
    /// - Throws: what `body` throws, and `ArchiveFailure`: `damaged` when the stream ends, even if at a line feed, since
    ///   a stream says itself when it is over, by its last line.
    mutating func next<R>(_ body: (borrowing Span<UInt8>) throws -> R) throws -> R {
        hashLine()
        try advance()
        isHashed = false
        return try lines.withLine(body)
    }

    /// The hash of all lines with their line feeds, the one that was lent last included; lines are not hashed any more.
    mutating func takeHash() -> SHA256 {
        hashLine()
        return hash.take() ?? SHA256()
    }

    /// Makes sure that nothing follows the last line.
    mutating func end() throws(ArchiveFailure) {
        do throws(StreamFailure) {
            if try lines.isAtEnd() { return }
        } catch {
            throw ArchiveFailure(error)
        }
        throw .damaged(rule: "something follows the last line of the \(kind.rawValue)")
    }

    private mutating func advance() throws(ArchiveFailure) {
        do throws(LineFailure) {
            if try lines.advance(limit: lineLimit) == .lineFeed { return }
        } catch {
            switch error {
            case .tooLong(let line):
                throw .limit("length of line \(line) of the \(kind.rawValue): \(lineLimit) bytes are the limit")
            case .stream(let failure): throw ArchiveFailure(failure)
            }
        }
        throw .damaged(rule: "the \(kind.rawValue) end without their last line")
    }

    /// Hashes the line that was lent last, unless it is hashed already.
    private mutating func hashLine() {
        if isHashed { return }
        isHashed = true
        lines.withLineAndFeed { hash?.update($0) }
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
