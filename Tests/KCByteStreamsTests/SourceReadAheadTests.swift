import KCByteStreams
import KCTestSupport
import Testing

@Suite("Reading a source ahead")
struct SourceReadAheadTests {
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

    @Test(
        "All bytes come in order, however many pieces they fill", arguments: [0, 1, 131_071, 131_072, 131_073, 700_000])
    func everythingComes(count: Int) throws {
        let bytes = Self.bytes(count)
        for pieceSize in [4_096, 300_000] {
            let found = try drain(SourceReadAhead(MemorySource(copying: bytes)), pieceSize: pieceSize)
            #expect(found.elementsEqual(bytes))
        }
    }

    @Test("A source that delivers single bytes is read to its end")
    func singleBytes() throws {
        let bytes = Self.bytes(300_000)
        #expect(try drain(SourceReadAhead(ChoppySource(bytes))).elementsEqual(bytes))
    }

    @Test(
        "A failure comes after all bytes before it, and again when it is asked for more",
        arguments: [0, 10, 131_072, 300_000])
    func failures(failAt: Int) {
        let bytes = Self.bytes(400_000)
        var source = SourceReadAhead(FaultySource(bytes, failAt: failAt))
        var found: [UInt8] = []
        for _ in 0..<2 {
            #expect(throws: StreamFailure.self) {
                try source.forEachPiece { piece throws(StreamFailure) in found.append(piece) }
            }
        }
        #expect(found.elementsEqual(bytes.prefix(failAt)))
    }

    @Test("A source that is released while it is read ahead leaves nothing running")
    func released() throws {
        var source = SourceReadAhead(MemorySource(copying: Self.bytes(700_000)))
        var piece = SecretBytes(capacity: 200_000)
        try piece.append(upTo: 200_000) { output throws(StreamFailure) in try source.read(into: &output) }
        let count = piece.count
        #expect(count > 0)
    }
}
