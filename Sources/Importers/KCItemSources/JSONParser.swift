internal import KCByteStreams

/// Validates a document and locates its values.
struct JSONParser {
    private var position = 0
    private var depth = 0
    /// The number of values so far.
    private(set) var count = 0

    mutating func document(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> ForeignJSON.Value {
        if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf { position = 3 }
        let value = try value(bytes)
        skipSpace(bytes)
        guard position == bytes.count else { throw damaged("data follows its end") }
        return value
    }

    private mutating func value(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> ForeignJSON.Value {
        count += 1
        guard count <= ForeignJSON.valueLimit else {
            throw .limit("values", found: UInt64(count), allowed: UInt64(ForeignJSON.valueLimit))
        }
        let index = count - 1
        skipSpace(bytes)
        let start = position
        let kind: ForeignJSON.Value.Kind
        switch position < bytes.count ? bytes[position] : 0 {
        case UInt8(ascii: "{"): kind = .object(try members(bytes))
        case UInt8(ascii: "["): kind = .array(try values(bytes))
        case UInt8(ascii: "\""):
            try string(bytes)
            kind = .string
        case UInt8(ascii: "t"):
            try word("true", bytes)
            kind = .flag(true)
        case UInt8(ascii: "f"):
            try word("false", bytes)
            kind = .flag(false)
        case UInt8(ascii: "n"):
            try word("null", bytes)
            kind = .null
        default:
            try number(bytes)
            kind = .number
        }
        return ForeignJSON.Value(kind: kind, range: start..<position, index: index)
    }

    private mutating func members(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [ForeignJSON.Member] {
        try descend()
        defer { depth -= 1 }
        position += 1
        var members: [ForeignJSON.Member] = []
        // Swift strings are equal if they are canonically equivalent; names in JSON are compared by their bytes.
        var names: Set<[UInt8]> = []
        skipSpace(bytes)
        if take("}", bytes) { return [] }
        while true {
            skipSpace(bytes)
            let start = position
            guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { throw damaged("a name is missing") }
            try string(bytes)
            guard let name = Self.text(start..<position, in: bytes) else { throw damaged("a name is not text") }
            guard names.insert(Array(name.utf8)).inserted else { throw damaged("a member occurs twice") }
            skipSpace(bytes)
            guard take(":", bytes) else { throw damaged("':' is missing") }
            members.append(ForeignJSON.Member(name: name, value: try value(bytes)))
            skipSpace(bytes)
            if take("}", bytes) { return members }
            guard take(",", bytes) else { throw damaged("',' is missing") }
        }
    }

    private mutating func values(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [ForeignJSON.Value] {
        try descend()
        defer { depth -= 1 }
        position += 1
        var values: [ForeignJSON.Value] = []
        skipSpace(bytes)
        if take("]", bytes) { return [] }
        while true {
            values.append(try value(bytes))
            skipSpace(bytes)
            if take("]", bytes) { return values }
            guard take(",", bytes) else { throw damaged("',' is missing") }
        }
    }

    /// Validates a string and moves past it.
    private mutating func string(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let start = position
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard bytes.extracting(start..<position).isUTF8 else { throw damaged("a string is not UTF-8") }
                position += 1
                return
            case UInt8(ascii: "\\"):
                guard let (_, length) = Self.escape(at: position, in: bytes) else {
                    throw damaged("an escape sequence is malformed")
                }
                position += length
            case 0..<0x20: throw damaged("a control character is not escaped")
            default: position += 1
            }
        }
        throw damaged("a string does not end")
    }

    private mutating func number(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits(bytes)
        }
        if take(".", bytes) { try digits(bytes) }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if !take("+", bytes) { _ = take("-", bytes) }
            try digits(bytes)
        }
    }

    private mutating func digits(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let start = position
        while position < bytes.count, (48...57).contains(bytes[position]) { position += 1 }
        if position == start { throw damaged("a value is missing") }
    }

    private mutating func word(_ word: StaticString, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        for byte in "\(word)".utf8 {
            guard position < bytes.count, bytes[position] == byte else { throw damaged("a value is missing") }
            position += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace(_ bytes: borrowing Span<UInt8>) {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    private mutating func descend() throws(ForeignFailure) {
        depth += 1
        guard depth <= ForeignJSON.depthLimit else {
            throw .limit("levels", found: UInt64(depth), allowed: UInt64(ForeignJSON.depthLimit))
        }
    }

    private func damaged(_ rule: String) -> ForeignFailure {
        .damaged("\(rule), at byte \(position)")
    }
}

extension JSONParser {
    /// The text between quotation marks; nil if it is not UTF-8.
    static func text(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> String? {
        let inner = bytes.extracting(range.lowerBound + 1..<range.upperBound - 1)
        let isPlain = !inner.indices.contains { inner[$0] == UInt8(ascii: "\\") }
        return isPlain ? inner.utf8Text : secret(range, in: bytes).utf8Text
    }

    static func secret(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> SecretBytes {
        var secret = SecretBytes(capacity: range.count)
        var position = range.lowerBound + 1
        while position < range.upperBound - 1 {
            guard bytes[position] == UInt8(ascii: "\\"), let (scalar, length) = escape(at: position, in: bytes) else {
                secret.append(bytes[position])
                position += 1
                continue
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { secret.append(byte) }
            position += length
        }
        return secret
    }

    /// The scalar that the escape at `start` denotes, and the escape's length; nil if JSON has no such escape.
    private static func escape(
        at start: Int, in bytes: borrowing Span<UInt8>
    ) -> (scalar: Unicode.Scalar, length: Int)? {
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
