/// Makes foreign text safe to show: the one way from an item, an archive or a path to a terminal.
///
/// Control characters, line and paragraph separators, bidirectional controls and everything that shows nothing become
/// `\u{…}`; a backslash that could be taken for such an escape is doubled. Longer texts are cut.
///
/// - Parameter limit: the largest number of characters shown, at least 1; a cut ends in `…`.
package func displayed(_ text: String, limit: Int = 1_000) -> String {
    // Most texts are harmless as they are, which takes far less time to see than to rebuild them.
    if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }) {
        return text
    }
    let scalars = text.unicodeScalars
    var shown = ""
    for (count, index) in text.indices.enumerated() {
        if count == limit {
            shown += "…"
            break
        }
        if subdivisionFlags.contains(text[index]) {
            shown.append(text[index])
            continue
        }
        let end = text.index(after: index)
        var place = index
        for _ in 0..<scalarLimit where place < end {
            let scalar = scalars[place]
            if scalar == "\\" {
                shown += "\\\\"
            } else if isHarmless(scalar) || InvisibleContext(scalars, place).allows(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
            place = scalars.index(after: place)
        }
        if place < end { shown += "…" }
    }
    return shown
}

/// Combining marks beyond this number on one character serve only to deface a line.
private let scalarLimit = 16

/// The flags of England, Scotland and Wales: the only characters in general use that are spelled with tags.
private let subdivisionFlags: Set<Character> = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
]

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    case .spaceSeparator: scalar == " " || scalar == "\u{3000}"
    // The Braille blank prints nothing, though Unicode does not call it ignorable.
    default: !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
    }
}

/// What stands around a character that shows nothing by itself: the few places where one changes what is shown.
private struct InvisibleContext {
    private let scalars: String.UnicodeScalarView
    private let place: String.Index

    init(_ scalars: String.UnicodeScalarView, _ place: String.Index) {
        self.scalars = scalars
        self.place = place
    }

    func allows(_ scalar: Unicode.Scalar) -> Bool {
        guard let previous = before(place) else { return false }
        switch scalar.value {
        // Zero-width joiner: between emoji, and behind a virama, as RFC 5892 (appendix A.2) has it.
        case 0x200d: return isViramaBefore || (joinsEmoji(previous) && next.map(Self.isEmoji) == true)
        // Zero-width non-joiner: behind a virama, or between letters that would join (appendix A.1).
        case 0x200c: return isViramaBefore || (Self.joins(letterBefore) && Self.joins(letterAfter))
        // Selects the picture of a character that is text by default, and with U+20E3 makes keycaps.
        case 0xfe0f:
            return Self.isEmoji(previous)
                ? !previous.properties.isEmojiPresentation : previous.properties.isEmoji && next == "\u{20e3}"
        // Selects the text of a character that may be a picture.
        case 0xfe0e: return Self.isEmoji(previous)
        // Mongolian: forms of the letter before it, and the separator of a vowel.
        case 0x180b...0x180f: return (0x1820...0x18aa).contains(previous.value)
        default: return false
        }
    }

    private var next: Unicode.Scalar? {
        let following = scalars.index(after: place)
        return following < scalars.endIndex ? scalars[following] : nil
    }

    private func before(_ place: String.Index) -> Unicode.Scalar? {
        place > scalars.startIndex ? scalars[scalars.index(before: place)] : nil
    }

    private var isViramaBefore: Bool { before(place)?.properties.canonicalCombiningClass == .virama }

    /// True for an emoji, or the selector that makes one of the character before it.
    private func joinsEmoji(_ previous: Unicode.Scalar) -> Bool {
        guard previous == "\u{fe0f}" else { return Self.isEmoji(previous) }
        return before(scalars.index(before: place)).map(Self.isEmoji) == true
    }

    /// Digits and signs of Latin-1 are emoji for Unicode too, as parts of keycaps and of ©️.
    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji && scalar.value > 0xff
    }

    private var letterBefore: Unicode.Scalar? {
        scalars[..<place].suffix(scalarLimit).last { !Self.isMark($0) }
    }

    private var letterAfter: Unicode.Scalar? {
        scalars[scalars.index(after: place)...].prefix(scalarLimit).first { !Self.isMark($0) }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .nonspacingMark
    }

    /// Letters of the scripts whose letters join: Arabic, Syriac, N'Ko, Mandaic, Mongolian, Adlam.
    private static func joins(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, scalar.properties.isAlphabetic else { return false }
        return joiningBlocks.contains { $0.contains(scalar.value) }
    }

    private static let joiningBlocks: [ClosedRange<UInt32>] = [
        0x0620...0x074f, 0x0750...0x077f, 0x07c0...0x07ff, 0x0840...0x08ff, 0x1820...0x18aa, 0x1e900...0x1e95f,
    ]
}
