import KCByteStreams
import KCTestSupport
import Testing

@Suite("Base32")
struct Base32Tests {
    private func encoded(_ text: String) -> String {
        String(decoding: Base32.encode(Array(text.utf8).span).bytesForTest(), as: UTF8.self)
    }

    private func decoded(_ text: String) -> [UInt8]? { Base32.decode(Array(text.utf8).span)?.bytesForTest() }

    @Test("Encodes and decodes the vectors of RFC 4648, with padding or without, in either case")
    func vectors() {
        let vectors = [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ]
        for (plain, text) in vectors {
            #expect(encoded(plain) == text)
            let padding = String(repeating: "=", count: (8 - text.utf8.count % 8) % 8)
            for form in [text, text + padding, text.lowercased()] {
                #expect(decoded(form) == Array(plain.utf8), "\(form)")
            }
        }
    }

    @Test("Refuses other characters and lengths, and does not look at unused bits")
    func strange() {
        for text in ["0", "M1", "MZ Q", "M=ZQ", "M", "MZX", "MZXW6Y", "MZXW6YTBM"] {
            #expect(decoded(text) == nil, "\(text)")
        }
        #expect(decoded("MZ") == Array("f".utf8))
    }
}
