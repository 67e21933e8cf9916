package import KCByteStreams
internal import KCDeviceIdentity
package import KCItemSources
package import KCKeychainModel

/// A value of the `--json` output (docs/json.md); members keep their order.
package indirect enum JSONValue: Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([JSONValue])
    case object([Member])
    /// A list whose values are made one after the other as they are written, however many there are.
    case each(@Sendable (_ body: (JSONValue) throws -> Void) throws -> Void)
    /// A value that is JSON already.
    case encoded([UInt8])

    /// A name and its value.
    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue
    }

    /// Appends the value on one line.
    ///
    /// - Parameter flush: called after each value of a list; may write and empty the line.
    /// - Throws: what `flush` throws, and what making the values of a list throws.
    package func encode<Line: ByteBuffer & ~Copyable>(
        into line: inout Line, flush: (inout Line) throws -> Void = { _ in }
    ) throws {
        switch self {
        case .text(let text): CanonicalJSON.string(text, into: &line)
        case .number(let number): CanonicalJSON.integer(Int64(number), into: &line)
        case .flag(let flag): CanonicalJSON.literal(flag ? "true" : "false", into: &line)
        case .list(let values):
            CanonicalJSON.literal("[", into: &line)
            for (index, value) in values.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &line) }
                try value.encode(into: &line, flush: flush)
                try flush(&line)
            }
            CanonicalJSON.literal("]", into: &line)
        case .each(let visit):
            CanonicalJSON.literal("[", into: &line)
            var isFirst = true
            try visit { value in
                if !isFirst { CanonicalJSON.literal(",", into: &line) }
                isFirst = false
                try value.encode(into: &line, flush: flush)
                try flush(&line)
            }
            CanonicalJSON.literal("]", into: &line)
        case .encoded(let json): line.append(json.span)
        case .object(let members):
            CanonicalJSON.literal("{", into: &line)
            for (index, member) in members.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &line) }
                CanonicalJSON.string(member.name, into: &line)
                CanonicalJSON.literal(":", into: &line)
                try member.value.encode(into: &line, flush: flush)
            }
            CanonicalJSON.literal("}", into: &line)
        }
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member(name: $0.0, value: $0.1) })
    }
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int) { self = .number(number) }
    package init(booleanLiteral flag: Bool) { self = .flag(flag) }
    package init(arrayLiteral values: JSONValue...) { self = .list(values) }

    /// Creates an object without the members whose values are nil.
    package static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    /// Returns the object with additional members; other values are returned unchanged.
    package func adding(_ more: [(String, JSONValue?)]) -> JSONValue {
        guard case .object(let members) = self, case .object(let added) = JSONValue.members(more) else { return self }
        return .object(members + added)
    }
}

extension JSONValue {
    /// Returns the item object described in docs/json.md ("Parts").
    package static func item(_ item: Item) -> JSONValue {
        .members([
            ("class", .text(item.itemClass.rawValue)),
            ("uuid", .text(item.uuid.description)),
            ("accessibility", .text(item.accessibility.name)),
            ("size", item.secretSize.map { .number($0) }),
            ("attributes", .encoded(item.attributes.json)),
            (
                "extra",
                item.extra.isEmpty ? nil : .object(item.extra.map { Member(name: $0.name, value: .text($0.value)) })
            ),
        ])
    }

    /// Returns the list of items.
    ///
    /// - Parameter completed: returns an item's object with what its number says.
    package static func items(
        _ items: ListedItems, _ completed: @escaping @Sendable (JSONValue, Int) -> JSONValue = { item, _ in item }
    ) -> JSONValue {
        .each { body in try items.forEach { item, number in try body(completed(.item(item), number)) } }
    }

    /// Returns the value of an attribute, in the form that imports use.
    package static func attribute(_ value: AttributeValue) -> JSONValue {
        switch value {
        case .text(let text): .text(text)
        case .data(let bytes): ["base64": .text(Base64.encode(bytes))]
        case .number(let number): .number(Int(number))
        case .date(let date): .text(date.description)
        }
    }

    /// Returns the number of items in each class.
    package static func counts(_ count: (ItemClass) -> Int) -> JSONValue {
        .object(ItemClass.allCases.map { Member(name: $0.rawValue, value: .number(count($0))) })
    }
}
