/// Why a text is not the Bech32 spelling that was asked for.
public enum Bech32Failure: Error, Hashable, Sendable {
    /// It does not begin with the expected prefix and separator, in the expected case.
    case prefix
    /// A character is not of the alphabet, or the unused bits are not zero.
    case malformed
    /// The checksum does not fit: a character was mistyped or lost.
    case checksum
}

/// Bech32 (BIP 173) without its limit on length, as age spells its keys: a prefix, a `1`, the bytes, a checksum.
///
/// Keys go from wiped memory to wiped memory. The expected prefix decides the case of the whole text.
public enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let separator = UInt8(ascii: "1")
    private static let checksumLength = 6
    private static let caseBit: UInt8 = 0x20

    /// Appends the spelling of `bytes`, in upper case where `prefix` is.
    public static func encode(_ bytes: borrowing Span<UInt8>, prefix: String, into text: inout SecretBytes) {
        let upper = isUpper(prefix)
        var checksum = Checksum(prefix: prefix)
        for character in prefix.utf8 { text.append(character) }
        text.append(separator)
        var pending: UInt32 = 0
        var pendingBits = 0
        for index in bytes.indices {
            pending = (pending << 8 | UInt32(bytes[index])) & 0xfff
            pendingBits += 8
            while pendingBits >= 5 {
                pendingBits -= 5
                add(UInt8(pending >> UInt32(pendingBits) & 31))
            }
        }
        if pendingBits > 0 { add(UInt8(pending << UInt32(5 - pendingBits) & 31)) }
        for value in checksum.finalize() { text.append(character(value, upper)) }

        func add(_ value: UInt8) {
            checksum.add(value)
            text.append(character(value, upper))
        }
    }

    /// Appends the bytes that `text` spells behind `prefix`.
    ///
    /// - Throws: `Bech32Failure`; nothing is appended then.
    public static func decode(
        _ text: borrowing Span<UInt8>, prefix: String, into bytes: inout SecretBytes
    ) throws(Bech32Failure) {
        let head = Array(prefix.utf8) + [separator]
        guard text.count >= head.count + checksumLength, head.indices.allSatisfy({ text[$0] == head[$0] })
        else { throw .prefix }
        let values = try values(text.extracting(head.count...), upper: isUpper(prefix))
        var checksum = Checksum(prefix: prefix)
        values.withBytes { span in
            for index in span.indices { checksum.add(span[index]) }
        }
        guard checksum.isComplete else { throw .checksum }
        try regroup(values, into: &bytes)
    }

    /// The 5-bit value of each character.
    private static func values(
        _ characters: borrowing Span<UInt8>, upper: Bool
    ) throws(Bech32Failure) -> SecretBytes {
        var values = SecretBytes(capacity: characters.count)
        for index in characters.indices {
            let character = characters[index]
            let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character & ~caseBit)
            if isLetter && (character & caseBit == 0) != upper { throw .malformed }
            guard let value = alphabet.firstIndex(of: isLetter ? character | caseBit : character)
            else { throw .malformed }
            values.append(UInt8(value))
        }
        return values
    }

    /// Turns groups of 5 bits into groups of 8, without the checksum.
    private static func regroup(_ values: borrowing SecretBytes, into bytes: inout SecretBytes) throws(Bech32Failure) {
        let before = bytes.count
        var pending: UInt32 = 0
        var pendingBits = 0
        values.withBytes { span in
            for index in 0..<span.count - checksumLength {
                pending = (pending << 5 | UInt32(span[index])) & 0xfff
                pendingBits += 5
                if pendingBits >= 8 {
                    pendingBits -= 8
                    bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
                }
            }
        }
        guard pendingBits < 5, pending & (1 << UInt32(pendingBits) - 1) == 0 else {
            bytes.removeLast(bytes.count - before)
            throw .malformed
        }
    }

    private static func isUpper(_ prefix: String) -> Bool {
        !prefix.utf8.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    private static func character(_ value: UInt8, _ upper: Bool) -> UInt8 {
        let character = alphabet[Int(value)]
        return upper && character > UInt8(ascii: "9") ? character & ~caseBit : character
    }

    /// The checksum of BIP 173, computed over the lower-case text.
    private struct Checksum {
        private static let generators: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
        private var state: UInt32 = 1

        init(prefix: String) {
            let characters = prefix.utf8.map { (65...90).contains($0) ? $0 | caseBit : $0 }
            for character in characters { add(character >> 5) }
            add(0)
            for character in characters { add(character & 31) }
        }

        /// True when the values added so far end with their own checksum.
        var isComplete: Bool { state == 1 }

        mutating func add(_ value: UInt8) {
            let top = state >> 25
            state = (state & 0x1ff_ffff) << 5 ^ UInt32(value)
            for bit in 0..<5 where top >> UInt32(bit) & 1 == 1 { state ^= Self.generators[bit] }
        }

        mutating func finalize() -> [UInt8] {
            for _ in 0..<checksumLength { add(0) }
            let result = state ^ 1
            return (0..<checksumLength).map { UInt8(result >> UInt32(5 * (checksumLength - 1 - $0)) & 31) }
        }
    }
}
