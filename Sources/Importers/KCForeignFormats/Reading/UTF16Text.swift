internal import KCByteStreams

extension Span<UInt8> {
    /// Converts the UTF-16 text of a range to UTF-8; nil if it is not valid.
    func utf8(ofUTF16 range: Range<Int>, _ order: ByteCursor.Order) -> SecretBytes? {
        guard range.count.isMultiple(of: 2) else { return nil }
        var text = SecretBytes(capacity: range.count * 3 / 2)
        var high: UInt32?
        for index in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            let (first, second) = (UInt32(self[index]), UInt32(self[index + 1]))
            let unit = order == .bigEndian ? first << 8 | second : second << 8 | first
            let scalar: UInt32
            switch (high, unit) {
            case (nil, 0xd800...0xdbff):
                high = unit
                continue
            case (let lead?, 0xdc00...0xdfff): scalar = 0x1_0000 + (lead - 0xd800) << 10 + (unit - 0xdc00)
            case (nil, _) where !(0xdc00...0xdfff).contains(unit): scalar = unit
            default: return nil
            }
            high = nil
            guard let character = UnicodeScalar(scalar) else { return nil }
            for byte in character.utf8 { text.append(byte) }
        }
        if high != nil { return nil }
        return text
    }
}
