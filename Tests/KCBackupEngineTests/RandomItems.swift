import KCKeychainModel
import KCTestSupport

/// Random items of every class, with every attribute, kind of value and edge case.
struct RandomItems {
    private var random: SeededRandom
    private let hasConstraints: Bool

    /// - Parameter hasConstraints: true for items of which some need a keychain with a passcode.
    init(seed: UInt64, hasConstraints: Bool = false) {
        random = SeededRandom(seed: seed)
        self.hasConstraints = hasConstraints
    }

    /// Attributes that are set separately, so that archives contain the item.
    private static let special: Set<AttributeCode> = [.accc, .pdmn, .sync, .cdat, .mdat, .agrp]

    mutating func draft() -> ItemDraft {
        let itemClass = pick(ItemClass.allCases)
        let accessibility = pick(Accessibility.allCases.filter { Travel($0) != .nowhere })
        var attributes = Attributes()
        for code in AttributeCode.allCases where code.belongs(to: itemClass) && !Self.special.contains(code) {
            if pick([true, false, false]) { attributes[code] = value(code.kind) }
        }
        attributes[.pdmn] = .text(accessibility.rawValue)
        attributes[.sync] = .number(pick([0, 1]))
        attributes[.agrp] = .text(text())
        if hasConstraints, AttributeCode.accc.belongs(to: itemClass), pick([true, false, false]) {
            attributes[.accc] = .text(pick(AccessConstraint.allCases).rawValue)
        }
        attributes[.cdat] = .date(date())
        attributes[.mdat] = .date(date())
        var extra: [String: String] = [:]
        for _ in 0..<pick([0, 0, 0, 1, 5]) { extra[text()] = text() }
        return ItemDraft(
            itemClass: itemClass, attributes: attributes,
            extra: extra.map { ExtraAttribute(name: $0.key, value: $0.value) })
    }

    /// Nil, or a secret of no bytes, one byte, some bytes, or more than a chunk.
    mutating func secret() -> [UInt8]? {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10: nil
        case 10..<20: []
        case 20..<30: random.bytes(1)
        case 99: random.bytes(1_000)
        default: random.bytes(Int.random(in: 2..<40, using: &random))
        }
    }

    private mutating func value(_ kind: AttributeCode.Kind) -> AttributeValue {
        switch kind {
        case .string: .text(text())
        case .textOrData, .dataOrText: pick([true, false]) ? .text(text()) : .data(data())
        case .data: .data(data())
        case .number: .number(pick([0, 1, -1, .min, .max, Int64.random(in: .min ... .max, using: &random)]))
        case .date: .date(date())
        }
    }

    private mutating func data() -> [UInt8] {
        let count = pick([0, 1, 2, 3, 30])
        return random.bytes(count)
    }

    private mutating func date() -> Timestamp {
        let random = Int64.random(in: Timestamp.earliest...Timestamp.latest, using: &random)
        let moments = [Timestamp.earliest, Timestamp.latest, -1, 0, 1, 951_782_399_999_999, random, random, random]
        return Timestamp(microseconds: pick(moments)) ?? .reference
    }

    /// Composed and decomposed letters, controls, NUL, quotes, bidi marks, other planes, the last code point.
    private static let pieces = [
        "a", "Z", "é", "e\u{301}", "ß", "\0", "\u{1}", "\u{1f}", "\u{7f}", "\u{85}", "\"", "\\", "/", "\n", "\t",
        "\u{202e}", "\u{200d}", "\u{feff}", "日本", "👩‍👩‍👧", "\u{10ffff}", "\u{fffd}", "\u{e000}", " ",
    ]

    private mutating func text() -> String {
        var text = ""
        for _ in 0..<pick([0, 1, 1, 2, 3, 8]) {
            if pick([true, false]) {
                text += pick(Self.pieces)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
