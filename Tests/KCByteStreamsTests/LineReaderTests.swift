import KCByteStreams
import KCTestSupport
import Testing

@Suite("Reading lines")
struct LineReaderTests {
    private func lines<Source: ByteSource & ~Copyable>(
        _ source: consuming Source, limit: Int = 10, pieceSize: Int = 4
    ) throws -> [String] {
        var reader = LineReader(source, pieceSize: pieceSize)
        var lines: [String] = []
        while let end = try reader.advance(limit: limit) {
            let text = reader.withLine { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
            let whole = reader.withLineAndFeed { $0.count }
            #expect(whole == text.utf8.count + (end == .lineFeed ? 1 : 0))
            lines.append("\(reader.number):\(text)\(end == .endOfSource ? "$" : "")")
        }
        return lines
    }

    @Test("Lines come in order, even from a source that delivers single bytes and without a final line feed")
    func linesComeInOrder() throws {
        for (text, last) in [("a\n\nbcdefg\n", "3:bcdefg"), ("a\n\nbcdefg", "3:bcdefg$")] {
            #expect(try lines(ChoppySource(Array(text.utf8))) == ["1:a", "2:", last])
            #expect(try lines(MemorySource(copying: Array(text.utf8))) == ["1:a", "2:", last])
        }
        #expect(try lines(MemorySource(copying: [])) == [])
    }

    @Test("A line over the limit is refused with its number, with or without its line feed")
    func longLinesAreRefused() throws {
        #expect(try lines(ChoppySource(Array("0123456789\n0123456789".utf8))).count == 2)
        for text in ["x\n0123456789a\n", "x\n0123456789a"] {
            for pieceSize in [1, 4, 64] {
                #expect(throws: LineFailure.tooLong(line: 2)) {
                    try lines(MemorySource(copying: Array(text.utf8)), pieceSize: pieceSize)
                }
            }
        }
    }

    @Test("A failing source is not mistaken for the end of the lines")
    func failuresAreNoEnd() {
        #expect(throws: LineFailure.self) { try lines(FaultySource(Array("a\nb\n".utf8), failAt: 3), pieceSize: 1) }
    }

    @Test("The bytes after a line can be peeked at and remain available to the next reader")
    func theRemainderIsWhole() throws {
        for pieceSize in [1, 3, 64] {
            var reader = LineReader(MemorySource(copying: Array("head\nbody\nend".utf8)), pieceSize: pieceSize)
            #expect(try reader.begins(with: "hea"))
            #expect(try reader.begins(with: "heads") == false)
            #expect(try reader.advance(limit: 4) == .lineFeed)
            #expect(try reader.begins(with: "body\nend"))
            #expect(try reader.begins(with: "body\nend.") == false)
            #expect(try reader.isAtEnd() == false)
            #expect(try drain(reader.remainder()) == Array("body\nend".utf8))
            // This also works without peeking first.
            var unseen = LineReader(MemorySource(copying: Array("head\nbody\nend".utf8)), pieceSize: pieceSize)
            #expect(try unseen.advance(limit: 4) == .lineFeed)
            #expect(try drain(unseen.remainder()) == Array("body\nend".utf8))
        }
        var reader = LineReader(MemorySource(copying: Array("a\n".utf8)))
        #expect(try reader.advance(limit: 4) == .lineFeed)
        #expect(try reader.isAtEnd())
    }

    @Test("Lines of text in memory are the same as those of a source")
    func linesInMemory() {
        for (text, expected) in [("a\n\nb\n", ["1a", "2", "3b"]), ("a\nb", ["1a", "2b"]), ("", []), ("\n", ["1"])] {
            var lines: [String] = []
            Array(text.utf8).span.forEachLine { line, number in
                lines.append("\(number)" + String(decoding: line.indices.map { line[$0] }, as: UTF8.self))
            }
            #expect(lines == expected)
        }
    }
}

@Suite("Byte buffers")
struct ByteBufferTests {
    private struct Refusal: Error {}

    @Test("An array receives what an encoder appends, and nothing from an append that throws")
    func arraysAreBuffers() {
        var bytes: [UInt8] = [1]
        bytes.append(([2, 3] as [UInt8]).span)
        bytes.append(utf8: "A")
        bytes.append(upTo: 4) { output in output.append(5) }
        #expect(throws: Refusal.self) {
            try bytes.append(upTo: 4) { output throws(Refusal) in
                output.append(6)
                throw Refusal()
            }
        }
        #expect(bytes == [1, 2, 3, 65, 5])
    }
}
