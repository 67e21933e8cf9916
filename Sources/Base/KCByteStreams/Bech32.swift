/// Bech32 of BIP 173 without its length limit, as the age specification uses it: a prefix, `1`, and checksummed data.
///
/// The checksum detects up to four wrong characters in a text below 90 characters. Characters are looked up by value,
/// so timing reveals a little about them to a process that shares the cache. The leak is acceptable: keys are read
/// rarely, and an attacker cannot trigger it.
package enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let invalid: UInt8 = 0xff
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
    private static let separator = UInt8(ascii: "1")
    private static let checksumLength = 6

    /// Appends the encoding of `bytes`, all in upper case or all in lower case.
    ///
    /// - Parameter prefix: at least one printable ASCII character; its case is ignored.
    package static func encode(
        prefix: String, _ bytes: borrowing Span<UInt8>, uppercase: Bool, into text: inout some ByteBuffer & ~Copyable
    ) {
        let prefix = lowered(prefix)
        let alphabet = alphabet
        var checksum = Checksum(prefix)
        let count = prefix.count + 1 + (bytes.count * 8 + 4) / 5 + checksumLength
        text.append(upTo: count) { output in
            func write(_ group: UInt8) { output.append(cased(alphabet[Int(group)], uppercase)) }
            for character in prefix { output.append(cased(character, uppercase)) }
            output.append(separator)
            var pending: UInt32 = 0
            var pendingBits = 0
            for index in bytes.indices {
                pending = pending << 8 | UInt32(bytes[index])
                pendingBits += 8
                while pendingBits >= 5 {
                    pendingBits -= 5
                    let group = UInt8(pending >> pendingBits & 31)
                    checksum.add(group)
                    write(group)
                }
            }
            if pendingBits > 0 {
                let group = UInt8(pending << (5 - pendingBits) & 31)
                checksum.add(group)
                write(group)
            }
            for group in checksum.finalize() { write(group) }
        }
    }

    /// Appends the decoded bytes.
    ///
    /// - Returns: false, with nothing appended, unless `text` is what `encode` produces for this prefix and case.
    package static func decode(
        _ text: borrowing Span<UInt8>, prefix: String, uppercase: Bool, into bytes: inout some ByteBuffer & ~Copyable
    ) -> Bool {
        let prefix = lowered(prefix)
        let start = prefix.count + 1
        guard text.count >= start + checksumLength, text[start - 1] == separator else { return false }
        for (index, character) in prefix.enumerated() {
            guard text[index] == cased(character, uppercase) else { return false }
        }
        let before = bytes.count
        var valid = true
        bytes.append(upTo: (text.count - start - checksumLength) * 5 / 8) { output in
            valid = read(text, from: start, Checksum(prefix), uppercase: uppercase, to: &output)
        }
        if !valid { bytes.removeLast(bytes.count - before) }
        return valid
    }

    /// Appends the bytes; false for an invalid character, a wrong checksum, or padding that is too long or not zero.
    private static func read(
        _ text: borrowing Span<UInt8>, from start: Int, _ initial: Checksum, uppercase: Bool,
        to output: inout OutputSpan<UInt8>
    ) -> Bool {
        let values = values
        var checksum = initial
        var pending: UInt32 = 0
        var pendingBits = 0
        for index in start..<text.count {
            let value = values[Int(lowered(text[index]))]
            guard value != invalid, text[index] == cased(lowered(text[index]), uppercase) else { return false }
            checksum.add(value)
            if index >= text.count - checksumLength { continue }
            pending = (pending << 5 | UInt32(value)) & 0xfff
            pendingBits += 5
            if pendingBits >= 8 {
                pendingBits -= 8
                output.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
            }
        }
        return checksum.isValid && pendingBits < 5 && pending & (1 << pendingBits - 1) == 0
    }

    private static func lowered(_ prefix: String) -> [UInt8] {
        precondition(!prefix.isEmpty, "a prefix has at least one character")
        return prefix.utf8.map { character in
            precondition((33...126).contains(character), "a prefix is printable ASCII")
            return lowered(character)
        }
    }

    private static func lowered(_ character: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character) ? character | 0x20 : character
    }

    private static func cased(_ character: UInt8, _ uppercase: Bool) -> UInt8 {
        uppercase && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character & ~0x20 : character
    }
}

extension Bech32 {
    /// The BCH code over groups of five bits that ends a Bech32 text (BIP 173, "Checksum").
    package struct Checksum {
        private var state: UInt32 = 1

        /// Starts with a prefix of printable ASCII characters, whose case is ignored.
        package init(prefix: String) { self.init(lowered(prefix)) }

        /// Starts with a lower-case prefix.
        fileprivate init(_ prefix: [UInt8]) {
            for character in prefix { add(character >> 5) }
            add(0)
            for character in prefix { add(character & 31) }
        }

        /// Adds the value of a character of the data, at most 31.
        package mutating func add(_ group: UInt8) {
            let top = state >> 25
            state = (state & 0x1ff_ffff) << 5 ^ UInt32(group)
            if top & 1 != 0 { state ^= 0x3b6a_57b2 }
            if top & 2 != 0 { state ^= 0x2650_8e6d }
            if top & 4 != 0 { state ^= 0x1ea1_19fa }
            if top & 8 != 0 { state ^= 0x3d42_33dd }
            if top & 16 != 0 { state ^= 0x2a14_62b3 }
        }

        /// True if the groups added last are the checksum of those before.
        package var isValid: Bool { state == 1 }

        /// The six groups that make the text valid.
        fileprivate consuming func finalize() -> [UInt8] {
            for _ in 0..<6 { add(0) }
            let code = state ^ 1
            return (0..<6).map { UInt8(code >> (25 - 5 * $0) & 31) }
        }
    }
}
