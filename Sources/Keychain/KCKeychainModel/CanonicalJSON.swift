package import KCByteStreams

/// Why a line or document is not canonical JSON.
package struct MalformedLine: Error, Hashable, Sendable {
    /// The broken rule, without foreign text.
    package let rule: String
    /// The byte offset within the line.
    package let position: Int

    /// Creates a failure for a broken rule.
    package init(_ rule: String, at position: Int) {
        self.rule = rule
        self.position = position
    }
}

/// Writes JSON in the canonical form of docs/format.md: no white space, and one way to escape each character.
///
/// `"` and `\` are escaped with a backslash, and the characters below U+0020 as `\u00xx` in lower case. Everything else
/// is UTF-8, unescaped.
package enum CanonicalJSON {
    /// Appends text that is part of the format and needs no escaping.
    package static func literal(_ text: String, into line: inout some ByteBuffer & ~Copyable) {
        line.append(text.utf8.span)
    }

    /// Appends a whole number.
    package static func integer(_ number: Int64, into line: inout some ByteBuffer & ~Copyable) {
        // Most numbers of an item, such as flags, have one digit.
        if 0..<10 ~= number { return line.append(UInt8(truncatingIfNeeded: 48 + number)) }
        line.append(String(number).utf8.span)
    }

    /// Appends a quoted, escaped string.
    package static func string(_ text: String, into line: inout some ByteBuffer & ~Copyable) {
        var text = text
        text.makeContiguousUTF8()
        string(text.utf8.span, into: &line)
    }

    /// Appends a quoted, escaped string given as valid UTF-8.
    package static func string(_ bytes: borrowing Span<UInt8>, into line: inout some ByteBuffer & ~Copyable) {
        line.append(UInt8(ascii: "\""))
        if needsEscape(bytes) {
            for index in bytes.indices { escape(bytes[index], into: &line) }
        } else {
            line.append(bytes)
        }
        line.append(UInt8(ascii: "\""))
    }

    /// True if a string of `bytes` has escapes.
    static func needsEscape(_ bytes: borrowing Span<UInt8>) -> Bool { PlainRun(in: bytes, from: 0).end < bytes.count }

    private static func escape(_ byte: UInt8, into line: inout some ByteBuffer & ~Copyable) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            line.append(UInt8(ascii: "\\"))
            line.append(byte)
        case 0..<0x20:
            let digit = byte & 15
            literal("\\u00", into: &line)
            line.append(48 + byte >> 4)
            line.append(digit < 10 ? digit + 48 : digit + 87)
        default: line.append(byte)
        }
    }

    /// Appends the text of a canonical string, given without its quotes.
    static func unescape(_ bytes: borrowing Span<UInt8>, into text: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let run = PlainRun(in: bytes, from: index)
            text.append(bytes.extracting(index..<run.end))
            index = run.end
            guard index < bytes.count else { return }
            if bytes[index + 1] == UInt8(ascii: "u") {
                let (high, low) = (bytes[index + 4], bytes[index + 5])
                text.append((high - 48) << 4 | (low < 58 ? low - 48 : low - 87))
                index += 6
            } else {
                text.append(bytes[index + 1])
                index += 2
            }
        }
    }
}

