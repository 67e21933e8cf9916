package import KCByteStreams

/// A line of an import file: an item as a person or script writes it, with its secret (docs/json.md, "Import").
///
/// Unlike the lines of an archive, it may be any valid JSON. The secret goes directly into wiped memory, never into a
/// `String`.
package struct ImportLine: ~Copyable {
    /// The item as given.
    package var draft: ItemDraft
    /// The secret; nil if the line has none.
    package var secret: SecretBytes?

    /// Why a line is rejected.
    package enum Problem: Error, Hashable, Sendable {
        /// The line is not such a JSON object; the rule contains no foreign text.
        case malformed(MalformedLine)
        case item(ItemProblem)
        /// The item was listed without its secret, since its seal does not fit.
        case brokenSeal
        /// The item was listed without its secret, although it has one.
        case secretMissing
    }

    /// Parses one line.
    package init(_ bytes: borrowing Span<UInt8>) throws(Problem) {
        var parser = ImportParser()
        do {
            try parser.parse(bytes)
        } catch let error as MalformedLine {
            throw .malformed(error)
        } catch let error as ItemProblem {
            throw .item(error)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .malformed(MalformedLine("the line cannot be read", at: 0))
        }
        if let problem = parser.problemOfFacts { throw problem }
        guard let itemClass = parser.itemClass else {
            throw .malformed(MalformedLine("'class' is missing", at: 0))
        }
        draft = ItemDraft(itemClass: itemClass, uuid: parser.uuid, attributes: parser.attributes, extra: parser.extra)
        secret = parser.takeSecret()
    }
}

extension ImportLine {
    /// The ranges of the items in a line: the line itself, or each item of `{"items":[…]}`, as `item find --json`
    /// prints them.
    package static func items(in bytes: borrowing Span<UInt8>) throws(Problem) -> [Range<Int>] {
        var scanner = JSONScanner()
        do throws(MalformedLine) {
            guard scanner.peek(in: bytes) == UInt8(ascii: "{") else { return [0..<bytes.count] }
            try scanner.punctuation("{", in: bytes)
            guard scanner.peek(in: bytes) == UInt8(ascii: "\""),
                JSONText.isText("items", try scanner.body(in: bytes), in: bytes)
            else { return [0..<bytes.count] }
            try scanner.punctuation(":", in: bytes)
            let ranges = try scanner.objects(in: bytes)
            try scanner.punctuation("}", in: bytes)
            scanner.skipSpace(in: bytes)
            guard scanner.position == bytes.count else {
                throw MalformedLine("something follows the object", at: scanner.position)
            }
            return ranges
        } catch {
            throw .malformed(error)
        }
    }
}

/// Parses the members of an import line in any order, each at most once.
private struct ImportParser: ~Copyable {
    var itemClass: ItemClass?
    var uuid: ItemUUID?
    private(set) var attributes = Attributes()
    var extra: [ExtraAttribute] = []
    private var secret: SecretBytes?
    /// Facts that `item find --json` prints with an item; they must match the item.
    private var accessibility: String?
    private var size: Int64?
    private var scanner = JSONScanner()

    init() {}

    /// The problem of an item that contradicts these facts; nil if it matches them.
    var problemOfFacts: ImportLine.Problem? {
        if let accessibility {
            let stated = attributes.text(.pdmn).flatMap(Accessibility.init(rawValue:))?.name
            if accessibility != stated {
                return .malformed(MalformedLine("'accessibility' does not fit the attribute 'pdmn'", at: 0))
            }
        }
        guard let size else { return nil }
        switch secret {
        case .none: return .secretMissing
        case .some(let secret):
            return size == secret.count ? nil : .malformed(MalformedLine("'size' does not fit the secret", at: 0))
        }
    }

    mutating func takeSecret() -> SecretBytes? { secret.take() }

    mutating func parse(_ bytes: borrowing Span<UInt8>) throws {
        try forEachMember(bytes) { parser, name, bytes throws in
            switch name {
            case "class":
                guard let itemClass = ItemClass(rawValue: try parser.scanner.string(in: bytes)) else {
                    throw MalformedLine("'class' is not one of genp, inet, cert, keys", at: parser.scanner.position)
                }
                parser.itemClass = itemClass
            case "uuid":
                guard let uuid = ItemUUID(try parser.scanner.string(in: bytes)) else {
                    throw MalformedLine("'uuid' is not a UUID", at: parser.scanner.position)
                }
                parser.uuid = uuid
            case "attributes":
                try parser.readAttributes(bytes)
            case "extra":
                try parser.forEachMember(bytes) { parser, name, bytes throws in
                    parser.extra.append(ExtraAttribute(name: name, value: try parser.scanner.string(in: bytes)))
                }
            case "secret": try parser.readSecret(bytes)
            case "accessibility": parser.accessibility = try parser.scanner.string(in: bytes)
            case "size": parser.size = try parser.scanner.integer(in: bytes)
            case "sealBroken": throw ImportLine.Problem.brokenSeal
            default:
                throw MalformedLine(
                    "a member is none of class, uuid, attributes, extra, secret", at: parser.scanner.position)
            }
        }
        scanner.skipSpace(in: bytes)
        guard scanner.position == bytes.count else {
            throw MalformedLine("something follows the object", at: scanner.position)
        }
    }

