/// Makes foreign text safe to show: the one way from an item, an archive or a path to a terminal.
///
/// Control characters, line and paragraph separators, bidirectional controls, zero-width and other invisible
/// characters become `\u{…}`; a backslash that could be taken for such an escape is doubled. Longer texts are cut.
///
/// - Parameter limit: the largest number of characters shown, at least 1; a cut ends in `…`.
public func displayed(_ text: String, limit: Int = 1_000) -> String {
    // Most texts are harmless as they are, which takes far less time to see than to rebuild them.
    if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }) {
        return text
    }
    var shown = ""
    for (index, character) in text.enumerated() {
        if index == limit {
            shown += "…"
            break
        }
        for (position, scalar) in character.unicodeScalars.enumerated() {
            if position >= scalarLimit {
                shown += "…"
                break
            }
            if scalar == "\\" {
                shown += "\\\\"
            } else if isHarmless(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
    }
    return shown
}

/// Combining marks beyond this number on one character serve only to deface a line.
private let scalarLimit = 16

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    // Zero-width joiners belong inside emoji and several scripts; every other format character can mislead.
    case .format: scalar == "\u{200d}" || scalar == "\u{200c}"
    case .spaceSeparator: scalar == " " || scalar == "\u{3000}"
    default: !invisible.contains(scalar.value)
    }
}

/// Letters and marks that print nothing: Hangul fillers, the Braille blank, Khmer inherent vowels.
private let invisible: Set<UInt32> = [0x115f, 0x1160, 0x2800, 0x3164, 0xffa0, 0x17b4, 0x17b5, 0x034f]
