internal import KCByteStreams
internal import KCConsole
internal import KCGzipStreams
package import KCReportText

/// Where lines of JSON go: to standard output, or into a new file that gets its name when it is complete.
package enum LinesOutput {
    case standard(Session)
    case file(NewFilePath, isCompressed: Bool)

    // In bytes; large enough that the cost of writing is negligible.
    private static let size = 65_536

    /// - Parameter path: `-` for standard output; the lines of a file whose name ends with `.gz` are compressed.
    /// - Throws: as `NewFilePath`, and `FileFailure` (`exists`).
    package init(_ path: String, _ option: OptionName, in session: Session) throws {
        if path == "-" {
            self = .standard(session)
        } else {
            let path = try NewFilePath(path, option, in: session)
            try path.requireFree()
            self = .file(path, isCompressed: path.name.exact.hasSuffix(".gz"))
        }
    }

    /// Writes the lines that `body` makes; if that throws, no file is left.
    ///
    /// - Throws: `FileFailure`, `Failure` (`stream`, `output`), and what `body` throws.
    package func make(_ body: (_ write: (JSONValue) throws -> Void) throws -> Void) throws {
        switch self {
        case .standard(let session):
            var sink = StandardSink(session: session)
            do {
                // Names of items must not control the terminal.
                try Self.fill(&sink, shownBy: session, body)
            } catch let failure as StreamFailure {
                throw Failure.output(failure)
            }
        case .file(let path, let isCompressed):
            let file = try UnnamedFile(inFolder: path.folder)
            do {
                if isCompressed {
                    var sink = try GzipEncoder(to: UnnamedFileSink(file))
                    try Self.fill(&sink, body)
                    _ = try sink.finish()
                } else {
                    var sink = UnnamedFileSink(file)
                    try Self.fill(&sink, body)
                    _ = try sink.finish()
                }
            } catch let failure as StreamFailure {
                throw Failure.stream(failure, path: path.given)
            }
            try file.publish(as: path.name)
        }
    }

    private static func fill<Sink: ByteSink & ~Copyable>(
        _ sink: inout Sink, shownBy session: Session? = nil,
        _ body: (_ write: (JSONValue) throws -> Void) throws -> Void
    ) throws {
        var bytes: [UInt8] = []
        var encoded: [UInt8] = []
        try body { line in
            encoded.removeAll(keepingCapacity: true)
            try line.encode(into: &encoded)
            if let session { session.append(json: encoded.span, to: &bytes) } else { bytes += encoded }
            bytes.append(UInt8(ascii: "\n"))
            if bytes.count >= size {
                try sink.write(bytes.span)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        try sink.write(bytes.span)
    }

    private struct StandardSink: ByteSink {
        let session: Session

        func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) { try session.world.output.write(bytes) }

        consuming func finish() {}
    }
}
