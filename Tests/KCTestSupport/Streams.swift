package import KCByteStreams

/// A source that delivers one byte per call, to show that no stage depends on how its input is divided.
package struct ChoppySource: ByteSource, ~Copyable {
    private let bytes: [UInt8]
    private var offset = 0

    /// Delivers `bytes`.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Appends at most one byte.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        guard offset < bytes.count else { return }
        output.append(bytes[offset])
        offset += 1
    }
}

/// A source that fails after some bytes, like a bad disk.
package struct FaultySource: ByteSource, ~Copyable {
    private let bytes: [UInt8]
    private let failAt: Int
    private var offset = 0

    /// Delivers the bytes before `failAt`, one per call, then throws `EIO`.
    package init(_ bytes: [UInt8], failAt: Int) {
        self.bytes = bytes
        self.failAt = failAt
    }

    /// Appends at most one byte.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        guard offset < failAt else { throw StreamFailure(.reading, .system(5), offset: UInt64(offset)) }
        guard offset < bytes.count else { return }
        output.append(bytes[offset])
        offset += 1
    }
}

/// A sink that fails at its Nth write, or when it is finished, like a full disk.
package struct FaultySink: ByteSink, ~Copyable {
    private var writesLeft: Int

    /// Accepts `writes` writes and throws `ENOSPC` on the next call.
    package init(acceptingWrites writes: Int) {
        writesLeft = writes
    }

    /// Counts the write, or fails.
    package mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        guard writesLeft > 0 else { throw StreamFailure(.writing, .system(28)) }
        writesLeft -= 1
    }

    /// Succeeds only while writes are left.
    package consuming func finish() throws(StreamFailure) {
        guard writesLeft > 0 else { throw StreamFailure(.writing, .system(28)) }
    }
}

/// Reads a source to its end into an array, asking for `pieceSize` bytes at a time.
package func drain<Source: ByteSource & ~Copyable>(
    _ source: consuming Source, pieceSize: Int = 4096
) throws(StreamFailure) -> [UInt8] {
    var source = source
    var all: [UInt8] = []
    try source.forEachPiece(upTo: pieceSize) { piece throws(StreamFailure) in
        for index in piece.indices { all.append(piece[index]) }
    }
    return all
}

extension SecretBytes {
    /// A copy as an array, which only tests may make.
    package borrowing func bytesForTest() -> [UInt8] {
        withBytes { span in
            var copy: [UInt8] = []
            for index in span.indices { copy.append(span[index]) }
            return copy
        }
    }
}
