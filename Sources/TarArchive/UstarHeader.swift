/// The limits and rules of the one kind of tar that is written and read here.
///
/// Strict ustar (POSIX.1-1988 §10.1.1): regular files, mode 0600, owner and group 0 without names, one modification
/// time for all, names without folders; no pax, GNU or base-256 extension; two zero blocks and then the end.
public enum TarProfile {
    /// Bytes in a block, the unit of the format.
    public static let blockSize = 512
    /// Members of an archive: a backup has six, and room for some more is left to later versions.
    public static let memberLimit = 16
    /// Bytes of a member, just under 8 GiB: what the eleven octal digits of ustar can say.
    public static let memberSizeLimit = 0o77_777_777_777
    /// Seconds since 1970, for the same reason; the year 2242.
    public static let timeLimit: Int64 = 0o77_777_777_777
    /// Bytes of a name: what the name field of ustar holds.
    public static let nameLimit = 100

    /// True for 1 to 100 letters, digits, dots, underscores and hyphens (ASCII), a letter or digit first.
    public static func isName(_ name: some Collection<UInt8>) -> Bool {
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

/// What one header block says, once every byte of it has been judged.
struct UstarHeader {
    let name: String
    /// Bytes of data.
    let length: UInt64
    /// Seconds since 1970.
    let modified: Int64

    /// A field of the header block that has one value in every archive of ours.
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

    // Magic and version come first: they tell a damaged header from a file that is no tar at all.
    private static let constants = [
        Constant("the magic is that of ustar", 257, "ustar\0"),
        Constant("the version is that of ustar", 263, "00"),
        Constant("a member is a regular file", 156, "0"),
        Constant("the mode is 0600", 100, "000600 \0"),
        Constant("the owner is 0", 108, "000000 \0"),
        Constant("the group is 0", 116, "000000 \0"),
        Constant("a member is no link", 157, zeros: 100),
        Constant("the owner has no name", 265, zeros: 32),
        Constant("the group has no name", 297, zeros: 32),
        Constant("a member is no device", 329, "000000 \0000000 \0"),
        Constant("a name has no prefix", 345, zeros: 155),
        Constant("the header ends in zeros", 500, zeros: 12),
    ]

    /// Judges a block of 512 bytes and throws the text of the first rule that it breaks.
    init(_ block: [UInt8]) throws(BrokenRule) {
        precondition(block.count == TarProfile.blockSize)
        for constant in Self.constants {
            let field = block[constant.offset..<constant.offset + constant.bytes.count]
            guard field.elementsEqual(constant.bytes) else { throw BrokenRule(constant.rule) }
        }
        guard Self.checksum(block) == Self.octal(block[148..<154]), block[154] == 0, block[155] == UInt8(ascii: " ")
        else { throw BrokenRule("the checksum fits the header") }

        let nameField = block[0..<100]
        let name = nameField.prefix { $0 != 0 }
        guard TarProfile.isName(name) else { throw BrokenRule("a name is letters, digits, dots, hyphens, underscores") }
        guard nameField[name.endIndex...].allSatisfy({ $0 == 0 }) else {
            throw BrokenRule("a name is padded with zeros")
        }
        self.name = String(decoding: name, as: UTF8.self)

        guard let length = Self.octal(block[124..<135]), block[135] == UInt8(ascii: " ") else {
            throw BrokenRule("the size is eleven octal digits")
        }
        self.length = length
        guard let modified = Self.octal(block[136..<147]), block[147] == UInt8(ascii: " ") else {
            throw BrokenRule("the time is eleven octal digits")
        }
        self.modified = Int64(modified)
    }

    /// The number that the digits spell, or nil; at most eleven digits, so that it cannot overflow.
    private static func octal(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
            number = number << 3 | UInt64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The sum of all bytes, with the checksum field itself taken as eight spaces.
    private static func checksum(_ block: [UInt8]) -> UInt64 {
        let spaces = 8 * UInt64(UInt8(ascii: " "))
        return block[..<148].reduce(spaces) { $0 + UInt64($1) } + block[156...].reduce(0) { $0 + UInt64($1) }
    }
}

/// The rule of the profile that a block breaks.
struct BrokenRule: Error {
    let rule: String

    init(_ rule: String) {
        self.rule = rule
    }
}
