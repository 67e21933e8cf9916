package import KCByteStreams
package import KCKeychainModel

extension Item {
    /// Writes the item, without its secret, as an import line (docs/json.md).
    package func writeImportLine(into text: inout some ByteBuffer & ~Copyable) {
        CanonicalJSON.literal("{\"class\":\"\(itemClass.rawValue)\",\"uuid\":\"\(uuid)\",\"attributes\":{", into: &text)
        for (index, entry) in attributes.entries.enumerated() {
            CanonicalJSON.literal(index == 0 ? "\"" : ",\"", into: &text)
            CanonicalJSON.literal(entry.code.code + "\":", into: &text)
            switch entry.value {
            case .text(let value): CanonicalJSON.string(value, into: &text)
            case .number(let number): CanonicalJSON.integer(number, into: &text)
            case .date(let date): CanonicalJSON.string(date.description, into: &text)
            case .data(let bytes):
                CanonicalJSON.literal("{\"base64\":\"", into: &text)
                Base64.encode(bytes.span, into: &text)
                CanonicalJSON.literal("\"}", into: &text)
            }
        }
        CanonicalJSON.literal("}", into: &text)
        if !extra.isEmpty {
            CanonicalJSON.literal(",\"extra\":{", into: &text)
            for (index, attribute) in extra.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &text) }
                CanonicalJSON.string(attribute.name, into: &text)
                CanonicalJSON.literal(":", into: &text)
                CanonicalJSON.string(attribute.value, into: &text)
            }
            CanonicalJSON.literal("}", into: &text)
        }
        CanonicalJSON.literal("}", into: &text)
    }
}
