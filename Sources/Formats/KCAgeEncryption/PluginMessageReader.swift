package import KCByteStreams

/// Reads the messages that a plugin or its client sends.
package struct PluginMessageReader<Source: ByteSource & ~Copyable>: ~Copyable {
    private var lines: LineReader<Source>
    private var left: Int
    private let limit: Int

    /// Reads from `source` until the end of a run.
    ///
    /// - Parameter limit: the largest number of bytes in all messages together.
    package init(_ source: consuming Source, limitInBytes limit: Int) {
        // Messages are short, and each waits for an answer.
        lines = LineReader(source, pieceSize: 4_096)
        left = limit
        self.limit = limit
    }

    /// The next message; nil at the end.
    package mutating func next() throws(PluginMessageFailure) -> PluginMessage? {
        guard try advance() else { return nil }
        let words = try lines.withLine { line throws(PluginMessageFailure) in
            guard line.starts(with: Self.start) else { throw .malformed("a message does not begin with '->'") }
            let words = [UInt8](copying: line.extracting(Self.start.utf8.count...))
                .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.allSatisfy(Stanza.isArgument) else {
                throw .malformed("a word of a message is not visible ASCII characters")
            }
            return words.map { String(decoding: $0, as: UTF8.self) }
        }
        return PluginMessage(words[0], Array(words.dropFirst()), body: try body())
    }

    private static var start: String { "-> " }

    private mutating func body() throws(PluginMessageFailure) -> SecretBytes {
        var body = SecretBytes(capacity: 64)
        while true {
            guard try advance() else { throw .malformed("the last message is incomplete") }
            let length = try lines.withLine { line throws(PluginMessageFailure) in
                guard line.count <= Stanza.columns else { throw .malformed("a line of a body is too long") }
                guard Base64.decode(line, padded: false, into: &body) else {
                    throw .malformed("a body is not canonical base 64")
                }
                return line.count
            }
            if length < Stanza.columns { return body }
        }
    }

    /// Advances to the next line; false at the end.
    private mutating func advance() throws(PluginMessageFailure) -> Bool {
        let end: LineEnd?
        do throws(LineFailure) {
            // The line feed counts as well; the end of the source needs no room.
            end = try lines.advance(limit: max(0, left - 1))
        } catch {
            switch error {
            case .tooLong: throw .tooLong(limitInBytes: limit)
            case .stream(let failure): throw .stream(failure)
            }
        }
        guard let end else { return false }
        guard case .lineFeed = end else { throw .malformed("the last message is incomplete") }
        let length = lines.withLine { $0.count } + 1
        guard length <= left else { throw .tooLong(limitInBytes: limit) }
        left -= length
        return true
    }
}

/// Why the next message cannot be read.
package enum PluginMessageFailure: Error, Hashable, Sendable {
    /// The message breaks this rule of the protocol.
    case malformed(String)
    /// All messages together are longer than this.
    case tooLong(limitInBytes: Int)
    /// The source failed.
    case stream(StreamFailure)
}
