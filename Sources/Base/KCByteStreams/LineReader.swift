/// Splits a source into lines, in wiped memory that holds at most one piece of it plus the longest allowed line.
package struct LineReader<Source: ByteSource & ~Copyable>: ~Copyable {
    private var source: Source
    private let pieceSize: Int
    private var buffer: SecretBytes
    // Offsets in `buffer`: the current line without and with its line feed.
    private var start = 0
    private var end = 0
    private var next = 0
    /// The number of the current line, from 1; 0 before the first.
    package private(set) var number = 0

    /// Reads `source` in pieces of at most `pieceSize` bytes.
    package init(_ source: consuming Source, pieceSize: Int = 65_536) {
        self.source = source
        self.pieceSize = pieceSize
        buffer = SecretBytes(capacity: pieceSize)
    }

    /// Advances to the next line and returns how it ends; nil at the end of the source.
    ///
    /// - Parameter limit: the maximum length of the line in bytes, without its line feed.
    package mutating func advance(limit: Int) throws(LineFailure) -> LineEnd? {
        leaveLine()
        var searched = start
        while true {
            let from = searched
            if let found = buffer.withBytes({ $0.firstIndex(of: UInt8(ascii: "\n"), from: from) }) {
                guard found - start <= limit else { throw .tooLong(line: number + 1) }
                end = found
                next = found + 1
                number += 1
                return .lineFeed
            }
            let length = buffer.count - start
            guard length <= limit else { throw .tooLong(line: number + 1) }
            do throws(StreamFailure) {
                if try fill() {
                    searched = start + length
                    continue
                }
            } catch {
                throw .stream(error)
            }
            if length == 0 { return nil }
            end = buffer.count
            next = end
            number += 1
            return .endOfSource
        }
    }

    /// Calls `body` with the current line, without its line feed.
    package borrowing func withLine<R: ~Copyable, E: Error>(
        _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let range = start..<end
        return try buffer.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// Calls `body` with the current line, including its line feed if it has one.
    package borrowing func withLineAndFeed<R: ~Copyable, E: Error>(
        _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let range = start..<next
        return try buffer.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// True if nothing follows the current line, which is discarded.
    package mutating func isAtEnd() throws(StreamFailure) -> Bool {
        leaveLine()
        if start < buffer.count { return false }
        return try !fill()
    }

    /// True if the bytes after the current line, which is discarded, begin with `text`.
    package mutating func begins(with text: String) throws(StreamFailure) -> Bool {
        leaveLine()
        while buffer.count - start < text.utf8.count, try fill() {}
        let from = start
        return buffer.withBytes { bytes in bytes.extracting(from...).starts(with: text) }
    }

    /// The bytes after the current line, as a source.
    package consuming func remainder() -> Remainder<Source> {
        leaveLine()
        var rest = SecretBytes(capacity: 0)
        swap(&rest, &buffer)
        rest.removeFirst(start)
        return Remainder(rest: rest, source: source)
    }

    private mutating func leaveLine() {
        start = next
        end = next
    }

    /// Moves the bytes after the current line to the front and reads more; false at the end of the source.
    private mutating func fill() throws(StreamFailure) -> Bool {
        buffer.removeFirst(start)
        start = 0
        end = 0
        next = 0
        let before = buffer.count
        try buffer.append(upTo: pieceSize) { output throws(StreamFailure) in try source.read(into: &output) }
        return buffer.count > before
    }
}

/// How a line ends.
package enum LineEnd: Sendable {
    /// With a line feed.
    case lineFeed
    /// Without one, because the source ends.
    case endOfSource
}

/// Why the next line could not be read.
package enum LineFailure: Error, Hashable, Sendable {
    /// The line of this number, from 1, is longer than allowed.
    case tooLong(line: Int)
    /// The source failed.
    case stream(StreamFailure)
}

/// The part of a source that a `LineReader` has not returned: the bytes it read ahead, then the rest of the source.
package struct Remainder<Source: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    private var rest: SecretBytes
    private var source: Source

    fileprivate init(rest: consuming SecretBytes, source: consuming Source) {
        self.rest = rest
        self.source = source
    }

    /// Appends the next bytes.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        if rest.isEmpty { return try source.read(into: &output) }
        let count = min(rest.count, output.freeCapacity)
        rest.withBytes { bytes in output.append(copying: bytes.extracting(0..<count)) }
        rest.removeFirst(count)
    }
}
