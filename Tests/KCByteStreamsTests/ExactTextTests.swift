import KCByteStreams
import KCTestSupport
import Testing

@Suite("Text as its bytes")
struct ExactTextTests {
    @Test("Canonically equivalent names are different keys, in an order of their own")
    func keys() {
        let names = [
            "K", "\u{212a}", "각", "\u{1100}\u{1161}\u{11a8}", "é", "e\u{301}", "`", "\u{1fef}", ";", "\u{37e}",
        ]
        let exact = names.map(\.exact)
        #expect(Set(exact).count == names.count)
        #expect(Dictionary(uniqueKeysWithValues: exact.map { ($0, $0.string) }).count == names.count)
        #expect(exact.sorted() == exact.shuffled().sorted())
        #expect(exact.map(\.string.utf8.count) == names.map(\.utf8.count))
    }

    @Test("Each function agrees with the same one on arrays of bytes")
    func bytes() {
        let texts = HostileText.texts(200, withControls: true)
        for (text, part) in zip(texts, texts.reversed() + texts) {
            let exact = text.exact
            let bytes = Array(text.utf8)
            let piece = Array(part.utf8)
            #expect(exact.hasPrefix(part) == bytes.starts(with: piece))
            #expect(exact.hasSuffix(part) == bytes.reversed().starts(with: piece.reversed()))
            #expect(exact.contains(part) == bytes.indices.contains { bytes[$0...].starts(with: piece) })
            #expect((exact == part.exact) == (bytes == piece))
            #expect((exact < part.exact) == bytes.lexicographicallyPrecedes(piece))
            #expect((text + part).exact.removingPrefix(text).map { Array($0.utf8) } == piece)
            #expect((part + text).exact.removingSuffix(text).map { Array($0.utf8) } == piece)
            for separator in ["/", " ", "\n", ":", ","] as [Unicode.Scalar] {
                let parts = exact.split(separator: separator, omittingEmptySubsequences: false)
                #expect(
                    parts.map { Array($0.utf8) }
                        == bytes.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
                        .map(Array.init))
                #expect(parts.joined(separator: String(separator)).exact == exact)
            }
            let replaced = exact.replacing(part, with: "<>")
            #expect(replaced.exact.replacing("<>", with: part).exact == exact || text.exact.contains("<>"))
        }
        #expect("a\r\nb".exact.split(separator: "\n") == ["a\r", "b"])
        #expect("'\u{301}".exact.replacing("'", with: "x") == "x\u{301}")
        #expect(!"\u{212a}".exact.isASCIILettersAndDigits() && "aZ09-".exact.isASCIILettersAndDigits(or: "-"))
        #expect(!"e\u{301}".exact.isASCIILettersAndDigits())
    }
}