    private enum GivenValue {
        /// Where there is text without escapes, which is packed as it is.
        case plain(Range<Int>)
        case value(AttributeValue)
    }

    private mutating func readAttributes(_ bytes: borrowing Span<UInt8>) throws {
        var given: [(code: AttributeCode, value: GivenValue)] = []
        given.reserveCapacity(8)
        try forEachMember(bytes) { parser, name, bytes throws in
            guard let code = AttributeCode(code: name) else { throw ItemProblem.unknownAttribute(name) }
            given.append((code, try parser.value(of: code, bytes)))
        }
        given.sort { $0.code < $1.code }
        var builder = AttributesBuilder()
        for (code, value) in given {
            switch value {
            case .plain(let range): builder.append(code, plainText: bytes.extracting(range))
            case .value(let value): builder.append(code, value)
            }
        }
        attributes = builder.finish()
    }

    private mutating func value(of code: AttributeCode, _ bytes: borrowing Span<UInt8>) throws -> GivenValue {
        switch scanner.peek(in: bytes) {
        case UInt8(ascii: "\""):
            if code.kind != .date, let plain = try scanner.plainString(in: bytes) { return .plain(plain) }
            let text = try scanner.string(in: bytes)
            guard code.kind == .date else { return .value(.text(text)) }
            guard let date = Timestamp(text) else {
                throw MalformedLine("a date is not like 2026-03-01T09:30:00.000000Z", at: scanner.position)
            }
            return .value(.date(date))
        case UInt8(ascii: "{"):
            var data = SecretBytes(capacity: 0)
            try base64Object(bytes, into: &data)
            return .value(.data(data.withBytes { span in span.indices.map { span[$0] } }))
        default: return .value(.number(try scanner.integer(in: bytes)))
        }
    }

    private mutating func readSecret(_ bytes: borrowing Span<UInt8>) throws {
        var value = SecretBytes(capacity: 0)
        if scanner.peek(in: bytes) == UInt8(ascii: "{") {
            try base64Object(bytes, into: &value)
        } else {
            try scanner.string(in: bytes, into: &value)
        }
        secret = consume value
    }

    /// Parses `{"base64": "…"}`.
    private mutating func base64Object(_ bytes: borrowing Span<UInt8>, into data: inout SecretBytes) throws {
        try scanner.punctuation("{", in: bytes)
        guard try scanner.string(in: bytes) == "base64" else {
            throw MalformedLine("bytes are given as {\"base64\": \"…\"}", at: scanner.position)
        }
        try scanner.punctuation(":", in: bytes)
        var text = SecretBytes(capacity: 0)
        try scanner.string(in: bytes, into: &text)
        let position = scanner.position
        let isValid = text.withBytes { span in Base64.decode(span, into: &data) }
        guard isValid else { throw MalformedLine("the text is not canonical base 64", at: position) }
        try scanner.punctuation("}", in: bytes)
    }

    private mutating func forEachMember(
        _ bytes: borrowing Span<UInt8>,
        _ body: (inout ImportParser, String, borrowing Span<UInt8>) throws -> Void
    ) throws {
        try scanner.punctuation("{", in: bytes)
        if scanner.peek(in: bytes) == UInt8(ascii: "}") { return try scanner.punctuation("}", in: bytes) }
        var names = MemberNames()
        while true {
            let name = try scanner.string(in: bytes)
            guard names.insert(name) else {
                throw MalformedLine("a member is given twice", at: scanner.position)
            }
            try scanner.punctuation(":", in: bytes)
            try body(&self, name, bytes)
            if scanner.peek(in: bytes) == UInt8(ascii: "}") { return try scanner.punctuation("}", in: bytes) }
            try scanner.punctuation(",", in: bytes)
        }
    }
}

/// The names of an object's members so far.
private struct MemberNames {
    /// The first few are compared one by one, which is faster than hashing them.
    private var few: [String] = []
    private var others: Set<[UInt8]> = []
    private static let limit = 16

    /// Adds a name; false if it was added before.
    mutating func insert(_ name: String) -> Bool {
        if few.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { return false }
        if few.count < Self.limit {
            few.append(name)
            return true
        }
        return others.insert(Array(name.utf8)).inserted
    }
}
