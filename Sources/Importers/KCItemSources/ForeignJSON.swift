package import KCByteStreams
internal import Synchronization

/// A JSON document of another program (RFC 8259), whose strings stay in wiped memory until they are asked for.
///
/// Parsing is strict: one value, no duplicate members, valid UTF-8, at most 32 levels. A byte order mark is skipped. A
/// string with half a character (`\ud800`) has no text, so that only its record is damaged.
///
/// The document remembers which of its values were read, so that a reader cannot drop one in silence: at its end,
/// `countUnread` counts the others. A value that is known and has no place in a keychain is skipped by name.
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
        /// The number of values that begin before this one.
        package let index: Int

        /// The member of an object; nil if there is none, or if the value is not an object.
        package subscript(name: String) -> Value? {
            guard case .object(let members) = kind else { return nil }
            return members.first { $0.name.exact == name.exact }?.value
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
    /// The indices of strings with half a character.
    private let halves: Set<Int>
    /// True for values that were read, or skipped, with all values in them; by index.
    private let done: Mutex<[Bool]>

    /// Reads a document.
    package init(_ bytes: consuming SecretBytes) throws(ForeignFailure) {
        guard bytes.count <= Self.sizeLimit else {
            throw .limit("bytes", found: UInt64(bytes.count), allowed: UInt64(Self.sizeLimit))
        }
        let (root, count, halves) = try bytes.withBytes { span throws(ForeignFailure) in
            var parser = JSONParser()
            return (try parser.document(span), parser.count, parser.halves)
        }
        self.root = root
        self.halves = halves
        done = Mutex(Array(repeating: false, count: count))
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
        guard let value, case .string = value.kind, !halves.contains(value.index) else { return nil }
        finish(value)
        return bytes.withBytes { JSONParser.text(value.range, in: $0) }
    }

    /// The text of a string; nil for any other value.
    package func secret(_ value: Value?) -> SecretBytes? {
        guard let value, case .string = value.kind, !halves.contains(value.index) else { return nil }
        finish(value)
        return bytes.withBytes { JSONParser.secret(value.range, in: $0) }
    }

    /// A whole number; nil for any other value, and for one with a fraction or more than 64 bits.
    package func integer(_ value: Value?) -> Int64? {
        guard let value, case .number = value.kind, value.range.count <= 20 else { return nil }
        let number = bytes.withBytes { span in Int64(String(decoding: value.range.map { span[$0] }, as: UTF8.self)) }
        if number != nil { finish(value) }
        return number
    }

    /// True or false; nil for any other value.
    package func flag(_ value: Value?) -> Bool? {
        guard let value, case .flag(let flag) = value.kind else { return nil }
        finish(value)
        return flag
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
        finish(value)
        return bytes.withBytes { SecretBytes($0.extracting(value.range)) }
    }

    private func finish(_ value: Value) { done.withLock { $0[value.index] = true } }

    /// The names of members that hold something and were neither read nor skipped, in document order, one per value.
    package var unread: [String] {
        let done = done.withLock { $0 }
        var names: [String] = []
        func visit(_ value: Value, _ name: String) {
            if done[value.index] { return }
            switch value.kind {
            case .object(let members): for member in members { visit(member.value, member.name) }
            case .array(let values): for value in values { visit(value, name) }
            // A flag that is not set says what a missing one says.
            case .null, .flag(false): return
            case .string where isEmpty(value): return
            case .string, .number, .flag(true): names.append(name)
            }
        }
        visit(root, "")
        return names
    }

    /// The texts within a value that were neither read nor skipped, with the names of the members on the way to each.
    func unreadTexts(in value: Value) -> [(path: String, value: Value)] {
        done.withLock { done in
            var found: [(path: String, value: Value)] = []
            Self.addUnreadTexts(in: value, path: "", done, to: &found)
            return found
        }
    }

    private static func addUnreadTexts(
        in value: Value, path: String, _ done: [Bool], to found: inout [(path: String, value: Value)]
    ) {
        if done[value.index] { return }
        switch value.kind {
        case .object(let members):
            for member in members where !done[member.value.index] {
                let path = path.isEmpty ? member.name : path + "." + member.name
                addUnreadTexts(in: member.value, path: path, done, to: &found)
            }
        case .array(let values): for value in values { addUnreadTexts(in: value, path: path, done, to: &found) }
        case .string where value.range.count > 2: found.append((path, value))
        case .string, .number, .flag, .null: return
        }
    }

    /// States that a value and all in it are known, and hold nothing to import that is not counted in another way.
    package func skip(_ value: Value?) {
        if let value { finish(value) }
    }

    /// Skips members of an object.
    package func skip(_ names: String..., of object: Value?) {
        for name in names { skip(object?[name]) }
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
        guard let text = text(value) else { throw .damaged(notText(value)) }
        return text
    }

    /// The text of a string; nil for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind.
    package func optionalSecret(_ value: Value?) throws(ForeignFailure) -> SecretBytes? {
        guard let value, !value.isNull else { return nil }
        guard let secret = secret(value) else { throw .damaged(notText(value)) }
        return secret
    }

    /// Why a value has no text.
    private func notText(_ value: Value) -> String {
        value.isString ? "a text has half a character in it, as '\\ud800' alone is" : "a value is not a string"
    }
}
