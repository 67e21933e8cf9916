/// A value in the subset of CBOR (RFC 8949) that tokens use.
enum CBOR: Equatable {
    case integer(Int)
    case bytes([UInt8])
    case text(String)
    case list([CBOR])
    case map([(CBOR, CBOR)])
    case flag(Bool)

    static func == (left: CBOR, right: CBOR) -> Bool { left.encoded == right.encoded }

    /// Reads one value, which must be all of the bytes; nil if it is none.
    init?(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        guard let value = Self.value(&rest), rest.isEmpty else { return nil }
        self = value
    }

    var encoded: [UInt8] {
        switch self {
        case .integer(let number):
            number < 0 ? Self.head(1, -1 - number) : Self.head(0, number)
        case .bytes(let bytes): Self.head(2, bytes.count) + bytes
        case .text(let text): Self.head(3, text.utf8.count) + text.utf8
        case .list(let values): Self.head(4, values.count) + values.flatMap(\.encoded)
        case .map(let entries): Self.head(5, entries.count) + entries.flatMap { $0.encoded + $1.encoded }
        case .flag(let flag): [flag ? 0xf5 : 0xf4]
        }
    }

    /// The value under a number or a text in a map; nil if there is none.
    subscript(_ key: Int) -> CBOR? { self[.integer(key)] }
    subscript(_ key: String) -> CBOR? { self[.text(key)] }

    private subscript(_ key: CBOR) -> CBOR? {
        guard case .map(let entries) = self else { return nil }
        return entries.first { $0.0 == key }?.1
    }

    var number: Int? { if case .integer(let number) = self { number } else { nil } }
    var data: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var values: [CBOR]? { if case .list(let values) = self { values } else { nil } }
    var isTrue: Bool? { if case .flag(let flag) = self { flag } else { nil } }

    private static func head(_ type: UInt8, _ number: Int) -> [UInt8] {
        switch number {
        case 0..<24: [type << 5 | UInt8(number)]
        case 24..<256: [type << 5 | 24, UInt8(number)]
        default: [type << 5 | 25, UInt8(number >> 8), UInt8(number & 255)]
        }
    }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> CBOR? {
        guard let first = rest.popFirst() else { return nil }
        if first == 0xf4 || first == 0xf5 { return .flag(first == 0xf5) }
        guard let number = number(first & 31, &rest) else { return nil }
        switch first >> 5 {
        case 0: return .integer(number)
        case 1: return .integer(-1 - number)
        case 2, 3:
            guard rest.count >= number else { return nil }
            let bytes = Array(rest.prefix(number))
            rest.removeFirst(number)
            return first >> 5 == 2 ? .bytes(bytes) : .text(String(decoding: bytes, as: UTF8.self))
        case 4:
            var values: [CBOR] = []
            for _ in 0..<number {
                guard let next = value(&rest) else { return nil }
                values.append(next)
            }
            return .list(values)
        case 5:
            var entries: [(CBOR, CBOR)] = []
            for _ in 0..<number {
                guard let key = value(&rest), let next = value(&rest) else { return nil }
                entries.append((key, next))
            }
            return .map(entries)
        default: return nil
        }
    }

    private static func number(_ code: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        let size = [24: 1, 25: 2, 26: 4][code]
        guard let size else { return code < 24 ? Int(code) : nil }
        guard rest.count >= size else { return nil }
        defer { rest.removeFirst(size) }
        return rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
    }
}
