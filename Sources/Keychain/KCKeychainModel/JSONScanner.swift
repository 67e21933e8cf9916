internal import KCByteStreams

/// Parses any valid JSON (RFC 8259), string by string, into wiped memory.
///
/// A general-purpose library would create a `String` for every value, including secrets.
struct JSONScanner {
    /// The offset of the next byte.
    private(set) var position = 0

    /// Skips white space.
    mutating func skipSpace(in bytes: borrowing Span<UInt8>) {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    /// The next byte that is not white space, or 0 at the end.
    mutating func peek(in bytes: borrowing Span<UInt8>) -> UInt8 {
        skipSpace(in: bytes)
        return position < bytes.count ? bytes[position] : 0
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
        try punctuation("\"", in: bytes)
        if let text = try plainString(in: bytes) { return text }
        position -= 1
        // Wiped memory consists of pages, which would be too slow for every string of a large import.
        var text = SecretBytes(capacity: 0)
        try string(in: bytes, into: &text)
        return text.withBytes { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }

    /// Parses the rest of a string without escapes; nil, with nothing consumed, if it contains an escape or is invalid.
    private mutating func plainString(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> String? {
        var end = position
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            if bytes[end] < 0x20 || bytes[end] == UInt8(ascii: "\\") { return nil }
            end += 1
        }
        guard end < bytes.count else { return nil }
        guard let text = try? UTF8Span(validating: bytes.extracting(position..<end)) else {
            throw MalformedLine("the text is not valid UTF-8", at: position - 1)
        }
        position = end + 1
        return String(copying: text)
    }

    /// Parses a string and appends its UTF-8 to wiped memory.
    mutating func string(in bytes: borrowing Span<UInt8>, into text: inout SecretBytes) throws(MalformedLine) {
        try punctuation("\"", in: bytes)
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                let isValid = text.withBytes { span in (try? UTF8Span(validating: span.extracting(...))) != nil }
                guard isValid else { throw MalformedLine("the text is not valid UTF-8", at: start) }
                return
            case UInt8(ascii: "\\"): try escape(in: bytes, into: &text)
            case 0..<0x20: throw MalformedLine("a control character is not escaped", at: position)
            default:
                text.append(byte)
                position += 1
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

    private mutating func escape(in bytes: borrowing Span<UInt8>, into text: inout SecretBytes) throws(MalformedLine) {
        let start = position
        position += 1
        guard position < bytes.count else { throw MalformedLine("the string does not end", at: start) }
        let character = bytes[position]
        position += 1
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(character)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var value = try hexQuad(in: bytes)
            if 0xd800..<0xdc00 ~= value, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                let low = try hexQuad(in: bytes)
                guard 0xdc00..<0xe000 ~= low else { throw MalformedLine("a surrogate stands alone", at: start) }
                value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(value) else {
                throw MalformedLine("a surrogate stands alone", at: start)
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { text.append(byte) }
        default: throw MalformedLine("the escape is not one of JSON's", at: start)
        }
    }

    private mutating func hexQuad(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw MalformedLine("'\\u' needs four hexadecimal digits", at: position)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
