internal import KCByteStreams
internal import KCKeychainModel

extension PackedItem {
    /// The size of the size at the beginning of an item.
    static let sizeOfSize = numberStart

    /// The size of the item at the beginning of `bytes`, which need not be there as a whole.
    static func size(_ bytes: borrowing Span<UInt8>) -> Int { integer(in: bytes, at: 0..<numberStart) }

    /// The number by which an error names the item at the beginning of `bytes`.
    static func number(_ bytes: borrowing Span<UInt8>) -> Int { integer(in: bytes, at: numberStart..<keySizeStart) }

    /// The position of the key of an item.
    static func keyRange(in bytes: borrowing Span<UInt8>) -> Range<Int> {
        keyStart..<keyStart + integer(in: bytes, at: keySizeStart..<keyStart)
    }

    private static func integer(in bytes: borrowing Span<UInt8>, at range: Range<Int>) -> Int {
        var number = 0
        for index in range { number = number << 8 | Int(bytes[index]) }
        return number
    }

    /// Returns a negative number, 0 or a positive one, as two items sort.
    static func compareKeys(_ one: borrowing Span<UInt8>, _ other: borrowing Span<UInt8>) -> Int {
        one.extracting(keyRange(in: one)).order(with: other.extracting(keyRange(in: other)))
    }

    /// The item at the beginning of `bytes`, which `encode` wrote, and the position of its secret.
    ///
    /// - Parameter builder: an empty one, whose memory is used.
    static func decode(
        _ bytes: borrowing Span<UInt8>, _ builder: inout AttributesBuilder
    ) -> (item: Item, secret: Range<Int>) {
        var cursor = Cursor(position: keyRange(in: bytes).upperBound)
        let itemClass = ItemClass.allCases[Int(bytes[keyStart])]
        let high = cursor.number(in: bytes)
        let uuid = ItemUUID(high: high, low: cursor.number(in: bytes))
        let size = cursor.count(in: bytes)
        let inKey = itemClass.uniqueKey
        var key = KeyValues(itemClass)
        let count = cursor.count(in: bytes)
        for _ in 0..<count {
            guard let code = AttributeCode(rawValue: cursor.byte(in: bytes)),
                let kind = Kind(rawValue: cursor.byte(in: bytes))
            else { preconditionFailure("a packed item is not as it was written") }
            if let place = inKey.firstIndex(of: code) {
                key.append(place, kind, bytes, as: code, to: &builder)
            } else {
                cursor.append(kind, in: bytes, as: code, to: &builder)
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
                itemClass: itemClass, uuid: uuid, attributes: builder.finish(), extra: extra,
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

        /// Reads a value into `builder`.
        mutating func append(
            _ kind: Kind, in bytes: borrowing Span<UInt8>, as code: AttributeCode, to builder: inout AttributesBuilder
        ) {
            switch kind {
            case .text: PackedItem.append(code, text: bytes.extracting(take(in: bytes)), to: &builder)
            case .data: builder.append(code, data: bytes.extracting(take(in: bytes)))
            case .number: builder.append(code, Int64(bitPattern: number(in: bytes)))
            case .date: builder.append(code, PackedItem.date(Int64(bitPattern: number(in: bytes))))
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

        init(_ itemClass: ItemClass) {
            codes = itemClass.uniqueKey
        }

        /// Reads the value of the attribute at `place` in the key into `builder`.
        ///
        /// Attributes come in another order than those of the key, so it may start again.
        mutating func append(
            _ wanted: Int, _ kind: Kind, _ bytes: borrowing Span<UInt8>, as code: AttributeCode,
            to builder: inout AttributesBuilder
        ) {
            if wanted < place { (place, cursor) = (0, Cursor(position: keyStart + 1)) }
            while place < wanted { _ = next(bytes) }
            let isNumber = isNumber
            let range = next(bytes)
            if isNumber {
                var cursor = Cursor(position: range.lowerBound)
                let number = Int64(bitPattern: cursor.number(in: bytes) ^ 1 << 63)
                if kind == .date { return builder.append(code, PackedItem.date(number)) }
                return builder.append(code, number)
            }
            let stored = bytes.extracting(range)
            if stored.firstIndex(of: 0) == nil {
                return PackedItem.append(code, kind, stored, to: &builder)
            }
            var plain: [UInt8] = []
            var index = 0
            while index < stored.count {
                plain.append(stored[index])
                index += stored[index] == 0 ? 2 : 1
            }
            PackedItem.append(code, kind, plain.span, to: &builder)
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
            while let zero = bytes.firstIndex(of: 0, from: cursor.position) {
                cursor.position = zero + 2
                if bytes[zero + 1] == 0 { break }
            }
            place += 1
            return start..<cursor.position - 2
        }
    }

    private static func text(_ bytes: borrowing Span<UInt8>) -> String {
        guard let text = bytes.utf8Text else { preconditionFailure("a packed item is not as it was written") }
        return text
    }

    private static func append(
        _ code: AttributeCode, _ kind: Kind, _ bytes: borrowing Span<UInt8>, to builder: inout AttributesBuilder
    ) {
        if kind == .text { return append(code, text: bytes, to: &builder) }
        builder.append(code, data: bytes)
    }

    private static func append(
        _ code: AttributeCode, text bytes: borrowing Span<UInt8>, to builder: inout AttributesBuilder
    ) {
        let isText = builder.append(code, text: bytes)
        precondition(isText, "a packed item is not as it was written")
    }

    private static func date(_ microseconds: Int64) -> Timestamp {
        guard let date = Timestamp(microseconds: microseconds) else {
            preconditionFailure("a packed item is not as it was written")
        }
        return date
    }
}
