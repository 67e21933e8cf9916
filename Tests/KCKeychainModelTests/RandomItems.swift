import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

/// Random valid items, with text that is hard to encode.
struct RandomItems {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    private static let pieces = [
        "a", "Z", " ", "\"", "\\", "\n", "\t", "\0", "\u{1f}", "\u{7f}", "é", "e\u{301}", "ß", "漢", "😀", "\u{202e}",
        "\u{10ffff}", "\\u0041", "{\"base64\":", "/",
    ]

    mutating func text() -> String {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    mutating func moment() -> Timestamp {
        Timestamp(microseconds: .random(in: Timestamp.earliest...Timestamp.latest, using: &random)) ?? .reference
    }

    mutating func value(_ kind: AttributeCode.Kind) -> AttributeValue {
        switch kind {
        case .string: .text(text())
        case .textOrData, .dataOrText:
            Bool.random(using: &random) ? .text(text()) : .data(random.bytes(.random(in: 0...20, using: &random)))
        case .data: .data(random.bytes(.random(in: 0...20, using: &random)))
        case .number: .number(.random(in: .min ... .max, using: &random))
        case .date: .date(moment())
        }
    }

    mutating func next() throws -> Item {
        let itemClass = ItemClass.allCases.randomElement(using: &random) ?? .key
        var attributes = Attributes()
        for code in AttributeCode.allCases where code.belongs(to: itemClass) && Bool.random(using: &random) {
            attributes[code] = value(code.kind)
        }
        let accessibility = Accessibility.allCases.randomElement(using: &random) ?? .always
        attributes[.pdmn] = .text(accessibility.rawValue)
        if attributes[.accc] != nil {
            attributes[.accc] = (AccessConstraint.allCases.randomElement(using: &random)?.rawValue).map { .text($0) }
        }
        attributes[.agrp] = .text(text())
        attributes[.cdat] = .date(moment())
        attributes[.mdat] = .date(moment())
        attributes[.sync] = .number(Bool.random(using: &random) ? 1 : 0)
        var names: [[UInt8]: ExtraAttribute] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let extra = ExtraAttribute(name: text(), value: text())
            names[Array(extra.name.utf8)] = extra
        }
        let extra = names.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        let uuid = ItemUUID(
            high: .random(in: .min ... .max, using: &random), low: .random(in: .min ... .max, using: &random))
        let size = [nil, 0, 1, ItemLimits.secretSize].randomElement(using: &random) ?? nil
        return try Item(itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: size)
    }
}

/// The line of an item as bytes.
func line(_ item: Item) -> [UInt8] {
    var line = SecretBytes(capacity: 256)
    ItemLine.encode(item, into: &line)
    return line.bytesForTest()
}

/// A small valid item for tests to vary.
func sample(
    _ itemClass: ItemClass = .genericPassword, _ more: [AttributeCode: AttributeValue] = [:],
    without missing: AttributeCode? = nil, extra: [ExtraAttribute] = [], secretSize: Int? = 5
) throws -> Item {
    let moment = try #require(Timestamp("2026-03-01T09:30:00.000000Z"))
    var attributes = Attributes()
    attributes[.agrp] = .text("group")
    attributes[.cdat] = .date(moment)
    attributes[.mdat] = .date(moment)
    attributes[.pdmn] = .text("ak")
    attributes[.sync] = .number(0)
    for (code, value) in more { attributes[code] = value }
    if let missing { attributes[missing] = nil }
    let uuid = try #require(ItemUUID("00112233-4455-6677-8899-aabbccddeeff"))
    return try Item(
        itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: secretSize)
}
