internal import KCByteStreams

/// Text with the escapes that JSON has within strings.
enum EscapedText {
    private static let backslash = UInt8(ascii: "\\")

    /// The text without one level of escapes; nil if it has none.
    static func unescaped(_ text: borrowing Span<UInt8>) -> SecretBytes? {
        guard text.firstIndex(of: backslash) != nil else { return nil }
        var plain = SecretBytes(capacity: text.count)
        var index = 0
        while index < text.count {
            guard text[index] == backslash, index + 1 < text.count else {
                plain.append(text[index])
                index += 1
                continue
            }
            if let (scalar, length) = decoded(at: index, in: text) {
                for byte in scalar.utf8 { plain.append(byte) }
                index += length
            } else {
                plain.append(character(text[index + 1]))
                index += 2
            }
        }
        return plain
    }

    /// What a letter behind a backslash means; any other character means itself.
    private static func character(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// The character of `\uXXXX` or of a pair of them, and their length; nil if there is none.
    private static func decoded(
        at index: Int, in text: borrowing Span<UInt8>
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard let first = unit(at: index, in: text) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard first < 0xdc00, let second = unit(at: index + 6, in: text), (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { return nil }
        return (scalar, 12)
    }

    private static func unit(at index: Int, in text: borrowing Span<UInt8>) -> UInt32? {
        guard index + 6 <= text.count, text[index] == backslash, text[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt32 = 0
        for place in index + 2..<index + 6 {
            guard let digit = Character(UnicodeScalar(text[place])).hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
