internal import KCByteStreams

/// Makes foreign text safe to print: all text from an item, an archive or a path must pass through this function.
///
/// Control characters, line and paragraph separators, bidirectional controls and invisible characters become `\u{…}`; a
/// backslash that could be mistaken for such an escape is doubled. Long texts are truncated.
///
/// - Parameter limit: the largest number of characters, at least 1; a truncated text ends in `…`.
package func displayed(_ text: String, limit: Int = 1_000) -> String {
    // Most texts are harmless, and checking that is much faster than rebuilding them.
    if text.utf8.count <= limit, text.utf8.span.isPlainASCII { return text }
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
        var position = index
        for _ in 0..<scalarLimit where position < end {
            let scalar = scalars[position]
            if scalar == "\\" {
                shown += "\\\\"
            } else if isHarmless(scalar) || InvisibleContext(scalars, position).allows(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
            position = scalars.index(after: position)
        }
        if position < end { shown += "…" }
    }
    return shown
}

/// The maximum number of combining marks on one character; more would only deface the line.
private let scalarLimit = 16

/// The flags of England, Scotland and Wales: the only characters in general use that contain tag characters.
private let subdivisionFlags: Set<Character> = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
]

/// True for a character that changes nothing but its own place on a screen; `displayed` escapes most others.
package func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    case .spaceSeparator: scalar == " " || scalar == "\u{3000}"
    // The Braille blank is invisible, although Unicode does not classify it as ignorable.
    default: !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
    }
}

/// The characters around an invisible one, to recognize the few contexts where it legitimately changes the display.
private struct InvisibleContext {
    private let scalars: String.UnicodeScalarView
    private let position: String.Index

    init(_ scalars: String.UnicodeScalarView, _ position: String.Index) {
        self.scalars = scalars
        self.position = position
    }

    func allows(_ scalar: Unicode.Scalar) -> Bool {
        guard let previous = before(position) else { return false }
        switch scalar.value {
        // Zero-width joiner: between emoji, and after a virama (RFC 5892, appendix A.2).
        case 0x200d: return isViramaBefore || (joinsEmoji(previous) && next.map(Self.isEmoji) == true)
        // Zero-width non-joiner: after a virama, or between joining letters (appendix A.1).
        case 0x200c: return isViramaBefore || (Self.joins(letterBefore) && Self.joins(letterAfter))
        // Selects the emoji form of a character that is text by default, and forms keycaps with U+20E3.
        case 0xfe0f:
            return Self.isEmoji(previous)
                ? !previous.properties.isEmojiPresentation : previous.properties.isEmoji && next == "\u{20e3}"
        // Selects the text form of a character that may be an emoji.
        case 0xfe0e: return Self.isEmoji(previous)
        // Mongolian: variants of the previous letter, and the vowel separator.
        case 0x180b...0x180f: return (0x1820...0x18aa).contains(previous.value)
        default: return false
        }
    }

    private var next: Unicode.Scalar? {
        let following = scalars.index(after: position)
        return following < scalars.endIndex ? scalars[following] : nil
    }

    private func before(_ position: String.Index) -> Unicode.Scalar? {
        position > scalars.startIndex ? scalars[scalars.index(before: position)] : nil
    }

    private var isViramaBefore: Bool { before(position)?.properties.canonicalCombiningClass == .virama }

    /// True for an emoji, or the selector that makes the previous character one.
    private func joinsEmoji(_ previous: Unicode.Scalar) -> Bool {
        guard previous == "\u{fe0f}" else { return Self.isEmoji(previous) }
        return before(scalars.index(before: position)).map(Self.isEmoji) == true
    }

    /// True for an emoji, except for digits and Latin-1 signs, which Unicode includes as parts of keycaps and of ©️.
    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji && scalar.value > 0xff
    }

    private var letterBefore: Unicode.Scalar? {
        scalars[..<position].suffix(scalarLimit).last { !Self.isMark($0) }
    }

    private var letterAfter: Unicode.Scalar? {
        scalars[scalars.index(after: position)...].prefix(scalarLimit).first { !Self.isMark($0) }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .nonspacingMark
    }

    /// Letters of the joining scripts: Arabic, Syriac, N'Ko, Mandaic, Mongolian, Adlam.
    private static func joins(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, scalar.properties.isAlphabetic else { return false }
        return joiningBlocks.contains { $0.contains(scalar.value) }
    }

    private static let joiningBlocks: [ClosedRange<UInt32>] = [
        0x0620...0x074f, 0x0750...0x077f, 0x07c0...0x07ff, 0x0840...0x08ff, 0x1820...0x18aa, 0x1e900...0x1e95f,
    ]
}
