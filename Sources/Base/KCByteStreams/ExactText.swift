/// Text as its UTF-8 bytes: for names, paths, IDs, and everything that another program splits, quotes or compares.
///
/// Swift's `String` compares characters. To it `'` followed by a combining accent contains no `'`, CR LF is one
/// character that is neither CR nor LF, and the Kelvin sign equals the letter K; to a shell, a file system or a parser
/// of lines none of this is true. `text.exact` compares, searches, splits and replaces as they do.
package struct ExactText: Hashable, Comparable, Sendable {
    /// The text, unchanged.
    package let string: String

    /// Wraps text without changing it.
    package init(_ text: some StringProtocol) {
        string = String(text)
    }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.span.isEqual(to: right.string.utf8.span)
    }

    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(span: string.utf8.span)
    }
}

extension ExactText: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral text: String) { string = text }

    package var description: String { string }
}

extension StringProtocol {
    /// The text as its UTF-8 bytes.
    package var exact: ExactText { ExactText(self) }
}

extension ExactText {
    /// True if the bytes begin with those of `start`.
    package func hasPrefix(_ start: some StringProtocol) -> Bool {
        string.utf8.starts(with: start.utf8)
    }

    /// True if the bytes end with those of `end`.
    package func hasSuffix(_ end: some StringProtocol) -> Bool {
        string.utf8.reversed().starts(with: end.utf8.reversed())
    }

    /// The text after `start`; nil if it does not begin with it.
    package func removingPrefix(_ start: some StringProtocol) -> String? {
        hasPrefix(start) ? String(Substring(string.utf8.dropFirst(start.utf8.count))) : nil
    }

    /// The text before `end`; nil if it does not end with it.
    package func removingSuffix(_ end: some StringProtocol) -> String? {
        hasSuffix(end) ? String(Substring(string.utf8.dropLast(end.utf8.count))) : nil
    }

    /// True if the bytes of `part`, which is not empty, occur anywhere.
    package func contains(_ part: some StringProtocol) -> Bool {
        firstRange(of: Array(part.utf8), from: string.utf8.startIndex) != nil
    }

    /// The parts between the occurrences of one ASCII character, in order.
    ///
    /// - Parameters:
    ///   - maxSplits: the largest number of separators that are used; the rest of the text is the last part.
    ///   - omittingEmptySubsequences: false to return empty parts too.
    package func split(
        separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [String] {
        precondition(separator.isASCII)
        return string.utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits,
            omittingEmptySubsequences: omittingEmptySubsequences
        ).map { String(Substring($0)) }
    }

    /// The text with each occurrence of `part`, which is not empty, replaced.
    package func replacing(_ part: some StringProtocol, with replacement: some StringProtocol) -> String {
        let wanted = Array(part.utf8)
        var result = ""
        var position = string.utf8.startIndex
        while let range = firstRange(of: wanted, from: position) {
            result += string[position..<range.lowerBound]
            result += replacement
            position = range.upperBound
        }
        return result + string[position...]
    }

    /// True if each byte is an ASCII letter, an ASCII digit or in `others`; true for empty text.
    package func isASCIILettersAndDigits(or others: StaticString = "") -> Bool {
        let others = others.description.utf8
        return string.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: others.contains(byte)
            }
        }
    }

    /// True if there is an ASCII control character, such as NUL, a line feed or a carriage return.
    package var hasControlCharacter: Bool {
        string.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }

    private func firstRange(of wanted: [UInt8], from start: String.Index) -> Range<String.Index>? {
        let bytes = string.utf8
        var position = start
        while let found = bytes[position...].firstIndex(where: { $0 == wanted.first }) {
            if bytes[found...].starts(with: wanted) {
                return found..<bytes.index(found, offsetBy: wanted.count)
            }
            position = bytes.index(after: found)
        }
        return nil
    }
}
