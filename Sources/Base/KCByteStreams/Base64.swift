/// Base64 (RFC 4648, section 4) in canonical form only, with padding or, as age writes it, without.
///
/// Secrets go from `SecretBytes` to `SecretBytes`; `[UInt8]` and strings are for public bytes.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let invalid: UInt8 = 0xff
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// The number of characters that encode `count` bytes.
    package static func encodedCount(_ count: Int, padded: Bool = true) -> Int {
        padded ? (count + 2) / 3 * 4 : (count * 4 + 2) / 3
    }

    /// Appends the encoding of `bytes`.
    package static func encode(
        _ bytes: borrowing Span<UInt8>, padded: Bool = true, into text: inout some ByteBuffer & ~Copyable
    ) {
        text.append(upTo: encodedCount(bytes.count, padded: padded)) { output in
            write(bytes, padded: padded, to: &output)
        }
    }

    /// Encodes bytes that are not secret.
    package static func encode(_ bytes: [UInt8], padded: Bool = true) -> String {
        var text: [UInt8] = []
        encode(bytes.span, padded: padded, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the decoded bytes; returns false and appends nothing unless `text` is canonical.
    package static func decode(
        _ text: borrowing Span<UInt8>, padded: Bool = true, into bytes: inout some ByteBuffer & ~Copyable
    ) -> Bool {
        guard let count = decodedCount(text, padded: padded) else { return false }
        var valid = true
        bytes.append(upTo: count) { output in
            valid = read(text, count: count, to: &output)
        }
        if !valid { bytes.removeLast(count) }
        return valid
    }

    /// Decodes bytes that are not secret; nil unless `text` is canonical.
    package static func decode(_ text: borrowing Span<UInt8>, padded: Bool = true) -> [UInt8]? {
        var bytes: [UInt8] = []
        return decode(text, padded: padded, into: &bytes) ? bytes : nil
    }

    /// Decodes bytes that are not secret; nil unless `text` is canonical.
    package static func decode(_ text: String, padded: Bool = true) -> [UInt8]? {
        decode(Array(text.utf8).span, padded: padded)
    }

    private static func write(_ bytes: borrowing Span<UInt8>, padded: Bool, to output: inout OutputSpan<UInt8>) {
        let alphabet = alphabet
        var index = 0
        while index + 2 < bytes.count {
            let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
            output.append(alphabet[group >> 18])
            output.append(alphabet[group >> 12 & 63])
            output.append(alphabet[group >> 6 & 63])
            output.append(alphabet[group & 63])
            index += 3
        }
        switch bytes.count - index {
        case 1:
            let group = Int(bytes[index]) << 4
            output.append(alphabet[group >> 6])
            output.append(alphabet[group & 63])
            if padded { for _ in 0..<2 { output.append(padding) } }
        case 2:
            let group = Int(bytes[index]) << 10 | Int(bytes[index + 1]) << 2
            output.append(alphabet[group >> 12])
            output.append(alphabet[group >> 6 & 63])
            output.append(alphabet[group & 63])
            if padded { output.append(padding) }
        default: break
        }
    }

    /// The number of bytes that `text` decodes to, from its length and padding; nil if no encoding has this length.
    private static func decodedCount(_ text: borrowing Span<UInt8>, padded: Bool) -> Int? {
        var length = text.count
        if padded {
            guard length % 4 == 0 else { return nil }
            for _ in 0..<2 where length > 0 && text[length - 1] == padding { length -= 1 }
        }
        guard length % 4 != 1 else { return nil }
        let count = length / 4 * 3 + max(0, length % 4 - 1)
        return encodedCount(count, padded: padded) == text.count ? count : nil
    }

    /// Appends exactly `count` bytes; false if a character is not in the alphabet or unused bits are not zero.
    private static func read(
        _ text: borrowing Span<UInt8>, count: Int, to output: inout OutputSpan<UInt8>
    ) -> Bool {
        let values = values
        var bad: UInt8 = 0
        func value(_ index: Int) -> Int {
            let value = values[Int(text[index])]
            bad |= value
            return Int(value)
        }
        var index = 0
        for _ in 0..<count / 3 {
            let group = value(index) << 18 | value(index + 1) << 12 | value(index + 2) << 6 | value(index + 3)
            output.append(UInt8(truncatingIfNeeded: group >> 16))
            output.append(UInt8(truncatingIfNeeded: group >> 8))
            output.append(UInt8(truncatingIfNeeded: group))
            index += 4
        }
        var unused = 0
        switch count % 3 {
        case 1:
            let group = value(index) << 6 | value(index + 1)
            output.append(UInt8(truncatingIfNeeded: group >> 4))
            unused = group & 15
        case 2:
            let group = value(index) << 12 | value(index + 1) << 6 | value(index + 2)
            output.append(UInt8(truncatingIfNeeded: group >> 10))
            output.append(UInt8(truncatingIfNeeded: group >> 2))
            unused = group & 3
        default: break
        }
        return bad & 0xc0 == 0 && unused == 0
    }
}
