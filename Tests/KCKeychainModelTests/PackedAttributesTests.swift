import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@Suite struct PackedAttributesTests {
    @Test(
        "Attributes that are set, replaced and removed in any order are those of a dictionary",
        arguments: 0..<10 as Range<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var values = RandomItems(seed: seed)
        var model: [AttributeCode: AttributeValue] = [:]
        var attributes = Attributes()
        for _ in 0..<200 {
            let code = AttributeCode.allCases.randomElement(using: &random) ?? .acct
            let kinds: [AttributeCode.Kind] = [.string, .data, .number, .date, .textOrData]
            let value = Bool.random(using: &random) ? values.value(kinds.randomElement(using: &random) ?? .date) : nil
            model[code] = value
            attributes[code] = value
            #expect(attributes[code] == value)
        }
        #expect(attributes.entries.map(\.code) == model.keys.sorted())
        #expect(attributes.codes.count == model.count)
        for code in AttributeCode.allCases {
            #expect(attributes[code] == model[code])
            #expect(attributes.codes.contains(code) == (model[code] != nil))
        }
    }

    @Test(
        "Those that are taken from others are as there, and all others as they were", arguments: 0..<10 as Range<UInt64>
    )
    func replaced(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var values = RandomItems(seed: seed)
        var (one, other) = (Attributes(), Attributes())
        for _ in 0..<20 {
            one[AttributeCode.allCases.randomElement(using: &random) ?? .acct] = values.value(.string)
            other[AttributeCode.allCases.randomElement(using: &random) ?? .acct] = values.value(.data)
        }
        let taken = Set(AttributeCode.allCases.filter { _ in Bool.random(using: &random) })
        let result = one.replaced(by: other) { taken.contains($0) }
        for code in AttributeCode.allCases { #expect(result[code] == (taken.contains(code) ? other : one)[code]) }
        #expect(result.codes.count == result.entries.count)
    }

    @Test("Attributes are equal if, and only if, codes, kinds and bytes are, however they were made")
    func equality() {
        var one = Attributes()
        one[.acct] = .text("ann")
        one[.labl] = .text("x")
        var other = Attributes()
        other[.labl] = .text("y")
        other[.labl] = .text("x")
        other[.svce] = .text("mail")
        other[.acct] = .text("ann")
        #expect(one != other)
        other[.svce] = nil
        #expect(one == other && one.hashValue == other.hashValue)
        other[.acct] = .data(Array("ann".utf8))
        #expect(one != other)
        var date = Attributes()
        date[.labl] = .date(.reference)
        var text = Attributes()
        text[.labl] = .text(Timestamp.reference.description)
        #expect(date != text)
        one[.acct] = nil
        one[.labl] = nil
        #expect(one == Attributes())
    }

    @Test("A builder keeps nothing of the attributes before, and refuses text that is not UTF-8")
    func builder() {
        var builder = AttributesBuilder()
        builder.append(.acct, .text("first"))
        _ = builder.finish()
        let (bad, good) = ([0xff] as [UInt8], Array("a\"b".utf8))
        let isTaken = [builder.append(.acct, text: bad.span), builder.append(.acct, text: good.span)]
        #expect(isTaken == [false, true])
        builder.append(.sync, 1)
        let attributes = builder.finish()
        #expect(attributes[.acct] == .text("a\"b") && attributes[.sync] == .number(1) && attributes.codes.count == 2)
    }

    @Test("Every code is found by its four letters, and nothing else is")
    func codes() {
        for code in AttributeCode.allCases {
            #expect(AttributeCode(code: code.code) == code)
            #expect(AttributeCode(code: code.code.uppercased()) == nil)
        }
        for text in ["", "acc", "accts", "\0\0\0\0", "zzzz", "àct"] { #expect(AttributeCode(code: text) == nil) }
    }

    @Test("An item without an attribute that it needs, or with a foreign one, is refused by its name")
    func checks() throws {
        for code in [AttributeCode.agrp, .cdat, .mdat, .pdmn, .sync] {
            #expect(throws: ItemProblem.missing(code)) { try sample(without: code) }
        }
        #expect(throws: ItemProblem.notInClass(.srvr, .genericPassword)) { try sample(more: .srvr, .text("x")) }
        #expect(throws: ItemProblem.wrongKind(.labl)) { try sample(more: .labl, .number(1)) }
        #expect(throws: ItemProblem.wrongKind(.sync)) { try sample(more: .sync, .number(10)) }
        #expect(throws: ItemProblem.wrongKind(.cdat)) {
            try sample(more: .cdat, .text(Timestamp.reference.description))
        }
        let limit = ItemLimits.attributeSize
        // Escapes and base64 do not count.
        _ = try sample(more: .labl, .text(String(repeating: "\"", count: limit)))
        _ = try sample(more: .gena, .data([UInt8](repeating: 7, count: limit)))
        #expect(throws: ItemProblem.attributeTooLarge(.labl)) {
            try sample(more: .labl, .text(String(repeating: "\"", count: limit + 1)))
        }
    }

    @Test("Items are counted by group, however many groups there are and however their names are spelled")
    func groups() throws {
        var counts = AccessGroupCounts()
        var expected: [ExactText: Int] = [:]
        for number in 0..<1_000 {
            let group = number % 3 == 0 ? "group \(number % 200)" : number % 3 == 1 ? "\"quoted\"" : "e\u{301}"
            counts.add(try sample(more: .agrp, .text(group)))
            expected[group.exact, default: 0] += 1
        }
        #expect(counts.byGroup == expected)
    }

    private func sample(more code: AttributeCode, _ value: AttributeValue) throws -> Item {
        try KCKeychainModelTests.sample(.genericPassword, [code: value])
    }

    private func sample(without code: AttributeCode) throws -> Item {
        try KCKeychainModelTests.sample(without: code)
    }
}
