internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

/// The values of a Secret by key, in wiped memory.
final class KubernetesData {
    /// The keys, in the order of their bytes.
    private(set) var keys: [String] = []
    private var bytes = SecretBytes(capacity: 1_024)
    private var ranges: [ExactText: Range<Int>] = [:]
    /// The texts by which a copy of a value is recognized: the values, and their base64 with and without padding.
    private var texts: [Range<Int>] = []

    // The size in bytes from which text that has a value in it, or is in one, is taken for a copy of it.
    private static let shortest = 8
    // The size in bytes from which a name that is a value is taken for a copy of it; shorter ones are common words.
    private static let shortestName = 4
    // The number of bytes that are compared for one annotation: a thousand times what real Secrets take.
    private static let effort = 1 << 28
    // The levels of JSON in strings of JSON in which a value is looked for.
    private static let levels = 3

    /// Decodes `data`, and what `stringData` has instead.
    init(_ object: ForeignJSON.Value, of json: ForeignJSON) throws(ForeignFailure) {
        for member in try json.object(object["data"])?.members ?? [] {
            let text = try json.optionalSecret(member.value) ?? SecretBytes(capacity: 0)
            // The base64 may have line ends.
            texts.append(append(text))
            var value = SecretBytes(capacity: text.count)
            guard Self.decode(text, into: &value) else { throw .damaged("a value of its data is not base64") }
            try set(member.name, value)
        }
        for member in try json.object(object["stringData"])?.members ?? [] {
            try set(member.name, try json.optionalSecret(member.value) ?? SecretBytes(capacity: 0))
        }
        keys = ranges.keys.sorted().map(\.string)
    }

    private func set(_ key: String, _ value: borrowing SecretBytes) throws(ForeignFailure) {
        guard KubernetesName.isKey(key) else { throw .damaged("a key of its data is none that Kubernetes has") }
        let range = append(value)
        ranges[key.exact] = range
        texts.append(range)
        if value.isEmpty { return }
        var packed = SecretBytes(capacity: Base64.encodedCount(value.count))
        value.withBytes { Base64.encode($0, into: &packed) }
        let encoded = append(packed)
        texts.append(encoded)
        let padding = Base64.encodedCount(value.count) - Base64.encodedCount(value.count, padded: false)
        if padding > 0 { texts.append(encoded.lowerBound..<encoded.upperBound - padding) }
    }

    private func append(_ value: borrowing SecretBytes) -> Range<Int> {
        let start = bytes.count
        value.withBytes { bytes.append($0) }
        return start..<bytes.count
    }

    /// Decodes base64, which may have line ends, as in Kubernetes.
    private static func decode(_ text: borrowing SecretBytes, into value: inout SecretBytes) -> Bool {
        var packed = SecretBytes(capacity: text.count)
        text.withBytes { span in
            for index in span.indices where span[index] != 0x0a && span[index] != 0x0d { packed.append(span[index]) }
        }
        return packed.withBytes { Base64.decode($0, into: &value) }
    }

    /// The value of a key.
    func value(_ key: String) -> SecretBytes {
        guard let range = ranges[key.exact] else { preconditionFailure("the key is one of `keys`") }
        return bytes.withBytes { SecretBytes($0.extracting(range)) }
    }

    /// True if a text is one of the values, or either holds the other, also as base64 or as a string of JSON; also if it
    /// cannot be told with reasonable effort.
    func isRepeated(in text: borrowing SecretBytes) -> Bool {
        var effort = Self.effort
        if isRepeated(in: text, &effort) { return true }
        var text = text.copy()
        for _ in 0..<Self.levels {
            guard let plain = text.withBytes({ Self.unescaped($0) }) else { return false }
            if isRepeated(in: plain, &effort) { return true }
            text = plain
        }
        return false
    }

    /// The text without one level of the escapes of JSON; nil if it has none.
    private static func unescaped(_ text: borrowing Span<UInt8>) -> SecretBytes? {
        guard text.firstIndex(of: UInt8(ascii: "\\")) != nil else { return nil }
        var plain = SecretBytes(capacity: text.count)
        JSONText.unescape(0..<text.count, in: text, into: &plain)
        return plain
    }

    private func isRepeated(in text: borrowing SecretBytes, _ effort: inout Int) -> Bool {
        texts.contains { range in
            bytes.withBytes { bytes in
                text.withBytes { text in
                    let value = bytes.extracting(range)
                    if !text.isEmpty, text.isEqual(to: value) { return true }
                    guard min(range.count, text.count) >= Self.shortest else { return false }
                    return range.count <= text.count
                        ? Self.holds(text, value, &effort) : Self.holds(value, text, &effort)
                }
            }
        }
    }

    /// True if the name of a label or an annotation, or a part of it between slashes, is one of the values, or has one in it.
    func isName(_ name: String) -> Bool {
        var effort = Self.effort
        let text = Array(name.utf8)
        let hasValue = texts.contains { range in
            guard range.count >= Self.shortest, range.count <= text.count else { return false }
            return bytes.withBytes { Self.holds(text.span, $0.extracting(range), &effort) }
        }
        if hasValue { return true }
        return ([name] + name.exact.split(separator: "/")).contains { part in
            let count = part.utf8.count
            return count >= Self.shortestName
                && texts.contains { range in
                    range.count == count && bytes.withBytes { $0.matches(part.utf8, at: range.lowerBound) }
                }
        }
    }

    private static func holds(
        _ text: borrowing Span<UInt8>, _ part: borrowing Span<UInt8>, _ effort: inout Int
    ) -> Bool {
        var start = 0
        while let found = text.firstIndex(of: part[0], from: start), found + part.count <= text.count {
            effort -= part.count + found - start
            if effort < 0 || text.extracting(found..<found + part.count).isEqual(to: part) { return true }
            start = found + 1
        }
        return false
    }
}
