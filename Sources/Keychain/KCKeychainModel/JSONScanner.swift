package import KCByteStreams

/// Parses any valid JSON (RFC 8259), string by string, into wiped memory.
///
/// A general-purpose library would create a `String` for every value, including secrets.
package struct JSONScanner {
    /// The offset of the next byte.
    package var position = 0
    /// The number of escapes so far that are half a character: surrogates without their counterparts.
    package private(set) var halves = 0

    /// Starts at the first byte.
    package init() {}

    /// Skips white space.
    package mutating func skipSpace(in bytes: borrowing Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    /// The next byte, or 0 at the end.
    package func byte(in bytes: borrowing Span<UInt8>) -> UInt8 { position < bytes.count ? bytes[position] : 0 }

    /// The next byte that is not white space, or 0 at the end.
    package mutating func peek(in bytes: borrowing Span<UInt8>) -> UInt8 {
        skipSpace(in: bytes)
        return byte(in: bytes)
    }

    /// Consumes one punctuation character.
    mutating func punctuation(_ character: Unicode.Scalar, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        guard peek(in: bytes) == UInt8(ascii: character) else {
            throw MalformedLine("'\(character)' is missing", at: position)
        }
        position += 1
    }

    /// Reads a whole number.
    mutating func integer(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Int64 {
        skipSpace(in: bytes)
        let start = position
        if start < bytes.count, (48...57).contains(bytes[start]),
            start + 1 == bytes.count || [0x2c, 0x7d].contains(bytes[start + 1])
        {
            // Most numbers of an item, such as flags, have one digit.
            position += 1
            return Int64(bytes[start] - 48)
        }
        var text = ""
        while position < bytes.count, (48...57).contains(bytes[position]) || bytes[position] == UInt8(ascii: "-") {
            text.unicodeScalars.append(Unicode.Scalar(bytes[position]))
            position += 1
        }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard let number = Int64(text), digits.count == 1 || digits.first != UInt8(ascii: "0"),
            position == bytes.count || !isNumberPart(bytes[position])
        else {
            throw MalformedLine("a whole number is expected", at: start)
        }
        return number
    }

    /// Reads a string that is not secret.
    mutating func string(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> String {
        let body = try self.body(in: bytes)
        guard let text = JSONText.string(of: body, in: bytes) else { throw Self.notUTF8(body) }
        return text
    }

    /// Reads a string without escapes, and returns what is between its quotation marks; nil, reading nothing, for any
    /// other value.
    mutating func plainString(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Range<Int>? {
        guard peek(in: bytes) == UInt8(ascii: "\"") else { return nil }
        let run = PlainRun(in: bytes, from: position + 1)
        guard run.end < bytes.count, bytes[run.end] == UInt8(ascii: "\"") else { return nil }
        let body = position + 1..<run.end
        guard run.isASCII || bytes.extracting(body).isUTF8 else { throw Self.notUTF8(body) }
        position = run.end + 1
        return body
    }

    /// Parses a string and appends its UTF-8 to wiped memory.
    mutating func string(in bytes: borrowing Span<UInt8>, into text: inout SecretBytes) throws(MalformedLine) {
        let body = try self.body(in: bytes)
        guard bytes.extracting(body).isUTF8 else { throw Self.notUTF8(body) }
        JSONText.unescape(body, in: bytes, into: &text)
    }

    private static func notUTF8(_ body: Range<Int>) -> MalformedLine {
        MalformedLine("the text is not valid UTF-8", at: body.lowerBound)
    }

    /// Moves past a string, and returns what is between its quotation marks, which need not be UTF-8.
    ///
    /// - Parameter takesHalves: true to count escapes that are half a character, in place of an error.
    package mutating func body(
        in bytes: borrowing Span<UInt8>, takesHalves: Bool = false
    ) throws(MalformedLine) -> Range<Int> {
        try punctuation("\"", in: bytes)
        let start = position
        while true {
            position = PlainRun(in: bytes, from: position).end
            guard position < bytes.count else { break }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"):
                if let (_, length) = JSONText.escape(at: position, in: bytes) {
                    position += length
                } else if takesHalves, JSONText.isHalf(at: position, in: bytes) {
                    halves += 1
                    position += 6
                } else {
                    throw MalformedLine("the escape is not one of JSON's", at: position)
                }
            default: throw MalformedLine("a control character is not escaped", at: position)
            }
        }
        throw MalformedLine("the string does not end", at: start)
    }

    /// Parses an array of objects and returns their ranges without looking at their contents.
    mutating func objects(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> [Range<Int>] {
        try punctuation("[", in: bytes)
        var ranges: [Range<Int>] = []
        if peek(in: bytes) == UInt8(ascii: "]") {
            position += 1
            return []
        }
        while true {
            guard peek(in: bytes) == UInt8(ascii: "{") else { throw MalformedLine("'{' is missing", at: position) }
            let start = position
            try skipObject(in: bytes)
            ranges.append(start..<position)
            if peek(in: bytes) == UInt8(ascii: "]") {
                position += 1
                return ranges
            }
            try punctuation(",", in: bytes)
        }
    }

    /// Skips an object by matching brackets outside of strings.
    private mutating func skipObject(in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        var (depth, isString) = (0, false)
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if isString {
                if byte == UInt8(ascii: "\\") { position += 1 }
                if byte == UInt8(ascii: "\"") { isString = false }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return }
            default: break
            }
        }
        throw MalformedLine("the line ends early", at: bytes.count)
    }

    private func isNumberPart(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+")].contains(byte)
    }
}

/// The text between the quotation marks of a JSON string.
package enum JSONText {
    /// The text; nil if it is not UTF-8.
    package static func string(of body: Range<Int>, in bytes: borrowing Span<UInt8>) -> String? {
        let found = bytes.extracting(body)
        if found.firstIndex(of: UInt8(ascii: "\\")) == nil { return found.utf8Text }
        // Wiped memory consists of pages, which would be too slow for every string of a large import.
        var text: [UInt8] = []
        unescape(body, in: bytes, into: &text)
        return text.span.utf8Text
    }

    /// True if the text is `expected`.
    static func isText(_ expected: String, _ body: Range<Int>, in bytes: borrowing Span<UInt8>) -> Bool {
        let found = bytes.extracting(body)
        if found.firstIndex(of: UInt8(ascii: "\\")) != nil {
            return string(of: body, in: bytes).map { $0.utf8.elementsEqual(expected.utf8) } ?? false
        }
        return found.isEqual(to: expected.utf8.span)
    }

    /// Appends the text; what is no escape of JSON stays as it is.
    package static func unescape(
        _ body: Range<Int>, in bytes: borrowing Span<UInt8>, into text: inout some ByteBuffer & ~Copyable
    ) {
        guard bytes.extracting(body).firstIndex(of: UInt8(ascii: "\\")) != nil else {
            return text.append(bytes.extracting(body))
        }
        var position = body.lowerBound
        while position < body.upperBound {
            guard bytes[position] == UInt8(ascii: "\\"), let (scalar, length) = escape(at: position, in: bytes) else {
                text.append(bytes[position])
                position += 1
                continue
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { text.append(byte) }
            position += length
        }
    }

    /// The scalar that the escape at `start` denotes, and the escape's length; nil if JSON has no such escape.
    static func escape(at start: Int, in bytes: borrowing Span<UInt8>) -> (scalar: Unicode.Scalar, length: Int)? {
        guard start + 1 < bytes.count else { return nil }
        switch bytes[start + 1] {
        case UInt8(ascii: "\""): return ("\"", 2)
        case UInt8(ascii: "\\"): return ("\\", 2)
        case UInt8(ascii: "/"): return ("/", 2)
        case UInt8(ascii: "b"): return ("\u{8}", 2)
        case UInt8(ascii: "f"): return ("\u{c}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "u"):
            guard let first = quad(at: start + 2, in: bytes) else { return nil }
            if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
            guard first < 0xdc00, start + 7 < bytes.count, bytes[start + 6] == UInt8(ascii: "\\"),
                bytes[start + 7] == UInt8(ascii: "u"), let second = quad(at: start + 8, in: bytes),
                (0xdc00..<0xe000).contains(second)
            else { return nil }
            return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)).map { ($0, 12) }
        default: return nil
        }
    }

    /// True if the escape at `start`, which denotes no character, is a surrogate.
    static func isHalf(at start: Int, in bytes: borrowing Span<UInt8>) -> Bool {
        guard start + 1 < bytes.count, bytes[start + 1] == UInt8(ascii: "u") else { return false }
        return quad(at: start + 2, in: bytes).map { (0xd800..<0xe000).contains($0) } ?? false
    }

    private static func quad(at start: Int, in bytes: borrowing Span<UInt8>) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for index in start..<start + 4 {
            guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
