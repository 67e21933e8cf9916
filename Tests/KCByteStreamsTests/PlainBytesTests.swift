import KCByteStreams
import KCTestSupport
import Testing

/// Bytes are examined eight at a time; each test compares that with one at a time.
@Suite struct PlainBytesTests {
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Mostly letters, with a byte of any value here and there.
    private static func bytes(_ random: inout SeededRandom) -> [UInt8] {
        (0..<Int.random(in: 0...40, using: &random)).map { _ in
            Int.random(in: 0..<12, using: &random) == 0
                ? UInt8.random(in: 0...255, using: &random) : UInt8.random(in: 0x61...0x7a, using: &random)
        }
    }

    @Test("A run ends at the first quote, backslash or control character, wherever it is")
    func runs() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<20_000 {
            let bytes = Self.bytes(&random)
            let start = Int.random(in: 0...bytes.count, using: &random)
            let run = PlainRun(in: bytes.span, from: start)
            let end = bytes[start...].firstIndex { !Self.isPlain($0) } ?? bytes.count
            #expect(run.end == end)
            #expect(run.isASCII == bytes[start..<end].allSatisfy { $0 < 0x80 })
        }
    }

    @Test("Each byte value ends a run or not, at each of eight places", arguments: 0...255 as ClosedRange<UInt8>)
    func everyByte(byte: UInt8) {
        for place in 0..<17 {
            var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 17)
            bytes[place] = byte
            let run = PlainRun(in: bytes.span, from: 0)
            let (isPlain, end) = (bytes.span.isPlainASCII, bytes.span.endOfPrintableASCII(from: 0))
            #expect(run.end == (Self.isPlain(byte) ? 17 : place))
            #expect(isPlain == (Self.isPlain(byte) && byte < 0x7f || byte == UInt8(ascii: "\"")))
            #expect(end == ((0x20..<0x7f).contains(byte) ? 17 : place))
        }
    }

    @Test("Text is plain if every byte is printable ASCII and no backslash")
    func plain() {
        var random = SeededRandom(seed: 2)
        for _ in 0..<20_000 {
            let bytes = Self.bytes(&random)
            let expected = bytes.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }
            let isPlain = bytes.span.isPlainASCII
            #expect(isPlain == expected)
        }
    }
}
