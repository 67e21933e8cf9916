import ByteStreams
import GzipStreams
import TestSupport
import Testing

private let segment = 256 << 10

/// Compressible, but not to nothing: lines that differ in a random number.
private func lines(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededRandom(seed: seed)
    var bytes: [UInt8] = []
    while bytes.count < count {
        bytes += Array("{\"acct\":\"user\(random.next())\",\"svce\":\"site\"}\n".utf8)
    }
    return Array(bytes.prefix(count))
}

private func compress(_ bytes: [UInt8], pieces: Int = .max) throws -> [UInt8] {
    var encoder = try GzipEncoder(to: MemorySink())
    var offset = 0
    while offset < bytes.count {
        let end = offset + min(pieces, bytes.count - offset)
        try encoder.write(bytes.span.extracting(offset..<end))
        offset = end
    }
    return try encoder.finish()
}

private func decompress(_ bytes: [UInt8], limit: UInt64 = 1 << 30, pieceSize: Int = 4096) throws -> [UInt8] {
    try drain(GzipDecoder(ChoppySource(bytes), outputLimit: limit), pieceSize: pieceSize)
}

@Suite("gzip streams")
struct GzipStreamsTests {
    @Test(
        "what goes in comes out, whatever the size",
        arguments: [0, 1, segment - 1, segment, segment + 1, 3 * segment, 7 * segment + 13])
    func roundTrip(size: Int) throws {
        let bytes = lines(size)
        #expect(try decompress(compress(bytes)) == bytes)
    }

    @Test("the output does not depend on how the input was cut")
    func deterministic() throws {
        let bytes = lines(3 * segment + 5)
        let whole = try compress(bytes)
        #expect(try compress(bytes, pieces: 1_000) == whole)
        #expect(try compress(bytes, pieces: segment + 1) == whole)
    }

    @Test("gzip reads what we write", arguments: [0, 1, 5 * segment + 1])
    func gzipReadsOurs(size: Int) throws {
        let bytes = lines(size)
        let outcome = try ExternalProgram.run("gzip", ["-dc"], input: try compress(bytes))
        #expect(outcome.status == 0)
        #expect(outcome.output == bytes)
    }

    @Test("we read what gzip writes, several members in a row")
    func weReadGzip() throws {
        let (first, second) = (lines(70_000, seed: 2), lines(10, seed: 3))
        let members = try [first, [], second].map { bytes in
            try ExternalProgram.run("gzip", ["-nc"], input: bytes).output
        }
        #expect(try decompress(members.flatMap { $0 }) == first + second)
    }

    @Test("a stream that ends early is refused at every byte but a member's end")
    func truncation() throws {
        let whole = try compress(lines(3_000))
        for length in 0..<whole.count {
            #expect(throws: StreamFailure.self, "cut at \(length)") { try decompress(Array(whole.prefix(length))) }
        }
    }

    @Test("no flipped bit changes what is delivered: it is refused, or it means nothing")
    func bitFlips() throws {
        let bytes = lines(200)
        let whole = try compress(bytes)
        var harmless = 0
        for index in whole.indices {
            for bit in 0..<8 {
                var changed = whole
                changed[index] ^= 1 << UInt8(bit)
                guard let delivered = try? decompress(changed) else { continue }
                #expect(delivered == bytes, "byte \(index) bit \(bit)")
                harmless += 1
            }
        }
        // Time, effort and system in the header (six bytes), and at most seven bits that fill up the last byte.
        #expect((48...55).contains(harmless))
    }

    @Test("something behind the last member is refused", arguments: [[0], [0x1f, 0x8b], [UInt8](repeating: 0, count: 20)])
    func trailing(bytes: [UInt8]) throws {
        let whole = try compress(lines(100))
        #expect(throws: StreamFailure.self) { try decompress(whole + bytes) }
    }

    @Test("members with a name, a comment or an extra field are refused", arguments: [2, 4, 8, 16, 128] as [UInt8])
    func flags(flag: UInt8) throws {
        var whole = try compress(lines(100))
        whole[3] = flag
        #expect(throws: StreamFailure.self) { try decompress(whole) }
    }

    @Test("a bomb stops at the limit, and nothing beyond the limit is delivered")
    func bomb() throws {
        let bomb = try compress([UInt8](repeating: 0, count: 4 << 20))
        #expect(bomb.count < 100_000)
        var delivered = 0
        var decoder = GzipDecoder(ChoppySource(bomb), outputLimit: 100_000)
        let failure = #expect(throws: StreamFailure.self) {
            try decoder.forEachPiece(upTo: 10_000) { piece throws(StreamFailure) in delivered += piece.count }
        }
        guard case .limitExceeded = failure?.kind else {
            Issue.record("not a limit: \(String(describing: failure))")
            return
        }
        #expect(delivered <= 100_000)
    }

    @Test("a sink that fails ends the work with its own error, wherever it fails")
    func faultySink() throws {
        let bytes = lines(9 * segment)
        var writes = 0
        while true {
            do {
                var encoder = try GzipEncoder(to: FaultySink(acceptingWrites: writes))
                try encoder.write(bytes.span)
                _ = try encoder.finish()
                break
            } catch {
                #expect(error.kind == .system(28))
                writes += 1
            }
        }
        #expect(writes == 10)
    }

    @Test("a source that fails is not an end")
    func faultySource() throws {
        let whole = try compress(lines(5_000))
        for position in [0, 9, 10, 11, whole.count / 2, whole.count] {
            let failure = #expect(throws: StreamFailure.self) {
                try drain(GzipDecoder(FaultySource(whole, failAt: position), outputLimit: 1 << 20))
            }
            #expect(failure?.kind == .system(5))
        }
    }
}
