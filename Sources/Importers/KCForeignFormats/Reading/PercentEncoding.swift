internal import KCByteStreams

extension Span<UInt8> {
    /// Decodes the percent-encoded bytes of a range; a `%` without two digits is kept.
    func percentDecoded(_ range: Range<Int>) -> SecretBytes {
        var decoded = SecretBytes(capacity: range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            if self[position] == UInt8(ascii: "%"), position + 2 < range.upperBound,
                let byte = byte(ofHexadecimalAt: position + 1), byte != 0
            {
                // As in git, '%00' is no zero byte.
                decoded.append(byte)
                position += 3
            } else {
                decoded.append(self[position])
                position += 1
            }
        }
        return decoded
    }
}
