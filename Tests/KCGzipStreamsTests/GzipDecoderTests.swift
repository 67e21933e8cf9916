import Foundation
import KCByteStreams
import KCGzipStreams
import KCTestSupport
import Testing

@Suite("Gzip decompression", .waitsForPrograms)
struct GzipDecoderTests {
    private func expectMalformed(_ bytes: [UInt8], _ rule: String, at offset: UInt64) {
        #expect(throws: StreamFailure(.decompressing, .malformed(rule), offset: offset)) {
            try GzipSample.decompress(bytes)
        }
    }

    @Test("The sizes of input and output pieces do not affect the result", arguments: [1, 7, 4096, 1_000_000])
    func ignoresCuts(pieceSize: Int) throws {
        let text = GzipSample.text(20_000)
        let compressed = try GzipSample.compress(text) + GzipSample.compress(text)
        #expect(try GzipSample.decompress(compressed, pieceSize: pieceSize) == text + text)
        #expect(
            try drain(GzipDecoder(ChoppySource(compressed), outputLimit: 1 << 20), pieceSize: pieceSize) == text + text)
    }

    @Test(
        "Members from gzip -n are read alone, concatenated, and mixed with ours",
        .enabled(if: ExternalProgram.locate("gzip") != nil))
    func readsGzip() throws {
        let text = GzipSample.text(300_000)
        let theirs = try ExternalProgram.run("gzip", ["-nc"], input: text).output
        let ours = try GzipSample.compress(text)
        #expect(try GzipSample.decompress(theirs) == text)
        #expect(try GzipSample.decompress(theirs + theirs) == text + text)
        #expect(try GzipSample.decompress(ours + theirs + ours) == text + text + text)
    }

    @Test("Empty members among others are read")
    func readsEmptyMembers() throws {
        let (empty, text) = (try GzipSample.compress([]), GzipSample.text(100))
        #expect(try GzipSample.decompress(empty + GzipSample.compress(text) + empty + empty) == text)
    }

    @Test("Empty input is reported as truncated")
    func refusesNothing() {
        #expect(throws: StreamFailure(.decompressing, .truncated, offset: 0)) { try GzipSample.decompress([]) }
    }

    @Test("A stream cut at any byte is reported as truncated, except between members")
    func refusesTruncation() throws {
        let member = try GzipSample.compress(GzipSample.text(500))
        let stream = member + member
        for count in 0..<stream.count where count != member.count {
            #expect(throws: StreamFailure(.decompressing, .truncated, offset: UInt64(count))) {
                try GzipSample.decompress(Array(stream.prefix(count)))
            }
        }
    }

    @Test("A flipped bit is refused, except for unused bits just before the trailer")
    func refusesFlips() throws {
        let text = GzipSample.text(500)
        let member = try GzipSample.compress(text)
        var harmless = 0
        for index in member.indices {
            for bit in 0..<8 {
                var flipped = member
                flipped[index] ^= 1 << bit
                do {
                    #expect(try GzipSample.decompress(flipped, limit: 1 << 20) == text)
                    #expect(index == member.count - 9, "byte \(index), bit \(bit)")
                    harmless += 1
                } catch {
                    #expect(error.stage == .decompressing)
                }
            }
        }
        #expect(harmless < 8)
    }

    @Test("Trailing bytes that form no member are refused", arguments: [[0], [0x1f], [0, 0, 0, 0], [0x1f, 0x8b, 8]])
    func refusesTrailingBytes(trailing: [UInt8]) throws {
        let member = try GzipSample.compress([1, 2, 3])
        #expect(throws: StreamFailure.self) { try GzipSample.decompress(member + trailing) }
    }

    @Test(
        "A header with an unusual field is refused with the rule it breaks",
        arguments: [
            (0, 0x50, "a member starts with the magic of gzip"), (1, 0x8c, "a member starts with the magic of gzip"),
            (2, 7, "a member is compressed with deflate"), (3, 1, "a member has no flags"),
            (3, 4, "a member has no flags"), (3, 8, "a member has no flags"), (3, 0x80, "a member has no flags"),
            (4, 1, "a member has no time"), (7, 1, "a member has no time"), (8, 2, "a member has no extra flags"),
            (9, 11, "the operating system is unknown or Unix"),
        ])
    func refusesHeader(index: Int, value: Int, rule: String) throws {
        var member = try GzipSample.compress([1, 2, 3])
        member[index] = UInt8(value)
        expectMalformed(member, rule, at: UInt64(index))
    }

    @Test("A wrong CRC-32 or size is refused in any member")
    func refusesTrailer() throws {
        let member = try GzipSample.compress([1, 2, 3])
        let size = UInt64(member.count)
        for first in [[], member] {
            var wrong = first + member
            wrong[wrong.count - 8] ^= 1
            expectMalformed(wrong, "the CRC-32 fits the data", at: UInt64(first.count) + size - 8)
            wrong = first + member
            wrong[wrong.count - 1] ^= 1
            expectMalformed(wrong, "the size fits the data", at: UInt64(first.count) + size - 4)
        }
    }

    @Test("Output of exactly the limit is delivered, and one byte more is refused", arguments: [1, 1000, 300_000])
    func limitsOutput(size: Int) throws {
        let text = GzipSample.text(size)
        let compressed = try GzipSample.compress(text)
        #expect(try GzipSample.decompress(compressed, limit: UInt64(size)) == text)
        var decoder = try GzipDecoder(MemorySource(copying: compressed), outputLimit: UInt64(size - 1))
        var delivered = 0
        let failure = #expect(throws: StreamFailure.self) {
            try decoder.forEachPiece { piece throws(StreamFailure) in delivered += piece.count }
        }
        #expect(failure?.kind == .limitExceeded("decompressed size", found: nil, allowed: size - 1))
        #expect(delivered <= size - 1)
    }

    @Test("A decompression bomb is stopped at the limit, even if it has many members")
    func stopsBombs() throws {
        let zeros = try GzipSample.compress([UInt8](repeating: 0, count: 1 << 20), level: 9)
        let bomb = (0..<64).flatMap { _ in zeros }
        let failure = #expect(throws: StreamFailure.self) { try GzipSample.decompress(bomb, limit: (1 << 20) + 5) }
        #expect(failure?.kind == .limitExceeded("decompressed size", found: nil, allowed: (1 << 20) + 5))
    }

    @Test("Empty members may follow at the limit, and a limit of 0 allows no output")
    func allowsEndAtLimit() throws {
        let (empty, text) = (try GzipSample.compress([]), GzipSample.text(100))
        #expect(try GzipSample.decompress(GzipSample.compress(text) + empty, limit: 100) == text)
        #expect(try GzipSample.decompress(empty, limit: 0) == [])
        #expect(throws: StreamFailure.self) { try GzipSample.decompress(GzipSample.compress(text) + empty, limit: 0) }
    }

    @Test("A failing source is not mistaken for one that ends")
    func passesSourceFailure() throws {
        let member = try GzipSample.compress(GzipSample.text(200))
        for failAt in 0...member.count {
            #expect(throws: StreamFailure(.reading, .system(5), offset: UInt64(failAt))) {
                try drain(GzipDecoder(FaultySource(member, failAt: failAt), outputLimit: 1000))
            }
        }
    }

    @Test("Reading after the end returns nothing")
    func staysAtEnd() throws {
        var decoder = try GzipDecoder(MemorySource(copying: GzipSample.compress([1])), outputLimit: 10)
        #expect(try decoder.readAll(limit: 10, as: "test").bytesForTest() == [1])
        #expect(try decoder.readAll(limit: 10, as: "test").bytesForTest() == [])
    }
}
