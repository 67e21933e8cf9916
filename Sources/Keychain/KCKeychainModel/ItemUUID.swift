/// Identifies an item through updates, backups and restores: 16 bytes, written in lower case with dashes.
package struct ItemUUID: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    package let high: UInt64
    /// The last eight bytes, big-endian.
    package let low: UInt64

    /// Creates a UUID from its two halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a random UUID (version 4, RFC 9562); it is an identifier, not a secret.
    package init() {
        high = UInt64.random(in: .min ... .max) & 0xffff_ffff_ffff_0fff | 0x4000
        low = UInt64.random(in: .min ... .max) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    }

    /// Creates a UUID from 16 bytes; nil for any other number.
    package init?(bytes: borrowing Span<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            halves.0 = halves.0 << 8 | UInt64(bytes[index])
            halves.1 = halves.1 << 8 | UInt64(bytes[index + 8])
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        [UInt8](capacity: 16) { output in
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: high >> shift))
            }
            for shift in stride(from: 56, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: low >> shift)) }
        }
    }
}

extension ItemUUID: LosslessStringConvertible {
    /// The length of the text form in bytes.
    package static let spellingLength = 36

    /// The 36-character text form in lower case.
    package var description: String {
        let bytes = [UInt8](capacity: Self.spellingLength) { output in spell(into: &output) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the text form, `spellingLength` bytes.
    package func spell(into output: inout OutputSpan<UInt8>) {
        Self.spell(high >> 32, bytes: 4, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.spell(high >> 16, bytes: 2, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.spell(high, bytes: 2, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.spell(low >> 48, bytes: 2, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.spell(low, bytes: 6, to: &output)
    }

    /// Appends the last `bytes` bytes of `half` in hexadecimal.
    private static func spell(_ half: UInt64, bytes: UInt64, to output: inout OutputSpan<UInt8>) {
        var shift = bytes * 8
        while shift > 0 {
            shift -= 4
            let digit = UInt8(truncatingIfNeeded: half >> shift) & 15
            output.append(digit < 10 ? digit + 48 : digit + 87)
        }
    }

    /// Parses the lower-case text form; nil for anything else.
    package init?(parsing bytes: borrowing Span<UInt8>) {
        guard bytes.count == Self.spellingLength, bytes[8] == UInt8(ascii: "-"), bytes[13] == UInt8(ascii: "-"),
            bytes[18] == UInt8(ascii: "-"), bytes[23] == UInt8(ascii: "-")
        else { return nil }
        var isValid = true
        func number(_ first: Int, _ second: Int) -> UInt64 {
            var digits: UInt64 = 0
            for index in first..<first + 4 { digits = digits << 8 | UInt64(bytes[index]) }
            for index in second..<second + 4 { digits = digits << 8 | UInt64(bytes[index]) }
            let (value, isHexadecimal) = Self.eightDigits(digits)
            isValid = isValid && isHexadecimal
            return value
        }
        let high = number(0, 4) << 32 | number(9, 14)
        let low = number(19, 24) << 32 | number(28, 32)
        guard isValid else { return nil }
        self.init(high: high, low: low)
    }

    /// The value of eight lower-case hexadecimal digits, computed for all bytes at once.
    ///
    /// A reader parses two UUIDs for each item.
    private static func eightDigits(_ digits: UInt64) -> (value: UInt64, isValid: Bool) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // 1 in each byte that is a letter: 0x61 to 0x66, where a digit is 0x30 to 0x39.
        let letters = digits >> 6 & ones
        let nibbles = digits & (15 &* ones)
        let hasRightRow = digits & (0xf0 &* ones) == 0x30 &* ones &+ 0x30 &* letters
        // 10 and more after a digit, or 7 and more after a letter, carry into bit 4; a letter is never 0.
        let isInRow = (nibbles &+ 6 &* ones &+ 3 &* letters) & (0x10 &* ones) == 0
        let isNoZero = (nibbles &+ 15 &* letters) & (0x10 &* ones) == letters << 4
        var value = nibbles &+ 9 &* letters
        value = (value | value >> 4) & 0x00ff_00ff_00ff_00ff
        value = (value | value >> 8) & 0x0000_ffff_0000_ffff
        value = (value | value >> 16) & 0x0000_0000_ffff_ffff
        return (value, hasRightRow && isInRow && isNoZero)
    }

    /// Parses the text form in either case; nil for anything else.
    package init?(_ text: String) {
        self.init(parsing: Array(text.lowercased().utf8).span)
    }
}
