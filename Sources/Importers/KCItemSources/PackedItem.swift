internal import KCByteStreams
internal import KCKeychainModel

/// The compact form in which items wait in memory until they are written: a fraction of the size of an `Item`.
///
/// The unique key comes first, in a form whose bytes sort as the items do, so that items are sorted and compared without
/// being decoded. Values of the key are stored there only.
///
/// ```
/// size of the key (4 bytes), class, values of the key
/// UUID (16 bytes), size of the secret + 1 or 0
/// number of attributes; for each its code, its kind and, unless it is in the key, its value
/// number of free attributes; for each its name and value
/// secret
/// ```
enum PackedItem {
    /// What follows the code of an attribute.
    private enum Kind: UInt8 {
        case text, data, number, date

        init(_ value: AttributeValue) {
            switch value {
            case .text: self = .text
            case .data: self = .data
            case .number: self = .number
            case .date: self = .date
            }
        }
    }

    /// The number of bytes before the key.
    static let keyStart = 4

    // MARK: Encoding

    /// Appends an item without its secret, which follows.
    ///
    /// - Parameter key: the result of `key(of:)`.
    static func encode(_ item: Item, key: [UInt8], into bytes: inout SecretBytes) {
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: key.count >> shift)) }
        bytes.append(key.span)
        append(item.uuid.high, to: &bytes)
        append(item.uuid.low, to: &bytes)
        append(count: item.secretSize.map { $0 + 1 } ?? 0, to: &bytes)
        append(count: item.attributes.entries.count, to: &bytes)
        let inKey = item.itemClass.uniqueKey
        for entry in item.attributes.entries {
            bytes.append(entry.code.rawValue)
            bytes.append(Kind(entry.value).rawValue)
            if !inKey.contains(entry.code) { append(entry.value, to: &bytes) }
        }
        append(count: item.extra.count, to: &bytes)
        for attribute in item.extra {
            append(attribute.name, to: &bytes)
            append(attribute.value, to: &bytes)
        }
    }

    /// The class and the unique key, in bytes that sort as `Item.precedes` does; absent values count as their defaults.
    static func key(of item: Item) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(96)
        key.append(UInt8(item.itemClass.position))
        for code in item.itemClass.uniqueKey {
            switch item.attributes[code] ?? Item.keyDefault(code) {
            case .number(let number): append(sorted: number, to: &key)
            case .date(let date): append(sorted: date.microseconds, to: &key)
            case .text(let text): append(sorted: text.utf8.span, to: &key)
            case .data(let data): append(sorted: data.span, to: &key)
            }
        }
        return key
    }

    /// Appends a number whose bytes sort as numbers do.
    private static func append(sorted number: Int64, to key: inout [UInt8]) {
        let bits = UInt64(bitPattern: number) ^ 1 << 63
        for shift in stride(from: 56, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    }

    /// Appends bytes that end with 0 0, which sorts before everything else; a zero byte becomes 0 1.
    private static func append(sorted bytes: borrowing Span<UInt8>, to key: inout [UInt8]) {
        if bytes.firstIndex(of: 0) == nil {
            key.append(bytes)
        } else {
            for index in bytes.indices {
                key.append(bytes[index])
                if bytes[index] == 0 { key.append(1) }
            }
        }
        key.append(0)
        key.append(0)
    }

    private static func append(_ value: AttributeValue, to bytes: inout SecretBytes) {
        switch value {
        case .text(let text): append(text, to: &bytes)
        case .data(let data):
            append(count: data.count, to: &bytes)
            bytes.append(data.span)
        case .number(let number): append(UInt64(bitPattern: number), to: &bytes)
        case .date(let date): append(UInt64(bitPattern: date.microseconds), to: &bytes)
        }
    }

    private static func append(_ text: String, to bytes: inout SecretBytes) {
        append(count: text.utf8.count, to: &bytes)
        bytes.append(text.utf8.span)
    }

    private static func append(_ number: UInt64, to bytes: inout SecretBytes) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends a number that is not negative, seven bits a byte.
    private static func append(count: Int, to bytes: inout SecretBytes) {
        var rest = count
        while rest > 127 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    // MARK: Decoding

    /// The position of the key of an item.
    static func keyRange(in bytes: borrowing Span<UInt8>) -> Range<Int> {
        var size = 0
        for index in 0..<keyStart { size |= Int(bytes[index]) << (index * 8) }
        return keyStart..<keyStart + size
    }

    /// The item at the beginning of `bytes`, which `encode` wrote, and the position of its secret.
    static func decode(_ bytes: borrowing Span<UInt8>) -> (item: Item, secret: Range<Int>) {
        var cursor = Cursor(position: keyRange(in: bytes).upperBound)
        let itemClass = ItemClass.allCases[Int(bytes[keyStart])]
        let high = cursor.number(in: bytes)
        let uuid = ItemUUID(high: high, low: cursor.number(in: bytes))
        let size = cursor.count(in: bytes)
        let inKey = itemClass.uniqueKey
        var key = KeyValues(itemClass, bytes)
        let count = cursor.count(in: bytes)
        var attributes = AttributesBuilder()
        for _ in 0..<count {
            guard let code = AttributeCode(rawValue: cursor.byte(in: bytes)),
                let kind = Kind(rawValue: cursor.byte(in: bytes))
            else { preconditionFailure("a packed item is not as it was written") }
            if let place = inKey.firstIndex(of: code) {
                attributes.append(code, key.value(place, kind, bytes))
            } else {
                attributes.append(code, cursor.value(kind, in: bytes))
            }
        }
        var extra: [ExtraAttribute] = []
        let extraCount = cursor.count(in: bytes)
        extra.reserveCapacity(extraCount)
        for _ in 0..<extraCount {
            let name = cursor.text(in: bytes)
            extra.append(ExtraAttribute(name: name, value: cursor.text(in: bytes)))
        }
        do throws(ItemProblem) {
            let item = try Item(
                itemClass: itemClass, uuid: uuid, attributes: attributes.finish(), extra: extra,
                secretSize: size == 0 ? nil : size - 1)
            return (item, cursor.position..<cursor.position + max(0, size - 1))
        } catch {
            preconditionFailure("a packed item is not as it was written")
        }
    }

    /// The UUID of the item at the beginning of `bytes`.
    static func uuid(_ bytes: borrowing Span<UInt8>) -> ItemUUID {
        var cursor = Cursor(position: keyRange(in: bytes).upperBound)
        let high = cursor.number(in: bytes)
        return ItemUUID(high: high, low: cursor.number(in: bytes))
    }

    private struct Cursor {
        var position: Int

        mutating func byte(in bytes: borrowing Span<UInt8>) -> UInt8 {
            position += 1
            return bytes[position - 1]
        }

        mutating func number(in bytes: borrowing Span<UInt8>) -> UInt64 {
            var number: UInt64 = 0
            for _ in 0..<8 { number = number << 8 | UInt64(byte(in: bytes)) }
            return number
        }

        mutating func count(in bytes: borrowing Span<UInt8>) -> Int {
            var (count, shift) = (0, 0)
            while true {
                let next = byte(in: bytes)
                count |= Int(next & 127) << shift
                if next < 128 { return count }
                shift += 7
            }
        }

        mutating func text(in bytes: borrowing Span<UInt8>) -> String {
            PackedItem.text(bytes.extracting(take(in: bytes)))
        }

        mutating func value(_ kind: Kind, in bytes: borrowing Span<UInt8>) -> AttributeValue {
            switch kind {
            case .text: .text(text(in: bytes))
            case .data: .data(PackedItem.array(bytes.extracting(take(in: bytes))))
            case .number: .number(Int64(bitPattern: number(in: bytes)))
            case .date: PackedItem.date(Int64(bitPattern: number(in: bytes)))
            }
        }

        private mutating func take(in bytes: borrowing Span<UInt8>) -> Range<Int> {
            let count = count(in: bytes)
            position += count
            return position - count..<position
        }
    }

    /// Reads the values of a key in the order of its attributes.
    private struct KeyValues {
        private let codes: [AttributeCode]
        /// The value that is read next.
        private var place = 0
        private var cursor = Cursor(position: keyStart + 1)

        init(_ itemClass: ItemClass, _ bytes: borrowing Span<UInt8>) {
            codes = itemClass.uniqueKey
        }

        /// The value of the attribute at `place` in the key.
        ///
        /// Attributes come in another order than those of the key, so it may start again.
        mutating func value(_ wanted: Int, _ kind: Kind, _ bytes: borrowing Span<UInt8>) -> AttributeValue {
            if wanted < place { (place, cursor) = (0, Cursor(position: keyStart + 1)) }
            while place < wanted { _ = next(bytes) }
            let isNumber = isNumber
            let range = next(bytes)
            if isNumber {
                var cursor = Cursor(position: range.lowerBound)
                let number = Int64(bitPattern: cursor.number(in: bytes) ^ 1 << 63)
                return kind == .date ? PackedItem.date(number) : .number(number)
            }
            let stored = bytes.extracting(range)
            if stored.firstIndex(of: 0) == nil {
                return kind == .text ? .text(PackedItem.text(stored)) : .data(PackedItem.array(stored))
            }
            var plain: [UInt8] = []
            var index = 0
            while index < stored.count {
                plain.append(stored[index])
                index += stored[index] == 0 ? 2 : 1
            }
            return kind == .text ? .text(PackedItem.text(plain.span)) : .data(plain)
        }

        private var isNumber: Bool { codes[place].kind == .number || codes[place].kind == .date }

        /// Moves past the next value and returns its range, without its end.
        private mutating func next(_ bytes: borrowing Span<UInt8>) -> Range<Int> {
            let start = cursor.position
            if isNumber {
                cursor.position += 8
                place += 1
                return start..<cursor.position
            }
            while !(bytes[cursor.position] == 0 && bytes[cursor.position + 1] == 0) {
                cursor.position += bytes[cursor.position] == 0 ? 2 : 1
            }
            cursor.position += 2
            place += 1
            return start..<cursor.position - 2
        }
    }

    private static func text(_ bytes: borrowing Span<UInt8>) -> String {
        guard let text = bytes.utf8Text else { preconditionFailure("a packed item is not as it was written") }
        return text
    }

    private static func array(_ bytes: borrowing Span<UInt8>) -> [UInt8] {
        var array: [UInt8] = []
        array.append(bytes)
        return array
    }

    private static func date(_ microseconds: Int64) -> AttributeValue {
        guard let date = Timestamp(microseconds: microseconds) else {
            preconditionFailure("a packed item is not as it was written")
        }
        return .date(date)
    }
}
