internal import KCByteStreams
internal import KCKeychainModel

/// The free attributes of an item as text: a canonical JSON object, names in byte order.
enum ExtraColumn {
    /// Replaces `text` with the object.
    static func encode(_ extra: [ExtraAttribute], into text: inout [UInt8]) {
        text.removeAll()
        for (index, attribute) in extra.enumerated() {
            CanonicalJSON.literal(index == 0 ? "{" : ",", into: &text)
            CanonicalJSON.string(attribute.name, into: &text)
            CanonicalJSON.literal(":", into: &text)
            CanonicalJSON.string(attribute.value, into: &text)
        }
        CanonicalJSON.literal("}", into: &text)
    }

    /// Parses the output of `encode`; order and limits are checked when the item is created.
    static func decode(_ bytes: borrowing Span<UInt8>) throws(MalformedLine) -> [ExtraAttribute] {
        var scanner = CanonicalScanner()
        var extra: [ExtraAttribute] = []
        repeat {
            guard extra.count < ItemLimits.extraCount else {
                throw MalformedLine("there are too many free attributes", at: scanner.position)
            }
            try scanner.literal(extra.isEmpty ? "{" : ",", in: bytes)
            let name = try scanner.string(in: bytes)
            try scanner.literal(":", in: bytes)
            extra.append(ExtraAttribute(name: name, value: try scanner.string(in: bytes)))
        } while !scanner.skip("}", in: bytes)
        try scanner.end(in: bytes)
        return extra
    }
}
