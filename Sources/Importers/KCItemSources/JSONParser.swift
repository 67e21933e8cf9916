internal import KCByteStreams
internal import KCKeychainModel

/// Validates a document and locates its values.
struct JSONParser {
    private var scanner = JSONScanner()
    private var depth = 0
    /// The number of values so far.
    private(set) var count = 0
    /// The indices of strings with half a character, which no text can have.
    private(set) var halves: Set<Int> = []

    mutating func document(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> ForeignJSON.Value {
        if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf { scanner.position = 3 }
        let value = try value(bytes)
        scanner.skipSpace(in: bytes)
        guard scanner.position == bytes.count else { throw damaged("data follows its end") }
        return value
    }

    private mutating func value(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> ForeignJSON.Value {
        count += 1
        guard count <= ForeignJSON.valueLimit else {
            throw .limit("values", found: UInt64(count), allowed: UInt64(ForeignJSON.valueLimit))
        }
        let index = count - 1
        let first = scanner.peek(in: bytes)
        let start = scanner.position
        let kind: ForeignJSON.Value.Kind
        switch first {
        case UInt8(ascii: "{"): kind = .object(try members(bytes))
        case UInt8(ascii: "["): kind = .array(try values(bytes))
        case UInt8(ascii: "\""):
            let before = scanner.halves
            _ = try string(bytes, takesHalves: true)
            if scanner.halves > before { halves.insert(index) }
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
        return ForeignJSON.Value(kind: kind, range: start..<scanner.position, index: index)
    }

    private mutating func members(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [ForeignJSON.Member] {
        try descend()
        defer { depth -= 1 }
        scanner.position += 1
        var members: [ForeignJSON.Member] = []
        // Swift strings are equal if they are canonically equivalent; names in JSON are compared by their bytes.
        var names: Set<[UInt8]> = []
        if next("}", bytes) { return [] }
        while true {
            guard scanner.peek(in: bytes) == UInt8(ascii: "\"") else { throw damaged("a name is missing") }
            guard let name = Self.text(try string(bytes), in: bytes) else { throw damaged("a name is not text") }
            guard names.insert(Array(name.utf8)).inserted else { throw damaged("a member occurs twice") }
            guard next(":", bytes) else { throw damaged("':' is missing") }
            members.append(ForeignJSON.Member(name: name, value: try value(bytes)))
            if next("}", bytes) { return members }
            guard next(",", bytes) else { throw damaged("',' is missing") }
        }
    }

    private mutating func values(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [ForeignJSON.Value] {
        try descend()
        defer { depth -= 1 }
        scanner.position += 1
        var values: [ForeignJSON.Value] = []
        if next("]", bytes) { return [] }
        while true {
            values.append(try value(bytes))
            if next("]", bytes) { return values }
            guard next(",", bytes) else { throw damaged("',' is missing") }
        }
    }

    /// Validates a string and moves past it; returns its range, with the quotation marks.
    private mutating func string(
        _ bytes: borrowing Span<UInt8>, takesHalves: Bool = false
    ) throws(ForeignFailure) -> Range<Int> {
        let body: Range<Int>
        do throws(MalformedLine) {
            body = try scanner.body(in: bytes, takesHalves: takesHalves)
        } catch {
            throw damaged(error.rule)
        }
        guard bytes.extracting(body).isUTF8 else { throw damaged("a string is not UTF-8") }
        return body.lowerBound - 1..<body.upperBound + 1
    }

    private mutating func number(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        _ = take("-", bytes)
        if !take("0", bytes) { try digits(bytes) }
        if take(".", bytes) { try digits(bytes) }
        if take("e", bytes) || take("E", bytes) {
            if !take("+", bytes) { _ = take("-", bytes) }
            try digits(bytes)
        }
    }

    private mutating func digits(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let start = scanner.position
        while (48...57).contains(scanner.byte(in: bytes)) { scanner.position += 1 }
        if scanner.position == start { throw damaged("a value is missing") }
    }

    private mutating func word(_ word: StaticString, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        for character in "\(word)".unicodeScalars {
            guard take(character, bytes) else { throw damaged("a value is missing") }
        }
    }

    private mutating func next(_ character: Unicode.Scalar, _ bytes: borrowing Span<UInt8>) -> Bool {
        scanner.skipSpace(in: bytes)
        return take(character, bytes)
    }

    private mutating func take(_ character: Unicode.Scalar, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard scanner.byte(in: bytes) == UInt8(ascii: character) else { return false }
        scanner.position += 1
        return true
    }

    private mutating func descend() throws(ForeignFailure) {
        depth += 1
        guard depth <= ForeignJSON.depthLimit else {
            throw .limit("levels", found: UInt64(depth), allowed: UInt64(ForeignJSON.depthLimit))
        }
    }

    private func damaged(_ rule: String) -> ForeignFailure {
        .damaged("\(rule), at byte \(scanner.position)")
    }

    /// The text of a string, whose range includes the quotation marks; nil if it is not UTF-8.
    static func text(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> String? {
        JSONText.string(of: range.lowerBound + 1..<range.upperBound - 1, in: bytes)
    }

    static func secret(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> SecretBytes {
        var secret = SecretBytes(capacity: range.count)
        JSONText.unescape(range.lowerBound + 1..<range.upperBound - 1, in: bytes, into: &secret)
        return secret
    }
}
