/// The words by which people name attributes, beside Apple's codes (docs/attributes.md).
extension AttributeCode {
    /// The attribute in words, in lower case: Apple's name of it, or a shorter one.
    package var word: String { Self.shorter[self] ?? name.lowercased() }

    /// The attribute with this code, word, or suffix of Apple's constant `kSecAttr…`, in any case.
    package init?(named text: String) {
        let text = text.lowercased()
        let found = Self.allCases.first { $0.code == text || $0.word == text || $0.name.lowercased() == text }
        guard let found else { return nil }
        self = found
    }

    /// The attribute that was probably meant by a misspelled code or word; nil if none is similar.
    package static func nearest(to text: String) -> AttributeCode? {
        // Longer than any name with its mistakes.
        guard text.utf8.count <= 40 else { return nil }
        let typed = Array(text.lowercased().utf8)
        let allowed = max(1, min(2, typed.count / 3))
        let distances = allCases.map { attribute in
            let names = [attribute.code, attribute.word]
            return (attribute, names.map { mistakes(in: typed, for: Array($0.utf8)) }.min() ?? .max)
        }
        return distances.filter { $0.1 <= allowed }.min { $0.1 < $1.1 }?.0
    }

    /// True if the number may be given as four characters, as Apple's constants for it are: `htps`.
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
        .agrp: "group", .atyp: "authentication", .cdat: "created", .mdat: "modified", .pdmn: "accessibility",
        .sdmn: "domain",
    ]
}

/// How many letters were left out, added, replaced or swapped with the next one (optimal string alignment).
private func mistakes(in typed: [UInt8], for word: [UInt8]) -> Int {
    var rows = [Array(0...word.count)]
    for row in 0..<typed.count {
        var next = [row + 1]
        for column in 0..<word.count {
            let replaced = rows[row][column] + (typed[row] == word[column] ? 0 : 1)
            var least = min(replaced, rows[row][column + 1] + 1, next[column] + 1)
            if row > 0, column > 0, typed[row] == word[column - 1], typed[row - 1] == word[column] {
                least = min(least, rows[row - 1][column - 1] + 1)
            }
            next.append(least)
        }
        rows.append(next)
    }
    return rows[typed.count][word.count]
}
