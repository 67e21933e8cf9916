// Import marks, with which items of records that differ only in their secrets exist beside each other.

extension ItemUUID {
    /// The position, from 0, among records that only their order tells apart.
    ///
    /// The position is the last four bytes of the UUID of an imported item; the other bytes are the same for all these
    /// records.
    package var ordinal: UInt32 { UInt32(truncatingIfNeeded: low) }

    /// The UUID at another position among these records.
    package func with(ordinal: UInt32) -> ItemUUID {
        ItemUUID(high: high, low: low & ~0xffff_ffff | UInt64(ordinal))
    }
}

extension ItemUUID {
    /// True for a UUID (version 8, RFC 9562) that follows from what identifies an item in the place it comes from.
    package var isDerived: Bool { high & 0xf000 == 0x8000 }

    /// True if both were derived, and nothing but the position differs.
    package func isAlike(_ other: ItemUUID) -> Bool { isDerived && with(ordinal: 0) == other.with(ordinal: 0) }
}

extension Attributes {
    /// Adds an import mark to an attribute of the unique key, so that alike items can exist beside each other.
    ///
    /// - Parameter uuid: the UUID of the item, from which the mark follows.
    /// - Returns: false for a class without such an attribute.
    package mutating func mark(_ itemClass: ItemClass, for uuid: ItemUUID) -> Bool {
        guard let code = Self.marked(itemClass) else { return false }
        let number = UInt32(truncatingIfNeeded: uuid.high >> 32) ^ uuid.ordinal
        let digits = String(number, radix: 16)
        let mark = "import:" + String(repeating: "0", count: 8 - digits.count) + digits
        switch Self.unmarked(self[code]) {
        case .text(let text) where !text.isEmpty: self[code] = .text(text + " " + mark)
        case .data(let bytes) where !bytes.isEmpty: self[code] = .data(bytes + Array((" " + mark).utf8))
        default: self[code] = .text(mark)
        }
        return true
    }

    /// Removes an import mark.
    package mutating func removeMark() {
        for code in [AttributeCode.svce, .sdmn] { self[code] = Self.unmarked(self[code]) }
    }

    /// The attribute of a class that takes a mark.
    private static func marked(_ itemClass: ItemClass) -> AttributeCode? {
        switch itemClass {
        case .genericPassword: .svce
        case .internetPassword: .sdmn
        case .certificate, .key: nil
        }
    }

    /// A value without its mark.
    fileprivate static func unmarked(_ value: AttributeValue?) -> AttributeValue? {
        switch value {
        case .text(let text): return .text(String(decoding: unmarked(Array(text.utf8)), as: UTF8.self))
        case .data(let bytes): return .data(unmarked(bytes))
        case .number, .date, nil: return value
        }
    }

    private static func unmarked(_ bytes: [UInt8]) -> [UInt8] {
        let mark = Array("import:".utf8)
        let isMarked =
            bytes.count >= 15 && bytes.suffix(15).starts(with: mark)
            && bytes.suffix(8).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        if !isMarked { return bytes }
        let rest = bytes.dropLast(15)
        if rest.isEmpty { return [] }
        // A blank stands before the mark, or it is none.
        return rest.last == 0x20 ? Array(rest.dropLast()) : bytes
    }
}

extension Item {
    /// The class and unique key without import marks, access group and synchronizable flag; equal for alike items.
    package struct Likeness: Hashable, Sendable {
        private let itemClass: ItemClass
        private let key: [AttributeValue?]

        fileprivate init(_ item: Item) {
            itemClass = item.itemClass
            key = item.itemClass.uniqueKey.filter { ![.agrp, .sync, .musr].contains($0) }.map { code in
                let value = item.attributes[code] ?? Item.keyDefault(code)
                return [.svce, .sdmn].contains(code) ? Attributes.unmarked(value) : value
            }
        }
    }

    /// The properties that alike items have in common.
    package var likeness: Likeness { Likeness(self) }
}
