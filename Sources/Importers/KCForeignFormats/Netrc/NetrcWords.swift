internal import KCByteStreams
internal import KCItemSources

/// A word and its position.
struct NetrcWord {
    let range: Range<Int>
    /// True if it was in quotation marks, where `\` escapes the next character.
    let isQuoted: Bool
    /// From 1.
    let line: Int

    func equals(_ text: StaticString, in bytes: borrowing Span<UInt8>) -> Bool {
        !isQuoted && range.count == text.utf8CodeUnitCount
            && zip(range, "\(text)".utf8).allSatisfy { bytes[$0] == $1 }
    }

    func secret(in bytes: borrowing Span<UInt8>) -> SecretBytes {
        var secret = SecretBytes(capacity: range.count)
        var isEscaped = false
        for index in range {
            if isQuoted, !isEscaped, bytes[index] == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            secret.append(isEscaped ? Self.unescaped(bytes[index]) : bytes[index])
            isEscaped = false
        }
        return secret
    }

    private static func unescaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: byte
        }
    }
}

/// Iterates over the words of a file.
struct NetrcWords {
    /// Where the next byte is.
    private(set) var position = 0
    /// The number of comments before it.
    private(set) var comments = 0
    /// The line of the next byte, from 1.
    private(set) var line = 1
    private let count: Int

    init(_ count: Int) {
        self.count = count
    }

    /// Skips white space and comments; false at the end.
    ///
    /// A `#` at the beginning of a word starts a comment, which ends with the line.
    mutating func skipBlanks(in bytes: borrowing Span<UInt8>) -> Bool {
        if position == 0, bytes.starts(with: byteOrderMark) { position = byteOrderMark.utf8.count }
        while position < count {
            switch bytes[position] {
            case UInt8(ascii: "\n"):
                line += 1
                position += 1
            case 0x20, 0x09, 0x0d: position += 1
            case UInt8(ascii: "#"):
                comments += 1
                skipLine(in: bytes)
            default: return true
            }
        }
        return false
    }

    /// The next word; nil at the end.
    mutating func next(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> NetrcWord? {
        guard skipBlanks(in: bytes) else { return nil }
        return bytes[position] == UInt8(ascii: "\"") ? try quoted(in: bytes) : plain(in: bytes)
    }

    /// Skips to the next line that begins with a word before which an entry ends.
    mutating func skipToEntry(in bytes: borrowing Span<UInt8>) {
        repeat {
            skipLine(in: bytes)
            guard skipBlanks(in: bytes) else { return }
            var next = self
            let word = next.plain(in: bytes)
            if ["machine", "default", "macdef"].contains(where: { word.equals($0, in: bytes) }) { return }
        } while true
    }

    private mutating func skipLine(in bytes: borrowing Span<UInt8>) {
        while position < count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func plain(in bytes: borrowing Span<UInt8>) -> NetrcWord {
        let start = position
        while position < count, ![0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
        return NetrcWord(range: start..<position, isQuoted: false, line: line)
    }

    /// The word after `keyword`; it may begin with a `#`, which does not start a comment here.
    mutating func value(_ keyword: StaticString, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> NetrcWord {
        let before = line
        while position < count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) {
            if bytes[position] == 0x0a { line += 1 }
            position += 1
        }
        guard position < count else { throw .damagedLine(before, "nothing follows '\(keyword)'") }
        if bytes[position] == UInt8(ascii: "\"") {
            return try quoted(in: bytes)
        }
        return plain(in: bytes)
    }

    /// A word as text.
    func text(of word: NetrcWord, _ keyword: StaticString, in bytes: borrowing Span<UInt8>) throws(ForeignFailure)
        -> String
    {
        guard let text = word.secret(in: bytes).utf8Text else {
            throw .damagedLine(word.line, "the word after '\(keyword)' is not UTF-8")
        }
        return text
    }

    /// Skips the name of a macro, and all up to the empty line that ends the macro.
    mutating func skipMacro(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        _ = try value("macdef", in: bytes)
        var isEmpty = false
        while position < count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                if isEmpty { return }
                isEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                isEmpty = false
            }
        }
    }

    /// A word in quotation marks.
    private mutating func quoted(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> NetrcWord {
        let start = position + 1
        let first = line
        var index = start
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                position = index + 1
                return NetrcWord(range: start..<index, isQuoted: true, line: first)
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\n"):
                line += 1
                index += 1
            default: index += 1
            }
        }
        throw .damagedLine(first, "a quotation mark is not closed")
    }
}
