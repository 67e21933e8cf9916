/// Base32 (RFC 4648, section 6), in which the seeds of one-time passwords are written.
package enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The encoding of `bytes`, without padding.
    package static func encode(_ bytes: borrowing Span<UInt8>) -> SecretBytes {
        var text = SecretBytes(capacity: bytes.count * 8 / 5 + 1)
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            count += 8
            while count >= 5 {
                text.append(alphabet[Int(bits >> (count - 5) & 31)])
                count -= 5
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (5 - count) & 31)]) }
        return text
    }

    /// The bytes that `text` encodes, in letters of either case, with padding or without; nil for anything else.
    ///
    /// Unused bits need not be zero, since authenticators do not look at them.
    package static func decode(_ text: borrowing Span<UInt8>) -> SecretBytes? {
        var length = text.count
        while length > 0, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
        // No number of bytes has an encoding of such a length.
        if [1, 3, 6].contains(length % 8) { return nil }
        var bytes = SecretBytes(capacity: length * 5 / 8 + 1)
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for index in 0..<length {
            guard let value = value(text[index]) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return consume bytes
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
        default: nil
        }
    }
}
