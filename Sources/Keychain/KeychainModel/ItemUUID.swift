/// Identifies an item through updates, backups and restores: 16 bytes, written in lower case with dashes.
package struct ItemUUID: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    package let high: UInt64
    /// The last eight bytes, big-endian.
    package let low: UInt64

    /// Makes a UUID from its two halves.
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
        guard bytes.count == Self.spellingLength else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for index in bytes.indices {
            let byte = bytes[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 48
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - 87
            default: return nil
            }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// Parses the text form in either case; nil for anything else.
    package init?(_ text: String) {
        self.init(parsing: Array(text.lowercased().utf8).span)
    }
}
