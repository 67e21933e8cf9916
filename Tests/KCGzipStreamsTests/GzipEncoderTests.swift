import Foundation
import KCByteStreams
@testable import KCGzipStreams
import KCTestSupport
import Testing

@Suite("Gzip compression", .waitsForPrograms)
struct GzipEncoderTests {
    private static let segment = 262_144
    private static let sizes = [0, 1, 1000, segment - 1, segment, segment + 1, 3 * segment, 7 * segment + 5]

    @Test("Compressed data decompresses to the original", arguments: sizes)
    func roundTrip(size: Int) throws {
        let text = GzipSample.text(size)
        #expect(try GzipSample.decompress(GzipSample.compress(text)) == text)
    }

    @Test("Random bytes survive a round trip")
    func roundTripsNoise() throws {
        var random = SeededRandom(seed: 4)
        let noise = random.bytes(Self.segment + 1000)
        #expect(try GzipSample.decompress(GzipSample.compress(noise)) == noise)
    }

    @Test("Every level survives a round trip, and higher ones compress better", arguments: [(1, 6), (6, 9)])
    func levels(lower: Int, higher: Int) throws {
        let text = GzipSample.text(100_000)
        let large = try GzipSample.compress(text, level: lower)
        let small = try GzipSample.compress(text, level: higher)
        #expect(small.count < large.count)
        #expect(try GzipSample.decompress(large) == text)
        #expect(try GzipSample.decompress(small) == text)
    }

    @Test("The segment size, which determines the output, does not change by accident")
    func keepsSegmentSize() {
        #expect(GzipEncoder<MemorySink>.segmentSize == Self.segment)
    }

    @Test("Each segment becomes one member, and so does empty input", arguments: zip(sizes, [1, 1, 1, 1, 1, 2, 3, 8]))
    func countsMembers(size: Int, members: Int) throws {
        let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        let compressed = try GzipSample.compress(GzipSample.text(size))
        var found = 0
        for start in compressed.indices.dropLast(header.count) where compressed[start] == header[0] {
            if compressed[start..<start + header.count].elementsEqual(header) { found += 1 }
        }
        #expect(found == members)
    }

    @Test("The size of input pieces and thread scheduling do not affect the output")
    func isDeterministic() throws {
        let text = GzipSample.text(5 * Self.segment + 77)
        let expected = try GzipSample.compress(text)
        for pieceSize in [1000, Self.segment - 1, Self.segment, Self.segment + 1, 3 * Self.segment] {
            #expect(try GzipSample.compress(text, pieceSize: pieceSize) == expected)
        }
    }

    @Test("The output is the concatenation of separately compressed segments")
    func joinsMembers() throws {
        let text = GzipSample.text(2 * Self.segment + 9)
        var alone: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: Self.segment) {
            alone += try GzipSample.compress(Array(text[start..<min(text.count, start + Self.segment)]))
        }
        #expect(try GzipSample.compress(text) == alone)
    }

    @Test("gzip decompresses the output", .enabled(if: ExternalProgram.locate("gzip") != nil), arguments: sizes)
    func satisfiesGzip(size: Int) throws {
        let text = GzipSample.text(size)
        let compressed = try GzipSample.compress(text)
        let check = try ExternalProgram.run("gzip", ["-t"], input: compressed)
        #expect(check.status == 0)
        #expect(check.errorOutput.isEmpty)
        #expect(try ExternalProgram.run("gzip", ["-dc"], input: compressed).output == text)
    }

    @Test("A sink that fails at any write or on finishing fails the stream while the threads are running")
    func passesSinkFailure() throws {
        let text = GzipSample.text(9 * Self.segment)
        func compress(acceptingWrites writes: Int) throws(StreamFailure) {
            var encoder = try GzipEncoder(to: FaultySink(acceptingWrites: writes))
            try encoder.write(text.span)
            try encoder.finish()
        }
        for writes in 0...9 {
            #expect(throws: StreamFailure(.writing, .system(28))) { try compress(acceptingWrites: writes) }
        }
        try compress(acceptingWrites: 10)
    }

    @Test("A pipeline dropped while working waits for its threads and is released", arguments: 0...4)
    func releasesEverything(segments: Int) throws {
        let text = GzipSample.text(Self.segment)
        weak var dropped: SegmentPipeline?
        do {
            let pipeline = try SegmentPipeline(segmentSize: Self.segment, level: 1)
            for _ in 0..<segments {
                pipeline.fill(text.span)
                pipeline.submit()
            }
            dropped = pipeline
        }
        #expect(dropped == nil)
    }
}
