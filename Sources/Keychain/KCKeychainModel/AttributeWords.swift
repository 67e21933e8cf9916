/// The words that users write for attributes, in addition to Apple's codes (docs/attributes.md).
extension AttributeCode {
    /// The word for the attribute, in lower case: Apple's name for it, or a shorter one.
    package var word: String { Self.shorter[self] ?? name.lowercased() }

    /// The attribute with this code, word or suffix of Apple's constant `kSecAttr…`, regardless of case.
    package init?(named text: String) {
        let text = text.lowercased()
        let found = Self.allCases.first { $0.code == text || $0.word == text || $0.name.lowercased() == text }
        guard let found else { return nil }
        self = found
    }

    /// The attribute that a misspelled code or word probably means; nil if none is similar.
    package static func nearest(to text: String) -> AttributeCode? {
        let names = allCases.flatMap { [$0.code, $0.word] }
        return similarWord(to: text, among: names).flatMap(AttributeCode.init(named:))
    }

    /// True if the number may be written as four characters, like Apple's constants for it: `htps`.
    package var isFourCharacters: Bool {
        switch self {
        case .crtr, .ptcl, .type: true
        default: false
        }
    }

    /// The number whose four bytes, big-endian, are these ASCII characters; nil for any other text.
    package static func number(ofFourCharacters text: String) -> Int64? {
        guard text.utf8.count == 4, text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return nil }
        return text.utf8.reduce(0) { $0 << 8 | Int64($1) }
    }

    private static let shorter: [AttributeCode: String] = [
        .accc: "access", .agrp: "group", .atyp: "authentication", .cdat: "created", .mdat: "modified",
        .pdmn: "accessibility",
        .sdmn: "domain",
    ]
}
