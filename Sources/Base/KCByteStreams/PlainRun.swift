/// Consecutive bytes that need no escape in a JSON string: no quote, backslash or control character.
///
/// Eight bytes are examined at a time, since all text of a keychain passes through here.
package struct PlainRun {
    /// The position of the first other byte, or the end.
    package let end: Int
    /// True if all bytes of the run are ASCII.
    package let isASCII: Bool

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Examines the bytes from `start` on.
    package init(in bytes: borrowing Span<UInt8>, from start: Int) {
        var position = start
        var seen: UInt64 = 0
        while position + 8 <= bytes.count {
            let word = bytes.word(at: position)
            let special = Self.special(word)
            if special != 0 {
                let length = special.trailingZeroBitCount / 8
                seen |= word & ((1 << UInt64(8 * length)) - 1)
                end = position + length
                isASCII = seen & Self.highBits == 0
                return
            }
            seen |= word
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            seen |= UInt64(byte)
            position += 1
        }
        end = position
        isASCII = seen & Self.highBits == 0
    }

    /// The high bit of the lowest byte that ends a run is the lowest bit that is set; 0 if none does.
    ///
    /// A borrow from a lower byte can set a higher bit too, but never a lower one.
    private static func special(_ word: UInt64) -> UInt64 {
        let quote = word ^ (UInt64(UInt8(ascii: "\"")) &* ones)
        let backslash = word ^ (UInt64(UInt8(ascii: "\\")) &* ones)
        let isQuote = (quote &- ones) & ~quote
        let isBackslash = (backslash &- ones) & ~backslash
        let isControl = (word &- 0x20 &* ones) & ~word
        return (isQuote | isBackslash | isControl) & highBits
    }
}
