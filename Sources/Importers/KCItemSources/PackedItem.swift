internal import KCByteStreams
internal import KCKeychainModel

/// The compact form in which items wait in memory until they are written: a fraction of the size of an `Item`.
///
/// The unique key comes first, in a form whose bytes sort as the items do, so that items are sorted and compared without
/// being decoded. Values of the key are stored there only.
///
/// ```
/// size of all of this (4 bytes), number (8 bytes)
/// size of the key (4 bytes), class, values of the key
/// UUID (16 bytes), size of the secret + 1 or 0
/// number of attributes; for each its code, its kind and, unless it is in the key, its value
/// number of free attributes; for each its name and value
/// secret
/// ```
enum PackedItem {
    /// The kind of a value, which follows the code of the attribute.
    enum Kind: UInt8 {
        case text, data, number, date

        init(_ form: AttributeForm) {
            switch form {
            case .text, .escapedText: self = .text
            case .data: self = .data
            case .number: self = .number
            case .date: self = .date
            }
        }
    }

    // Positions in the bytes of an item.
    static let numberStart = 4
    static let keySizeStart = 12
    static let keyStart = 16

    /// Replaces `bytes` with an item and its secret.
    ///
    /// - Parameters:
    ///   - number: what an error calls the item.
    ///   - key: the result of `key(of:)`.
    static func encode(
        _ item: Item, number: Int, key: [UInt8], secret: borrowing SecretBytes?, into bytes: inout SecretBytes
    ) {
        bytes.removeAll()
        append(UInt32(0), to: &bytes)
        append(UInt64(number), to: &bytes)
        append(UInt32(key.count), to: &bytes)
        bytes.append(key.span)
        append(item.uuid.high, to: &bytes)
        append(item.uuid.low, to: &bytes)
        append(count: item.secretSize.map { $0 + 1 } ?? 0, to: &bytes)
        append(count: item.attributes.codes.count, to: &bytes)
        let inKey = item.itemClass.uniqueKey
        for code in item.attributes.codes {
            item.attributes.withMember(code) { form, value in
                bytes.append(code.rawValue)
                bytes.append(Kind(form).rawValue)
                if !inKey.contains(code) { append(form, value, to: &bytes) }
            }
        }
        append(count: item.extra.count, to: &bytes)
        for attribute in item.extra {
            append(attribute.name, to: &bytes)
            append(attribute.value, to: &bytes)
        }
        switch secret {
        case .some(let secret): secret.withBytes { bytes.append($0) }
        case .none: break
        }
        let size = bytes.count
        bytes.withMutableBytes { span in
            for index in 0..<numberStart { span[index] = UInt8(truncatingIfNeeded: size >> (8 * (3 - index))) }
        }
    }

    /// The class and the unique key, in bytes that sort as `Item.precedes` does; absent values count as their defaults.
    static func key(of item: Item) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(96)
        key.append(UInt8(item.itemClass.position))
        for code in item.itemClass.uniqueKey {
            let isThere: Void? = item.attributes.withMember(code) { form, bytes in
                if form == .text {
                    append(sorted: bytes.extracting(1..<bytes.count - 1), to: &key)
                } else {
                    append(sorted: form.value(of: bytes), to: &key)
                }
            }
            if isThere == nil { append(sorted: Item.keyDefault(code), to: &key) }
        }
        return key
    }

    private static func append(sorted value: AttributeValue, to key: inout [UInt8]) {
        switch value {
        case .number(let number): append(sorted: number, to: &key)
        case .date(let date): append(sorted: date.microseconds, to: &key)
        case .text(let text): append(sorted: text.utf8.span, to: &key)
        case .data(let data): append(sorted: data.span, to: &key)
        }
    }

    /// The first bytes of a key as a number that sorts as they do.
    static func beginning(of key: [UInt8]) -> UInt64 {
        let beginning = key.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return key.count < 8 ? beginning << (8 * (8 - key.count)) : beginning
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

    private static func append(
        _ form: AttributeForm, _ value: borrowing Span<UInt8>, to bytes: inout SecretBytes
    ) {
        if form == .text {
            append(count: value.count - 2, to: &bytes)
            return bytes.append(value.extracting(1..<value.count - 1))
        }
        switch form.value(of: value) {
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

    private static func append(_ number: some FixedWidthInteger & UnsignedInteger, to bytes: inout SecretBytes) {
        let size = number.bitWidth / 8
        bytes.append(upTo: size) { output in
            for index in 1...size { output.append(UInt8(truncatingIfNeeded: number >> (8 * (size - index)))) }
        }
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
}
