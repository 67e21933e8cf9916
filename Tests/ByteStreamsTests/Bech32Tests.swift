import ByteStreams
import TestSupport
import Testing

@Suite struct Bech32Tests {
    // The example identity and recipient of the age specification.
    static let identity = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    static let prefix = "AGE-SECRET-KEY-"
    static let secret = [UInt8](repeating: 0x42, count: 32)

    private func decode(_ text: [UInt8], _ prefix: String = prefix) throws(Bech32Failure) -> [UInt8] {
        var bytes = SecretBytes(copying: [99])
        do throws(Bech32Failure) {
            try Bech32.decode(text.span, prefix: prefix, into: &bytes)
        } catch {
            let left = bytes.bytesForTest()
            #expect(left == [99])
            throw error
        }
        return Array(bytes.bytesForTest().dropFirst())
    }

    private func encode(_ bytes: [UInt8], _ prefix: String) -> [UInt8] {
        var text = SecretBytes(capacity: 100)
        Bech32.encode(bytes.span, prefix: prefix, into: &text)
        return text.bytesForTest()
    }

    @Test("the example of the age specification reads and writes")
    func published() throws {
        #expect(try decode(Array(Self.identity.utf8)) == Self.secret)
        #expect(encode(Self.secret, Self.prefix) == Array(Self.identity.utf8))
    }

    @Test("any number of bytes survives, in both cases", arguments: 0...40)
    func roundTrip(_ count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = random.bytes(count)
        for prefix in ["age", "AGE-SECRET-KEY-", "KCBACKUP-DEVICE-KEY-"] {
            #expect(try decode(encode(bytes, prefix), prefix) == bytes)
        }
    }

    @Test("every wrong character is refused, nothing is put out")
    func wrongCharacters() {
        let text = Array(Self.identity.utf8)
        for index in text.indices {
            for character in "QPZ1bq! \n\u{0}".utf8 where character != text[index] {
                var wrong = text
                wrong[index] = character
                #expect(throws: Bech32Failure.self) { try decode(wrong) }
            }
        }
    }

    @Test("shortened, lengthened and swapped texts are refused")
    func wrongLengths() {
        let text = Array(Self.identity.utf8)
        for count in 0..<text.count {
            #expect(throws: Bech32Failure.self) { try decode(Array(text.prefix(count))) }
        }
        #expect(throws: Bech32Failure.self) { try decode(text + [UInt8(ascii: "Q")]) }
        #expect(throws: Bech32Failure.self) { try decode(text + [UInt8(ascii: "\n")]) }
    }

    @Test("the case is the prefix's, throughout")
    func letterCase() {
        let lower = Array(Self.identity.lowercased().utf8)
        #expect(throws: Bech32Failure.prefix) { try decode(lower) }
        let mixed = Array((Self.prefix + "1" + Self.identity.dropFirst(16).lowercased()).utf8)
        #expect(throws: Bech32Failure.malformed) { try decode(mixed) }
    }

    @Test("a mistyped character is told from another prefix")
    func kinds() throws {
        let typo = Self.identity.replacing("GFPQ4", with: "GFPP4")
        #expect(throws: Bech32Failure.checksum) { try decode(Array(typo.utf8)) }
        #expect(throws: Bech32Failure.prefix) { try decode(Array(Self.identity.utf8), "age") }
    }
}
