package import KCByteStreams

/// The map in KDBX 4 that describes the key derivation: names with typed values.
package struct KDBXDictionary: Hashable {
    package enum Value: Hashable {
        case uint32(UInt32)
        case uint64(UInt64)
        case bytes([UInt8])
        /// A type that no key derivation needs.
        case other(UInt8)
    }

    package private(set) var values: [ExactText: Value] = [:]
    private var order: [String] = []

    package init() {}

    package mutating func add(_ name: String, _ value: Value) {
        if values.updateValue(value, forKey: name.exact) == nil { order.append(name) }
    }

    /// The encoded map: version 1.0, the entries, and the end mark.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = [0, 1]
        for name in order {
            let (type, value): (UInt8, [UInt8]) =
                switch values[name.exact] {
                case .uint32(let number): (0x04, KDBX.littleEndian(number))
                case .uint64(let number): (0x05, KDBX.littleEndian(number))
                case .bytes(let value): (0x42, value)
                case .other, nil: preconditionFailure("only what can be encoded is added")
                }
            bytes.append(type)
            bytes += KDBX.littleEndian(UInt32(name.utf8.count)) + Array(name.utf8)
            bytes += KDBX.littleEndian(UInt32(value.count)) + value
        }
        return bytes + [0]
    }

    /// Parses a map; nil if it is malformed, has another major version, or has a name twice.
    package init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func take(_ count: Int) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number(_ bytes: [UInt8]) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        guard let version = take(2), version[1] == 1 else { return nil }
        while true {
            // Without its end mark, the map is truncated.
            guard let type = take(1)?.first else { return nil }
            if type == 0 { break }
            guard let nameSize = take(4), let name = take(Int(number(nameSize))), let size = take(4),
                let value = take(Int(number(size))), let text = String(validating: name, as: UTF8.self),
                values[text.exact] == nil
            else { return nil }
            switch (type, value.count) {
            case (0x04, 4): add(text, .uint32(UInt32(number(value))))
            case (0x05, 8): add(text, .uint64(number(value)))
            case (0x42, _): add(text, .bytes(value))
            default: add(text, .other(type))
            }
        }
        guard rest.isEmpty else { return nil }
    }
}
