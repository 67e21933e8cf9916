/// Cuts a source into lines, in wiped memory that holds one piece of it and the longest line allowed at most.
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

    /// Moves to the next line and tells how it ends; nil at the end of the source.
    ///
    /// - Parameter limit: bytes of the line without its line feed.
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

    /// Lends the current line without its line feed.
    package borrowing func withLine<R: ~Copyable, E: Error>(
        _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let range = start..<end
        return try buffer.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// Lends the current line with its line feed, where it has one.
    package borrowing func withLineAndFeed<R: ~Copyable, E: Error>(
        _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let range = start..<next
        return try buffer.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// True when nothing follows the current line, which is given up.
    package mutating func isAtEnd() throws(StreamFailure) -> Bool {
        leaveLine()
        if start < buffer.count { return false }
        return try !fill()
    }

    /// True when what follows the current line, which is given up, begins with `text`.
    package mutating func begins(with text: String) throws(StreamFailure) -> Bool {
        leaveLine()
        while buffer.count - start < text.utf8.count, try fill() {}
        let from = start
        return buffer.withBytes { bytes in bytes.extracting(from...).starts(with: text) }
    }

    /// What follows the current line, as a source.
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

    /// Moves what follows the current line to the front and reads on; false at the end of the source.
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
    /// Without one, since the source ends.
    case endOfSource
}

/// Why there is no next line, though the source has not ended.
package enum LineFailure: Error, Hashable, Sendable {
    /// The line of this number, from 1, is longer than allowed.
    case tooLong(line: Int)
    /// The source failed.
    case stream(StreamFailure)
}

/// What a `LineReader` leaves: first the bytes that were read too far, then the rest of the source.
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
