package import KCByteStreams

/// A JSON document of another program (RFC 8259), whose strings stay in wiped memory until they are asked for.
///
/// Parsing is strict: one value, no duplicate members, valid UTF-8, at most 32 levels. A byte order mark is skipped.
package final class ForeignJSON: Sendable {
    /// A value and its position in the document.
    package struct Value: Sendable {
        package enum Kind: Sendable {
            case object([Member])
            case array([Value])
            /// The range includes the quotation marks and the escapes.
            case string
            case number
            case flag(Bool)
            case null
        }

        package let kind: Kind
        let range: Range<Int>

        /// The member of an object; nil if there is none, or if the value is not an object.
        package subscript(name: String) -> Value? {
            guard case .object(let members) = kind else { return nil }
            return members.first { $0.name == name }?.value
        }

        /// The members of an object; none for anything else.
        package var members: [Member] {
            if case .object(let members) = kind { members } else { [] }
        }

        /// The values of an array; none for anything else.
        package var values: [Value] {
            if case .array(let values) = kind { values } else { [] }
        }

        package var isObject: Bool { if case .object = kind { true } else { false } }
        package var isArray: Bool { if case .array = kind { true } else { false } }
        package var isString: Bool { if case .string = kind { true } else { false } }
        package var isNull: Bool { if case .null = kind { true } else { false } }
        /// True or false; nil for anything else.
        package var flag: Bool? { if case .flag(let flag) = kind { flag } else { nil } }
    }

    /// A member of an object.
    package struct Member: Sendable {
        /// Not a secret, and therefore kept as text.
        package let name: String
        package let value: Value
    }

    /// The maximum size in bytes: hundreds of times the size of the largest vaults.
    package static let sizeLimit = 256 << 20
    /// The maximum depth of objects and arrays.
    static let depthLimit = 32
    /// The maximum number of values, so that many small ones do not exhaust the memory.
    static let valueLimit = 10_000_000

    private let bytes: SecretBytes
    package let root: Value

    /// Reads a document.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `limit`).
    package init(_ bytes: consuming SecretBytes) throws(ForeignFailure) {
        guard bytes.count <= Self.sizeLimit else {
            throw .limit("bytes", found: UInt64(bytes.count), allowed: UInt64(Self.sizeLimit))
        }
        root = try bytes.withBytes { span throws(ForeignFailure) in
            var parser = JSONParser()
            return try parser.document(span)
        }
        self.bytes = bytes
    }

    /// A copy of a file's content as a document.
    ///
    /// - Throws: as `init(_:)`.
    package convenience init(_ file: ForeignFile) throws(ForeignFailure) {
        guard file.bytes.count <= Self.sizeLimit else {
            throw .limit("bytes", found: UInt64(file.bytes.count), allowed: UInt64(Self.sizeLimit))
        }
        try self.init(file.bytes.copy())
    }

    /// The text of a string that is not a secret; nil for any other value.
    package func text(_ value: Value?) -> String? {
        guard let value, case .string = value.kind else { return nil }
        return bytes.withBytes { JSONParser.text(value.range, in: $0) }
    }

    /// The text of a string; nil for any other value.
    package func secret(_ value: Value?) -> SecretBytes? {
        guard let value, case .string = value.kind else { return nil }
        return bytes.withBytes { JSONParser.secret(value.range, in: $0) }
    }

    /// A whole number; nil for any other value, and for one with a fraction or more than 64 bits.
    package func integer(_ value: Value?) -> Int64? {
        guard let value, case .number = value.kind, value.range.count <= 20 else { return nil }
        return bytes.withBytes { span in Int64(String(decoding: value.range.map { span[$0] }, as: UTF8.self)) }
    }

    /// True for null, and for a string, a list or an object without content.
    package func isEmpty(_ value: Value) -> Bool {
        switch value.kind {
        case .null: true
        case .string: value.range.count <= 2
        case .array(let values): values.isEmpty
        case .object(let members): members.isEmpty
        case .number, .flag: false
        }
    }

    /// The source text of a value.
    package func source(_ value: Value) -> SecretBytes {
        bytes.withBytes { SecretBytes($0.extracting(value.range)) }
    }
}

extension ForeignJSON {
    /// The values of a list; none for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind, which would look like an empty list.
    package func list(_ value: Value?) throws(ForeignFailure) -> [Value] {
        guard let value, !value.isNull else { return [] }
        guard value.isArray else { throw .damaged("a value is not a list") }
        return value.values
    }

    /// The values of a list that the format requires; `name` describes it in messages.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind, and if there is none.
    package func list(_ value: Value?, required name: StaticString) throws(ForeignFailure) -> [Value] {
        guard let value, value.isArray else { throw .damaged("\(name) is missing or not a list") }
        return value.values
    }

    /// An object; nil for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind, which would look like one without members.
    package func object(_ value: Value?) throws(ForeignFailure) -> Value? {
        guard let value, !value.isNull else { return nil }
        guard value.isObject else { throw .damaged("a value is not an object") }
        return value
    }

    /// A whole number; nil for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind.
    package func optionalInteger(_ value: Value?) throws(ForeignFailure) -> Int64? {
        guard let value, !value.isNull else { return nil }
        guard let number = integer(value) else { throw .damaged("a value is not a whole number") }
        return number
    }

    /// The text of a string that is not a secret; nil for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind.
    package func optionalText(_ value: Value?) throws(ForeignFailure) -> String? {
        guard let value, !value.isNull else { return nil }
        guard let text = text(value) else { throw .damaged("a value is not a string") }
        return text
    }

    /// The text of a string; nil for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind.
    package func optionalSecret(_ value: Value?) throws(ForeignFailure) -> SecretBytes? {
        guard let value, !value.isNull else { return nil }
        guard let secret = secret(value) else { throw .damaged("a value is not a string") }
        return secret
    }
}

/// Identifies a JSON document by the member names at its beginning.
package enum JSONHead {
    /// The number of bytes examined.
    private static let size = 8_192

    /// Those of `names` that are member names, at any level, at the beginning of a document that is an object.
    package static func names(_ names: [String], in bytes: borrowing Span<UInt8>) -> Set<String> {
        var start = bytes.count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0
        while start < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[start]) { start += 1 }
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return [] }
        let head = bytes.extracting(start..<min(bytes.count, start + size))
        var found: Set<String> = []
        for name in names {
            let wanted = Array("\"\(name)\"".utf8)
            guard head.count >= wanted.count else { continue }
            let isThere = (0...(head.count - wanted.count)).contains { start in
                wanted.indices.allSatisfy { head[start + $0] == wanted[$0] }
                    && isName(endingAt: start + wanted.count, in: head)
            }
            if isThere { found.insert(name) }
        }
        return found
    }

    /// True if a colon follows; otherwise the text is a value, which anyone can choose.
    private static func isName(endingAt end: Int, in head: borrowing Span<UInt8>) -> Bool {
        var position = end
        while position < head.count, [0x20, 0x09, 0x0a, 0x0d].contains(head[position]) { position += 1 }
        return position < head.count && head[position] == UInt8(ascii: ":")
    }
}
