internal import KCByteStreams
internal import KCCryptography
internal import KCGzipStreams
internal import KCKeychainModel

/// Reads the lines of one stream of an archive, decompressing and hashing them.
struct HashedLines: ~Copyable {
    private var lines: LineReader<GzipDecoder<ProtectedSource>>
    private var hash: SHA256? = SHA256()
    private var isHashed = true
    private let lineLimit: Int
    private let kind: StreamKind

    // Large enough that moving the rest of the last line at each refill costs next to nothing.
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

    /// The position of the next line, for messages; the first line has number 1.
    var nextPlace: LinePlace { LinePlace(kind: kind, number: lines.number + 1) }

    /// Calls `body` with the next line, without its line feed.
    ///
    /// - Throws: what `body` throws, and `ArchiveFailure`: `damaged` if the stream ends, even at a line feed, since a
    ///   stream must end with its last line, which is marked as such.
    mutating func next<R>(_ body: (borrowing Span<UInt8>) throws -> R) throws -> R {
        hashLine()
        try advance()
        isHashed = false
        return try lines.withLine(body)
    }

    /// The hash of all lines so far, with their line feeds; later lines are not hashed.
    mutating func takeHash() -> SHA256 {
        hashLine()
        return hash.take() ?? SHA256()
    }

    /// Checks that nothing follows the last line.
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

    /// Hashes the current line, unless it has already been hashed.
    private mutating func hashLine() {
        if isHashed { return }
        isHashed = true
        lines.withLineAndFeed { hash?.update($0) }
    }
}

/// The position of a line in a stream, for messages.
struct LinePlace {
    let kind: StreamKind
    let number: Int

    /// The failure for damage found in this line.
    ///
    /// - Parameter item: the item of the line, if known.
    func damaged(_ rule: String, item: Item? = nil) -> ArchiveFailure {
        let item = item.map { " (\($0.itemClass.rawValue) \($0.uuid))" } ?? ""
        return .damaged(rule: "line \(number) of the \(kind.rawValue)\(item): \(rule)")
    }

    /// Converts a malformed line to damage.
    func parsed<R>(item: Item? = nil, _ line: @autoclosure () throws(MalformedLine) -> R) throws(ArchiveFailure) -> R {
        do {
            return try line()
        } catch {
            throw damaged(error.rule, item: item)
        }
    }
}
