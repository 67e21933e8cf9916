/// Bytes that are pulled: a file, a slice of one, or a stage that decodes what a lower source delivers.
package protocol ByteSource: ~Copyable {
    /// Appends the next bytes to `output`, at most as many as it has room for.
    ///
    /// Appending nothing means the end, and only that: a source that cannot deliver throws. The caller passes room
    /// for at least one byte.
    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure)
}

/// Bytes that are pushed: a file being made, or a stage that encodes and passes on.
///
/// A sink that has thrown is spent: nothing more may be written to it, and it is never finished.
package protocol ByteSink: ~Copyable {
    /// What is left when the last byte has arrived, such as the finished file.
    associatedtype Output

    /// Takes all of `bytes`.
    mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure)

    /// Writes what is held back and closes the stage; without this call the output does not exist.
    consuming func finish() throws(StreamFailure) -> Output
}

extension ByteSource where Self: ~Copyable {
    /// Reads to the end and hands each piece to `consume`, in wiped memory that is reused between pieces.
    package mutating func forEachPiece(
        upTo pieceSize: Int = 65_536, _ consume: (borrowing Span<UInt8>) throws(StreamFailure) -> Void
    ) throws(StreamFailure) {
        var piece = SecretBytes(capacity: pieceSize)
        while true {
            piece.removeAll()
            try piece.append(upTo: pieceSize) { output throws(StreamFailure) in try self.read(into: &output) }
            if piece.isEmpty { return }
            try piece.withBytes(consume)
        }
    }

    /// Reads to the end into wiped memory, and refuses more than `limit` bytes (0 to `Int.max - 1`).
    ///
    /// - Throws: `StreamFailure` of kind `limitExceeded` when the source holds more than `limit` bytes.
    package mutating func readAll(limit: Int, as name: StaticString) throws(StreamFailure) -> SecretBytes {
        precondition(limit >= 0 && limit < .max, "a limit leaves room for the byte that breaks it")
        var all = SecretBytes(capacity: min(limit, 4096))
        while true {
            let before = all.count
            try all.append(upTo: min(max(before, 4096), limit + 1 - before)) { output throws(StreamFailure) in
                try self.read(into: &output)
            }
            if all.count == before { return all }
            if all.count > limit {
                throw StreamFailure(.reading, .limitExceeded("\(name)", found: nil, allowed: limit))
            }
        }
    }
}
