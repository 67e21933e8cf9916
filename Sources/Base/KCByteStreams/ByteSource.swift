/// A source that bytes are pulled from: a file, a slice of one, or a decoder on top of another source.
package protocol ByteSource: ~Copyable {
    /// Appends the next bytes to `output`, at most as many as it has room for.
    ///
    /// Appending nothing always means the end of the source; a source that cannot deliver bytes throws. The caller
    /// provides room for at least one byte.
    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure)
}

/// A sink that bytes are pushed to: a file being written, or an encoder on top of another sink.
///
/// A sink that has thrown must not be written to again or finished.
package protocol ByteSink: ~Copyable {
    /// The result once all bytes have been written, such as the finished file.
    associatedtype Output

    /// Writes all of `bytes`.
    mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure)

    /// Flushes buffered output and closes the stage; without this call the output is incomplete.
    consuming func finish() throws(StreamFailure) -> Output
}

extension ByteSource where Self: ~Copyable {
    /// Reads to the end and passes each piece to `consume`, in memory that is reused between pieces and wiped.
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

    /// Reads to the end into memory that is wiped on release; refuses more than `limit` bytes (0 to `Int.max - 1`).
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
