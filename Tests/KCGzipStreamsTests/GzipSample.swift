import KCByteStreams
import KCGzipStreams
import KCTestSupport

/// Sample plaintexts and helpers to compress and decompress them.
enum GzipSample {
    /// `count` bytes of moderately compressible text.
    static func text(_ count: Int) -> [UInt8] {
        var random = SeededRandom(seed: UInt64(count))
        var text: [UInt8] = []
        text.reserveCapacity(count + 64)
        while text.count < count {
            text += Array("{\"acct\":\"user\(random.next() % 100_000)\",\"svce\":\"example.com\"}\n".utf8)
        }
        return Array(text.prefix(count))
    }

    /// Compresses `plaintext`, written in pieces of `pieceSize`.
    static func compress(
        _ plaintext: [UInt8], pieceSize: Int = .max, level: Int = 1
    ) throws(StreamFailure) -> [UInt8] {
        var encoder = try GzipEncoder(to: MemorySink(), level: level)
        var start = 0
        while start < plaintext.count {
            let end = start + min(pieceSize, plaintext.count - start)
            try encoder.write(plaintext.span.extracting(start..<end))
            start = end
        }
        return try encoder.finish()
    }

    /// Decompresses `compressed`.
    static func decompress(
        _ compressed: [UInt8], limit: UInt64 = 1 << 40, pieceSize: Int = 65_536
    ) throws(StreamFailure) -> [UInt8] {
        try drain(GzipDecoder(MemorySource(copying: compressed), outputLimit: limit), pieceSize: pieceSize)
    }
}
