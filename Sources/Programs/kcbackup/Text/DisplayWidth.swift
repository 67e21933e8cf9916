/// How many columns a text takes on a terminal.
///
/// A character counts 2 if it is East Asian wide or full-width, or displayed as an emoji (Unicode TR 11 and TR 51), 0
/// if it is only a mark on the previous one, and 1 otherwise.
func displayWidth(_ text: String) -> Int {
    // Fast path for most texts.
    if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + displayWidth($1) }
}

/// How many columns one character takes.
func displayWidth(_ character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
        // U+FE0F selects the emoji form of the previous character.
        if scalar == "\u{fe0f}" { return 2 }
        width = max(width, displayWidth(scalar))
    }
    return width
}

/// The text truncated to at most `limit` columns; a truncated text ends in `…`.
func fitted(_ text: String, to limit: Int) -> String {
    if displayWidth(text) <= limit { return text }
    var shown = ""
    var width = 0
    for character in text {
        let next = displayWidth(character)
        if width + next > limit - 1 { break }
        shown.append(character)
        width += next
    }
    return shown + "…"
}

private func displayWidth(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if scalar.value < 0x1100 { return 1 }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
}

/// The blocks whose characters are East Asian wide or full-width (EastAsianWidth.txt, W and F), emoji left out.
private let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
    0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60,
    0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff, 0x1f200...0x1f2ff, 0x20000...0x2fffd, 0x30000...0x3fffd,
]
