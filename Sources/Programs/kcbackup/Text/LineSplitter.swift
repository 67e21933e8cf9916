internal import ByteStreams

/// Splits a source into lines, in wiped memory that is reused for each line.
struct LineSplitter<Source: ByteSource & ~Copyable>: ~Copyable {
    private var source: Source
    private let limit: Int
    private var piece = SecretBytes(capacity: pieceSize)
    private var position = 0
    private var number = 0
    /// The current line, without its line feed.
    private(set) var line = SecretBytes(capacity: 4096)

    private static var pieceSize: Int { 65_536 }

    /// Reads `source`, and refuses lines of more than `limit` bytes.
    init(_ source: consuming Source, limit: Int) {
        self.source = source
        self.limit = limit
    }

    /// Moves to the next line and returns its number, from 1; nil at the end.
    ///
    /// The last line may lack its line feed.
    ///
    /// - Throws: `Failure.importLine` (`tooLong`), `StreamFailure`.
    mutating func next() throws -> Int? {
        line.removeAll()
        number += 1
        while true {
            if position == piece.count, try !refill() { return line.isEmpty ? nil : number }
            let start = position
            let end = piece.withBytes { bytes in (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } }
            let stop = end ?? piece.count
            guard line.count + stop - start <= limit else { throw Failure.importLine(number, .tooLong(limit: limit)) }
            piece.withBytes { bytes in line.append(bytes.extracting(start..<stop)) }
            position = stop
            if end != nil {
                position += 1
                return number
            }
        }
    }

    private mutating func refill() throws(StreamFailure) -> Bool {
        piece.removeAll()
        position = 0
        try piece.append(upTo: Self.pieceSize) { output throws(StreamFailure) in try source.read(into: &output) }
        return !piece.isEmpty
    }
}
