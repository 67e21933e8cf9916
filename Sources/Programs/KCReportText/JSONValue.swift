package import KCByteStreams
internal import KCDeviceIdentity
package import KCKeychainModel

/// A value of the `--json` output (docs/json.md); members keep their order.
package indirect enum JSONValue: Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([JSONValue])
    case object([Member])
    /// A value that is JSON already.
    case encoded([UInt8])

    /// A name and its value.
    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue
    }

    /// Appends the value on one line.
    package func encode(into line: inout some ByteBuffer & ~Copyable) {
        switch self {
        case .text(let text): CanonicalJSON.string(text, into: &line)
        case .number(let number): CanonicalJSON.integer(Int64(number), into: &line)
        case .flag(let flag): CanonicalJSON.literal(flag ? "true" : "false", into: &line)
        case .list(let values):
            CanonicalJSON.literal("[", into: &line)
            for (index, value) in values.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &line) }
                value.encode(into: &line)
            }
            CanonicalJSON.literal("]", into: &line)
        case .encoded(let json): line.append(json.span)
        case .object(let members):
            CanonicalJSON.literal("{", into: &line)
            for (index, member) in members.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &line) }
                CanonicalJSON.string(member.name, into: &line)
                CanonicalJSON.literal(":", into: &line)
                member.value.encode(into: &line)
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