/// Parses canonical JSON only, so that everything it accepts encodes to the same bytes again.
package struct CanonicalScanner {
    /// The offset of the next byte.
    package private(set) var position = 0

    /// Starts at the first byte.
    package init() {}

    /// Consumes exactly `text`.
    package mutating func literal(_ text: String, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        guard skip(text, in: bytes) else { throw MalformedLine("'\(displayed(text))' is missing", at: position) }
    }

    /// Consumes `text` if it comes next.
    package mutating func skip(_ text: String, in bytes: borrowing Span<UInt8>) -> Bool {
        skip(text.utf8.span, in: bytes)
    }

    /// Consumes `expected` if it comes next.
    mutating func skip(_ expected: borrowing Span<UInt8>, in bytes: borrowing Span<UInt8>) -> Bool {
        let end = position + expected.count
        guard end <= bytes.count, bytes.extracting(position..<end).isEqual(to: expected) else { return false }
        position = end
        return true
    }

    /// Consumes exactly the ASCII character `byte`, which is faster than a text of one character.
    package mutating func literal(byte: UInt8, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        guard skip(byte: byte, in: bytes) else {
            throw MalformedLine("'\(Unicode.Scalar(byte))' is missing", at: position)
        }
    }

    /// Consumes `byte` if it comes next.
    package mutating func skip(byte: UInt8, in bytes: borrowing Span<UInt8>) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Checks that nothing follows.
    package func end(in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        guard position == bytes.count else { throw MalformedLine("something follows the end", at: position) }
    }

    /// Parses a whole number without `+`, leading zeros, fraction or exponent.
    package mutating func integer(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Int64 {
        let start = position
        let negative = skip(byte: UInt8(ascii: "-"), in: bytes)
        var value: Int64 = 0
        let firstDigit = position
        while position < bytes.count, (48...57).contains(bytes[position]) {
            let digit = Int64(bytes[position] - 48)
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                negative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !overflow, !carry else { throw MalformedLine("the number is too large", at: start) }
            value = sum
            position += 1
        }
        let digits = position - firstDigit
        guard digits > 0, bytes[firstDigit] != 48 || (digits == 1 && !negative) else {
            throw MalformedLine("the number is not in its shortest form", at: start)
        }
        return value
    }

    /// Reads a quoted string.
    package mutating func string(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> String {
        let start = position
        let found = try quotedText(in: bytes)
        if found.isEscaped {
            var text: [UInt8] = []
            CanonicalJSON.unescape(bytes.extracting(found.body), into: &text)
            return try Self.text(text.span, at: start)
        }
        return try Self.text(bytes.extracting(found.body), at: start)
    }

    /// Checks a quoted string, and returns where it is between its quotes.
    mutating func quotedText(
        in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> (body: Range<Int>, isEscaped: Bool) {
        let start = position
        try literal(byte: UInt8(ascii: "\""), in: bytes)
        let first = position
        var isEscaped = false
        var isASCII = true
        while true {
            let run = PlainRun(in: bytes, from: position)
            isASCII = isASCII && run.isASCII
            position = run.end
            guard position < bytes.count else { throw MalformedLine("the string does not end", at: start) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let body = first..<position
                // Escapes are ASCII, so they do not matter here.
                guard isASCII || bytes.extracting(body).isUTF8 else {
                    throw MalformedLine("the text is not valid UTF-8", at: start)
                }
                position += 1
                return (body, isEscaped)
            case UInt8(ascii: "\\"):
                try skipEscape(in: bytes)
                isEscaped = true
            default: throw MalformedLine("a control character is not escaped", at: position)
            }
        }
    }

    /// Parses a base64 string and returns the bytes, which are not secret.
    package mutating func base64(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> [UInt8] {
        var decoded: [UInt8] = []
        try base64(in: bytes, into: &decoded)
        return decoded
    }

    /// Reads a quoted base64 string and appends the decoded bytes.
    package mutating func base64(
        in bytes: borrowing Span<UInt8>, into secret: inout some ByteBuffer & ~Copyable
    ) throws(MalformedLine) {
        let start = position
        let body = try quotedBody(in: bytes)
        guard Base64.decode(bytes.extracting(body), into: &secret) else {
            throw MalformedLine("the text is not canonical base 64", at: start)
        }
    }

    /// Skips `count` bytes and returns their range.
    package mutating func take(_ count: Int, in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Range<Int> {
        guard bytes.count - position >= count else { throw MalformedLine("the line ends early", at: bytes.count) }
        position += count
        return position - count..<position
    }

    private mutating func quotedBody(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Range<Int> {
        try literal(byte: UInt8(ascii: "\""), in: bytes)
        let first = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") { position += 1 }
        try literal(byte: UInt8(ascii: "\""), in: bytes)
        return first..<position - 1
    }

    private mutating func skipEscape(in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        let start = position
        if skip("\\\"", in: bytes) || skip("\\\\", in: bytes) { return }
        if skip("\\u00", in: bytes), bytes.count - position >= 2 {
            let high = bytes[position]
            let low = bytes[position + 1]
            position += 2
            if high == 48 || high == 49, (48...57).contains(low) || (97...102).contains(low) { return }
        }
        throw MalformedLine("the escape is not canonical", at: start)
    }

    private static func text(_ bytes: Span<UInt8>, at position: Int) throws(MalformedLine) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw MalformedLine("the text is not valid UTF-8", at: position)
        }
    }
}
