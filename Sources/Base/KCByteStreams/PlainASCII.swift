extension Span<UInt8> {
    /// Eight bytes as a number, the first one lowest.
    package func word(at position: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// True if all bytes are printable ASCII and none is a backslash: such text is displayed as it is, in as many
    /// columns as it has bytes.
    package var isPlainASCII: Bool {
        var position = 0
        while position + 8 <= count {
            if Self.hasOther(word(at: position)) { return false }
            position += 8
        }
        while position < count {
            let byte = self[position]
            if byte < 0x20 || byte >= 0x7f || byte == UInt8(ascii: "\\") { return false }
            position += 1
        }
        return true
    }

    /// The position of the first byte at or after `start` that is not printable ASCII, or the end.
    package func endOfPrintableASCII(from start: Int) -> Int {
        var position = start
        while position < count, (0x20..<0x7f).contains(self[position]) { position += 1 }
        return position
    }

    /// True if one of eight bytes is not plain.
    private static func hasOther(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let backslash = word ^ (UInt64(UInt8(ascii: "\\")) &* ones)
        // Each term has a high bit set if, and only if, there is a byte of its kind: a backslash, one below 0x20, one
        // above 0x7e.
        let found = (backslash &- ones) & ~backslash | (word &- 0x20 &* ones) & ~word | word | (word &+ ones)
        return found & (0x80 &* ones) != 0
    }
}
