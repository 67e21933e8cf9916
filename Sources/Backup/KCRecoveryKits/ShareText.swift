internal import KCByteStreams
internal import KCSecretShares

/// The words of a share as its sheet prints them.
///
/// ```
///    1 petition     12 acid         23 wildlife
/// ```
enum ShareText {
    private static let columns = 3
    private static let gap = 4

    /// The words with their numbers, in columns from top to bottom, each line with a line feed.
    static func lines(of share: SecretShare) -> SecretBytes {
        let words = share.words
        let rows = (words.count + columns - 1) / columns
        var text = SecretBytes(capacity: 2_048)
        for row in 0..<rows {
            for column in 0..<columns where column * rows + row < words.count {
                let index = column * rows + row
                text.append(utf8: index < 9 ? "   " : "  ")
                text.append(decimal: index + 1)
                text.append(utf8: " ")
                let before = text.count
                ShareWords.append(words[index], to: &text)
                if column == columns - 1 { continue }
                for _ in text.count - before..<ShareWords.longest + gap { text.append(UInt8(ascii: " ")) }
            }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// The words in a line in capital letters, of which a code takes less space.
    static func words(of share: SecretShare) -> SecretBytes {
        let words = share.words
        var text = SecretBytes(capacity: 512)
        for index in 0..<words.count {
            if index > 0 { text.append(UInt8(ascii: " ")) }
            let start = text.count
            ShareWords.append(words[index], to: &text)
            text.withMutableBytes { bytes in for position in start..<bytes.count { bytes[position] &= ~0x20 } }
        }
        return text
    }
}
