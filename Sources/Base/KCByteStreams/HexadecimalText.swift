extension Span<UInt8> {
    /// Decodes hexadecimal digits of either case into wiped memory; nil for anything else.
    package func bytes(ofHexadecimal range: Range<Int>) -> SecretBytes? {
        guard range.count.isMultiple(of: 2) else { return nil }
        var bytes = SecretBytes(capacity: range.count / 2)
        for index in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            guard let byte = byte(ofHexadecimalAt: index) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Decodes the two hexadecimal digits at an index; nil if these are not two digits.
    package func byte(ofHexadecimalAt index: Int) -> UInt8? {
        guard let high = Character(UnicodeScalar(self[index])).hexDigitValue,
            let low = Character(UnicodeScalar(self[index + 1])).hexDigitValue
        else { return nil }
        return UInt8(high << 4 | low)
    }
}
