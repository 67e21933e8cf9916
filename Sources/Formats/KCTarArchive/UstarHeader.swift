/// The limits and rules of the tar archives that this program writes and reads.
///
/// Strict ustar (POSIX.1-1988 §10.1.1): regular files, mode 0600, owner and group 0 without names, the same
/// modification time for all members, names without folders; no pax, GNU or base-256 extensions; two zero blocks, and
/// nothing after them.
package enum TarProfile {
    /// The size of a block in bytes, the unit of the format.
    package static let blockSize = 512
    /// The maximum number of members; a backup has six, which leaves room for later versions.
    package static let memberLimit = 16
    /// The maximum size of a member in bytes, just under 8 GiB: the largest number that ustar's eleven octal digits can
    /// hold.
    package static let memberSizeLimit = 0o77_777_777_777
    /// The latest modification time in seconds since 1970, limited for the same reason; in the year 2242.
    package static let timeLimit: Int64 = 0o77_777_777_777
    /// The maximum length of a name in bytes, which is that of ustar's name field.
    package static let nameLimit = 100

    /// True for 1 to 100 ASCII letters, digits, dots, underscores and hyphens that start with a letter or digit.
    package static func isName(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, name.count <= nameLimit, isAlphanumeric(first) else { return false }
        return name.allSatisfy {
            isAlphanumeric($0) || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0)
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// A header block of which every byte has been checked.
struct UstarHeader {
    let name: String
    /// The size of the data in bytes.
    let length: UInt64
    /// Seconds since 1970.
    let modified: Int64

    /// A header field with a fixed value.
    private struct Constant {
        let rule: String
        let offset: Int
        let bytes: [UInt8]

        init(_ rule: String, _ offset: Int, _ text: String) {
            self.rule = rule
            self.offset = offset
            bytes = Array(text.utf8)
        }

        init(_ rule: String, _ offset: Int, zeros count: Int) {
            self.rule = rule
            self.offset = offset
            bytes = [UInt8](repeating: 0, count: count)
        }
    }

    // The magic and the version come first, to distinguish a damaged header from a file that is not a tar archive at
    // all.
    private static let constants = [
        Constant("the magic is that of ustar", 257, "ustar\0"),
        Constant("the version is that of ustar", 263, "00"),
        Constant("a member is a regular file", 156, "0"),
        Constant("a member is no link", 157, zeros: 100),
        Constant("the owner has no name", 265, zeros: 32),
        Constant("the group has no name", 297, zeros: 32),
        Constant("a name has no prefix", 345, zeros: 155),
        Constant("the header ends in zeros", 500, zeros: 12),
    ]

    /// A numeric field, in the only encoding that this profile allows.
    private struct Number {
        let name: String
        let offset: Int
        let digits: Int
        /// The bytes that must follow the digits.
        let end: [UInt8]

        init(_ name: String, _ offset: Int, digits: Int, end: String) {
            self.name = name
            self.offset = offset
            self.digits = digits
            self.end = Array(end.utf8)
        }

        /// Reads the field; every other encoding is a broken rule.
        func read(_ block: [UInt8]) throws(BrokenRule) -> UInt64 {
            let field = block[offset..<offset + digits + end.count]
            guard let value = UstarHeader.octal(field.prefix(digits)), field.suffix(end.count).elementsEqual(end) else {
                let words = end.map { $0 == 0 ? "a zero byte" : "a space" }.joined(separator: " and ")
                throw BrokenRule("the \(name) is spelled as \(digits) octal digits, then \(words)")
            }
            return value
        }
    }

    // Encoded like libarchive. GNU tar writes the same numbers with one digit more and without a space.
    private static let fixedNumbers: [(field: Number, value: UInt64, rule: String)] = [
        (Number("mode", 100, digits: 6, end: " \0"), 0o600, "the mode is 0600"),
        (Number("owner", 108, digits: 6, end: " \0"), 0, "the owner is 0"),
        (Number("group", 116, digits: 6, end: " \0"), 0, "the group is 0"),
        (Number("device number", 329, digits: 6, end: " \0"), 0, "a member is no device"),
        (Number("device number", 337, digits: 6, end: " \0"), 0, "a member is no device"),
    ]
    private static let sizeField = Number("size", 124, digits: 11, end: " ")
    private static let timeField = Number("time", 136, digits: 11, end: " ")
    private static let checksumField = Number("checksum", 148, digits: 6, end: "\0 ")

    /// Checks a block of 512 bytes and throws the first rule that it breaks.
    init(_ block: [UInt8]) throws(BrokenRule) {
        precondition(block.count == TarProfile.blockSize)
        for constant in Self.constants {
            let field = block[constant.offset..<constant.offset + constant.bytes.count]
            guard field.elementsEqual(constant.bytes) else { throw BrokenRule(constant.rule) }
        }
        for number in Self.fixedNumbers where try number.field.read(block) != number.value {
            throw BrokenRule(number.rule)
        }
        guard try Self.checksumField.read(block) == Self.checksum(block) else {
            throw BrokenRule("the checksum fits the header")
        }

        let nameField = block[0..<100]
        let name = nameField.prefix { $0 != 0 }
        guard TarProfile.isName(name) else { throw BrokenRule("a name is letters, digits, dots, hyphens, underscores") }
        guard nameField[name.endIndex...].allSatisfy({ $0 == 0 }) else {
            throw BrokenRule("a name is padded with zeros")
        }
        self.name = String(decoding: name, as: UTF8.self)

        length = try Self.sizeField.read(block)
        modified = Int64(try Self.timeField.read(block))
    }

    /// The value of the octal digits, or nil; there are at most eleven, so it cannot overflow.
    fileprivate static func octal(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
            number = number << 3 | UInt64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The sum of all bytes, with the checksum field itself counted as eight spaces.
    private static func checksum(_ block: [UInt8]) -> UInt64 {
        let spaces = 8 * UInt64(UInt8(ascii: " "))
        return block[..<148].reduce(spaces) { $0 + UInt64($1) } + block[156...].reduce(0) { $0 + UInt64($1) }
    }
}

/// The rule of the profile that a block violates.
struct BrokenRule: Error {
    let rule: String

    init(_ rule: String) {
        self.rule = rule
    }
}
