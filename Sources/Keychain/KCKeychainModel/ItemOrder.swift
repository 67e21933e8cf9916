extension Item {
    /// True if this item sorts before `other` in an archive: by class, then by the attributes of the unique key.
    ///
    /// Bytes compare as unsigned numbers, a prefix before its extension; absent attributes count as their defaults. Two
    /// different items of one keychain never compare as equal, so a duplicate key shows up as a break in the order.
    package func precedes(_ other: Item) -> Bool {
        if itemClass != other.itemClass { return itemClass < other.itemClass }
        for code in itemClass.uniqueKey {
            switch Self.compare(attributes, other.attributes, code) {
            case -1: return true
            case 1: return false
            default: continue
            }
        }
        return false
    }

    /// True if both have the same unique key, so that they cannot be in one keychain.
    package func hasKey(of other: Item) -> Bool {
        itemClass == other.itemClass
            && itemClass.uniqueKey.allSatisfy { Self.compare(attributes, other.attributes, $0) == 0 }
    }

    /// Returns -1, 0 or 1.
    private static func compare(_ left: Attributes, _ right: Attributes, _ code: AttributeCode) -> Int {
        switch (left.codes.contains(code), right.codes.contains(code)) {
        case (false, false): return 0
        case (true, true):
            let order = left.withMember(code) { form, bytes in
                right.withMember(code) { otherForm, otherBytes in
                    // Without escapes, the bytes of texts compare as they are, except for the quote at the end.
                    form != .text || otherForm != .text
                        ? nil
                        : Self.order(
                            bytes.extracting(..<(bytes.count - 1)), otherBytes.extracting(..<(otherBytes.count - 1)))
                }
            }
            if case .some(.some(.some(let order))) = order { return order }
        default: break
        }
        return compare(left[code], right[code], as: code)
    }

    private static func compare(_ left: AttributeValue?, _ right: AttributeValue?, as code: AttributeCode) -> Int {
        switch (left ?? keyDefault(code), right ?? keyDefault(code)) {
        case (.number(let left), .number(let right)): return order(left, right)
        case (.date(let left), .date(let right)): return order(left.microseconds, right.microseconds)
        case (let left, let right):
            let (left, right) = (left.keyBytes ?? [], right.keyBytes ?? [])
            return order(left.span, right.span)
        }
    }

    private static func order(_ left: Int64, _ right: Int64) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    private static func order(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        let shared = min(left.count, right.count)
        for index in 0..<shared where left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
        return order(Int64(left.count), Int64(right.count))
    }
}
