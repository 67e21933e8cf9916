import ByteStreams
import Foundation
@testable import GzipStreams
import TestSupport
import Testing

@Suite("Compressing")
struct GzipEncoderTests {
    private static let segment = 262_144
    private static let sizes = [0, 1, 1000, segment - 1, segment, segment + 1, 3 * segment, 7 * segment + 5]

    @Test("what is compressed comes back", arguments: sizes)
    func roundTrip(size: Int) throws {
        let text = GzipSample.text(size)
        #expect(try GzipSample.decompress(GzipSample.compress(text)) == text)
    }

    @Test("bytes without pattern come back")
    func roundTripsNoise() throws {
        var random = SeededRandom(seed: 4)
        let noise = random.bytes(Self.segment + 1000)
        #expect(try GzipSample.decompress(GzipSample.compress(noise)) == noise)
    }

    @Test("each level comes back, and higher ones are no larger", arguments: [(1, 6), (6, 9)])
    func levels(lower: Int, higher: Int) throws {
        let text = GzipSample.text(100_000)
        let large = try GzipSample.compress(text, level: lower)
        let small = try GzipSample.compress(text, level: higher)
        #expect(small.count < large.count)
        #expect(try GzipSample.decompress(large) == text)
        #expect(try GzipSample.decompress(small) == text)
    }

    @Test("the segment size is part of the output and does not change unnoticed")
    func keepsSegmentSize() {
        #expect(GzipEncoder<MemorySink>.segmentSize == Self.segment)
    }

    @Test("there is one member for each segment, and one for nothing", arguments: zip(sizes, [1, 1, 1, 1, 1, 2, 3, 8]))
    func countsMembers(size: Int, members: Int) throws {
        let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        let compressed = try GzipSample.compress(GzipSample.text(size))
        var found = 0
        for start in compressed.indices.dropLast(header.count) where compressed[start] == header[0] {
            if compressed[start..<start + header.count].elementsEqual(header) { found += 1 }
        }
        #expect(found == members)
    }

    @Test("how the plaintext is cut, and chance between threads, do not show in the output")
    func isDeterministic() throws {
        let text = GzipSample.text(5 * Self.segment + 77)
        let expected = try GzipSample.compress(text)
        for pieceSize in [1000, Self.segment - 1, Self.segment, Self.segment + 1, 3 * Self.segment] {
            #expect(try GzipSample.compress(text, pieceSize: pieceSize) == expected)
        }
    }

    @Test("several members are the same as each segment compressed alone")
    func joinsMembers() throws {
        let text = GzipSample.text(2 * Self.segment + 9)
        var alone: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: Self.segment) {
            alone += try GzipSample.compress(Array(text[start..<min(text.count, start + Self.segment)]))
        }
        #expect(try GzipSample.compress(text) == alone)
    }

    @Test("gzip accepts and decompresses it", .enabled(if: ExternalProgram.locate("gzip") != nil), arguments: sizes)
    func satisfiesGzip(size: Int) throws {
        let text = GzipSample.text(size)
        let compressed = try GzipSample.compress(text)
        let check = try ExternalProgram.run("gzip", ["-t"], input: compressed)
        #expect(check.status == 0)
        #expect(check.errorOutput.isEmpty)
        #expect(try ExternalProgram.run("gzip", ["-dc"], input: compressed).output == text)
    }

    @Test("a sink that fails at any write, or at its end, fails the stream while the threads are at work")
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

    @Test("dropped in the middle of its work, the pipeline waits for its threads and is gone", arguments: 0...4)
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
