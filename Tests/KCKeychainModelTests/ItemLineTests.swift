import KCKeychainModel
import Testing

@Suite struct ItemLineTests {
    @Test("An item survives a round trip, and re-encoding gives the same line", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var items = RandomItems(seed: seed)
        for _ in 0..<50 {
            let item = try items.next()
            let bytes = line(item)
            let decoded = try ItemLine.decode(bytes.span)
            #expect(decoded == item)
            #expect(line(decoded) == bytes)
            #expect(bytes.count <= ItemLimits.metadataLineSize)
        }
    }

    static let plain = #"""
        {"class":"genp","uuid":"00112233-4455-6677-8899-aabbccddeeff","travels":"any-device","size":5,"attributes":{\#
        "acct":"ann","agrp":"group","cdat":"2026-03-01T09:30:00.000000Z","gena":{"base64":"AQI="},\#
        "labl":"a\"b\\c\u000a","mdat":"2026-03-01T09:30:00.000000Z","pdmn":"ak","sync":0},"extra":{"a":"1","b":""}}
        """#

    @Test("The canonical line is as documented")
    func documented() throws {
        let item = try sample(
            .genericPassword, [.acct: .text("ann"), .gena: .data([1, 2]), .labl: .text("a\"b\\c\n")],
            extra: [ExtraAttribute(name: "a", value: "1"), ExtraAttribute(name: "b", value: "")])
        #expect(String(decoding: line(item), as: UTF8.self) == Self.plain)
    }

    @Test(
        "A noncanonical line for the same item is refused",
        arguments: [
            ("{\"class\"", "{ \"class\""), ("\"genp\"", "\"GENP\""), ("\"genp\"", "\"idnt\""),
            ("aabbccddeeff", "AABBCCDDEEFF"), ("\"any-device\"", "\"this-device\""), ("\"size\":5", "\"size\":05"),
            ("\"size\":5", "\"size\":+5"), ("\"size\":5", "\"size\":5.0"), ("\"size\":5", "\"size\":-5"),
            ("\"size\":5", "\"size\":-0"), ("\"size\":5", "\"size\":99999999999999999999"),
            ("\"size\":5", "\"size\":16777217"), ("\"acct\":\"ann\",", "\"acct\":\"ann\",\"acct\":\"ann\","),
            ("\"acct\":\"ann\",\"agrp\":\"group\"", "\"agrp\":\"group\",\"acct\":\"ann\""),
            ("\"acct\"", "\"zzzz\""), ("\"acct\"", "\"srvr\""), ("\"acct\":\"ann\"", "\"acct\":1"),
            ("\"acct\":\"ann\"", "\"acct\":null"), ("\"group\"", "{\"base64\":\"AQI=\"}"), ("AQI=", "AQI"),
            ("AQI=", "AQJ="), ("09:30:00.000000Z\",\"gena", "09:30:00.000Z\",\"gena"),
            ("T09:30:00.000000Z\",\"gena", "t09:30:00.000000Z\",\"gena"), ("03-01T09", "02-30T09"),
            (#"\u000a"#, #"\n"#), (#"\u000a"#, #"\u000A"#), (#"\u000a"#, "\n"), (#"\u000a"#, #"\u0061"#),
            (#"\\"#, #"\"#), (#"\\"#, #"\/"#), ("\"sync\":0", "\"sync\":2"), (",\"sync\":0", ""),
            ("\"pdmn\":\"ak\"", "\"pdmn\":\"zz\""), (",\"extra\":{\"a\":\"1\",\"b\":\"\"}", ",\"extra\":{}"),
            ("\"a\":\"1\",\"b\":\"\"", "\"b\":\"\",\"a\":\"1\""), ("\"b\":\"\"", "\"a\":\"\""), ("\"\"}}", "\"\"}} "),
            ("\"\"}}", "\"\"}}\n"), ("\"\"}}", "\"\"},\"more\":1}"),
        ])
    func refused(part: String, replacement: String) throws {
        let changed = Self.plain.replacing(part, with: replacement, maxReplacements: 1)
        #expect(changed != Self.plain)
        #expect(throws: MalformedLine.self) { try ItemLine.decode(Array(changed.utf8).span) }
    }

    @Test("A line truncated at any byte is refused")
    func cut() {
        let bytes = Array(Self.plain.utf8)
        for count in 0..<bytes.count {
            #expect(throws: MalformedLine.self) { try ItemLine.decode(Array(bytes[..<count]).span) }
        }
    }

    @Test("A line with one changed byte is refused or is the canonical line of another item")
    func changed() {
        let bytes = Array(Self.plain.utf8)
        for index in bytes.indices {
            for flip: UInt8 in [0x01, 0x02, 0x20, 0x80] {
                var changed = bytes
                changed[index] ^= flip
                if let item = try? ItemLine.decode(changed.span) { #expect(line(item) == changed) }
            }
        }
    }

    @Test("Invalid UTF-8 is refused", arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80]] as [[UInt8]])
    func notUTF8(bad: [UInt8]) {
        let parts = Self.plain.split(separator: "ann").map { Array($0.utf8) }
        #expect(throws: MalformedLine.self) { try ItemLine.decode((parts[0] + bad + parts[1]).span) }
    }

    @Test("Too many free attributes are refused before they are stored")
    func extraLimit() throws {
        let names = (0...ItemLimits.extraCount).map { String(10_000 + $0) }
        let list = names.map { "\"\($0)\":\"\"" }.joined(separator: ",")
        let changed = Self.plain.replacing("\"a\":\"1\",\"b\":\"\"", with: list)
        #expect(throws: MalformedLine.self) { try ItemLine.decode(Array(changed.utf8).span) }
        #expect(throws: ItemProblem.tooManyExtra(ItemLimits.extraCount + 1)) {
            try sample(extra: names.map { ExtraAttribute(name: $0, value: "") })
        }
    }
}

@Suite struct CanonicalNumberTests {
    @Test("Integers are read in their canonical form", arguments: [Int64.min, -1, 0, 1, 9, 10, .max])
    func roundTrip(number: Int64) throws {
        var scanner = CanonicalScanner()
        let bytes = Array(String(number).utf8)
        #expect(try scanner.integer(in: bytes.span) == number)
        try scanner.end(in: bytes.span)
    }

    @Test(
        "A noncanonical or overflowing integer is refused",
        arguments: ["", "-", "+1", "01", "-01", "-0", "00", "9223372036854775808", "-9223372036854775809"])
    func refused(text: String) {
        #expect(throws: MalformedLine.self) {
            var scanner = CanonicalScanner()
            _ = try scanner.integer(in: Array(text.utf8).span)
        }
    }
}
