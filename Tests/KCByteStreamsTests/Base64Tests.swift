import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@Suite struct Base64Tests {
    private func encode(_ bytes: [UInt8], padded: Bool) -> [UInt8] {
        var text = SecretBytes(capacity: 8)
        Base64.encode(bytes.span, padded: padded, into: &text)
        return text.bytesForTest()
    }

    private func decode(_ text: [UInt8], padded: Bool) -> [UInt8]? {
        var bytes = SecretBytes(copying: [7])
        let isValid = Base64.decode(text.span, padded: padded, into: &bytes)
        let all = bytes.bytesForTest()
        if !isValid { #expect(all == [7]) }
        return isValid ? Array(all.dropFirst()) : nil
    }

    @Test("Encoding matches Foundation's and decodes back, with and without padding", arguments: 0...70)
    func agreement(_ count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = random.bytes(count)
        let expected = Data(bytes).base64EncodedString()
        #expect(encode(bytes, padded: true) == Array(expected.utf8))
        #expect(encode(bytes, padded: false) == Array(expected.filter { $0 != "=" }.utf8))
        #expect(Base64.encode(bytes) == expected)
        #expect(decode(Array(expected.utf8), padded: true) == bytes)
        #expect(decode(encode(bytes, padded: false), padded: false) == bytes)
        #expect(Base64.decode(expected) == bytes)
        #expect(Base64.encodedCount(count) == expected.utf8.count)
    }

    @Test("Every short text that decodes is canonical")
    func canonical() {
        let characters = Array("Aw8/=+-\n g".utf8)
        var texts: [[UInt8]] = [[]]
        for _ in 0..<4 {
            texts += texts.filter { $0.count == texts.last?.count }.flatMap { text in characters.map { text + [$0] } }
        }
        for text in texts {
            for padded in [true, false] {
                if let bytes = decode(text, padded: padded) { #expect(encode(bytes, padded: padded) == text) }
            }
        }
    }

    @Test("Other encodings are refused", arguments: ["AA", "AAA", "AB==", "AAB=", "A===", "====", "AA==AA==", "AA= ="])
    func loose(_ text: String) {
        #expect(decode(Array(text.utf8), padded: true) == nil)
    }

    @Test("Noncanonical unpadded text is refused", arguments: ["A", "AB", "AAB", "AA==", "AAAAA", "AA\n", "A-A_"])
    func looseUnpadded(_ text: String) {
        #expect(decode(Array(text.utf8), padded: false) == nil)
    }
}
