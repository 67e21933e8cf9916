import KCByteStreams
import KCTestSupport
import Testing

@Suite("In-memory sources and sinks")
struct StreamTests {
    @Test("A memory source delivers every byte for any piece size", arguments: [1, 7, 100, 101, 4096])
    func deliversAll(pieceSize: Int) throws {
        var random = SeededRandom(seed: 2)
        let bytes = random.bytes(101)
        #expect(try drain(MemorySource(copying: bytes), pieceSize: pieceSize) == bytes)
    }

    @Test("A source appends after existing output")
    func appendsBehind() throws {
        var source = MemorySource(copying: [3, 4, 5])
        var secret = SecretBytes(capacity: 8)
        try secret.append(upTo: 4) { output throws(StreamFailure) in
            output.append(1)
            output.append(2)
            try source.read(into: &output)
        }
        #expect(secret.bytesForTest() == [1, 2, 3, 4])
    }

    @Test("A memory sink collects bytes in order")
    func collects() throws {
        var sink = MemorySink()
        try sink.write([1, 2].span)
        try sink.write([UInt8]().span)
        try sink.write([3].span)
        #expect(try sink.finish() == [1, 2, 3])
    }

    @Test("Reading everything accepts exactly the limit and refuses one byte more", arguments: [0, 1, 4096, 10_000])
    func limitsReadingAll(limit: Int) throws {
        let bytes = [UInt8](repeating: 5, count: limit)
        var fitting = ChoppySource(bytes)
        #expect(try fitting.readAll(limit: limit, as: "test size").count == limit)
        var excessive = MemorySource(copying: bytes + [5])
        #expect(throws: StreamFailure(.reading, .limitExceeded("test size", found: nil, allowed: limit))) {
            _ = try excessive.readAll(limit: limit, as: "test size")
        }
    }

    @Test("A failing source is not mistaken for one that ends", arguments: [0, 1, 5])
    func failsRatherThanEnds(failAt: Int) {
        let failure = StreamFailure(.reading, .system(5), offset: UInt64(failAt))
        #expect(throws: failure) { try drain(FaultySource([1, 2, 3, 4, 5], failAt: failAt)) }
        #expect(throws: failure) {
            var source = FaultySource([1, 2, 3, 4, 5], failAt: failAt)
            _ = try source.readAll(limit: 100, as: "test size")
        }
    }
}
