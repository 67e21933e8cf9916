import KCByteStreams
import KCTestSupport
import Testing

@Suite("Bech32") struct Bech32Tests {
    private func encode(_ prefix: String, _ bytes: [UInt8], uppercase: Bool) -> String {
        var text = SecretBytes(capacity: 0)
        Bech32.encode(prefix: prefix, bytes.span, uppercase: uppercase, into: &text)
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    /// The bytes that decoding appends to a buffer that already holds one byte, or nil if the text is refused.
    private func decode(_ text: [UInt8], _ prefix: String, uppercase: Bool) -> [UInt8]? {
        var bytes = SecretBytes(copying: [7])
        let accepted = Bech32.decode(text.span, prefix: prefix, uppercase: uppercase, into: &bytes)
        let all = bytes.bytesForTest()
        #expect(all.first == 7)
        if !accepted { #expect(all.count == 1, "nothing is left of a text that was refused") }
        return accepted ? Array(all.dropFirst()) : nil
    }

    struct Vector: Sendable, CustomTestStringConvertible {
        let text: String
        let prefix: String
        let bytes: [UInt8]
        let uppercase: Bool
        var testDescription: String { text }
    }

    static let valid = [
        Vector(text: "A12UEL5L", prefix: "a", bytes: [], uppercase: true),
        Vector(text: "a12uel5l", prefix: "A", bytes: [], uppercase: false),
        Vector(
            text: "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
            prefix: "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio", bytes: [],
            uppercase: false),
        Vector(
            text: "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", prefix: "abcdef",
            bytes: [
                0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf, 0x84, 0x65, 0x3a, 0x56, 0xd7, 0xc6, 0x75,
                0xbe,
                0x77, 0xdf,
            ], uppercase: false),
        Vector(
            text: "11" + String(repeating: "q", count: 82) + "c8247j", prefix: "1",
            bytes: [UInt8](repeating: 0, count: 51), uppercase: false),
        Vector(text: "?1ezyfcl", prefix: "?", bytes: [], uppercase: false),
        Vector(
            text: "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX",
            prefix: "age-secret-key-",
            bytes: [UInt8](repeating: 0x42, count: 32), uppercase: true),
    ]

    @Test("The valid strings of BIP 173 and age's test identity encode and decode", arguments: valid)
    func validVectors(_ vector: Vector) {
        #expect(encode(vector.prefix, vector.bytes, uppercase: vector.uppercase) == vector.text)
        #expect(decode(Array(vector.text.utf8), vector.prefix, uppercase: vector.uppercase) == vector.bytes)
        #expect(decode(Array(vector.text.utf8), vector.prefix, uppercase: !vector.uppercase) == nil)
    }

    @Test(
        "The invalid strings of BIP 173 are refused",
        arguments: [
            ("pzry9x0s0muk", "pzry9x"), ("1pzry9x0s0muk", "1"), ("x1b4n0q5v", "x"), ("li1dgmt3", "li"),
            ("A1G7SGD8", "a"), ("10a06t8", "1"), ("1qzzfhee", "q"), ("a1", "a"), ("a", "a"), ("", "a"),
        ])
    func invalidVectors(text: String, prefix: String) {
        #expect(decode(Array(text.utf8), prefix, uppercase: false) == nil)
        #expect(decode(Array(text.utf8), prefix, uppercase: true) == nil)
    }

    @Test("Data of any length survives a round trip, and a wrong prefix, case or character is refused")
    func roundTripAndDamage() {
        var random = SeededRandom(seed: 173)
        for length in 0...40 {
            let bytes = random.bytes(length)
            let text = Array(encode("key-", bytes, uppercase: true).utf8)
            #expect(decode(text, "key-", uppercase: true) == bytes)
            #expect(decode(text, "kez-", uppercase: true) == nil)
            for index in text.indices {
                for replacement in [text[index] ^ 1, text[index] ^ 0x20, 0, 0xff] {
                    var changed = text
                    changed[index] = replacement
                    if changed != text { #expect(decode(changed, "key-", uppercase: true) == nil) }
                }
            }
            #expect(decode(Array(text.dropLast()), "key-", uppercase: true) == nil)
            #expect(decode(text + [UInt8(ascii: "Q")], "key-", uppercase: true) == nil)
        }
    }

    @Test(
        "Nonzero padding bits or an extra group are refused even with a valid checksum",
        arguments: ["a1qpamnt9j", "a1l7kaf2ff", "a1qqqd87cpp", "a1q3g6mn3"])
    func padding(text: String) {
        #expect(decode(Array(text.utf8), "a", uppercase: false) == nil)
        #expect(decode(Array("a1lu9cgf6y".utf8), "a", uppercase: false) == [0xff], "zero padding is")
    }
}
