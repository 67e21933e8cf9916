package import KCAgeEncryption
package import KCByteStreams

/// An identity that is typed from a recovery kit, line by line.
///
/// ```swift
/// var entry = KitEntry()
/// while let number = entry.nextLine {
///     if let problem = entry.take(try terminal.readLine("Line \(number): ")) { print(problem) }
/// }
/// let identity = try entry.identity()
/// ```
package struct KitEntry: ~Copyable {
    /// What is wrong with a line.
    package enum Problem: Hashable, Sendable {
        /// It has this many characters, and not `wanted`, its check character among them.
        case length(Int, wanted: Int)
        /// A character that no kit has; the offset counts from 1, without blanks.
        case character(offset: Int)
        /// A letter or digit that no kit has, because it is easily taken for another.
        case lookalike(Character, of: Character, offset: Int)
        /// Its check character does not fit: at least one character is wrong.
        case check
    }

    /// The number of the line to type next; nil if all are there.
    package var nextLine: Int? { taken < KitText.lineLengths.count ? taken + 1 : nil }

    private var text = SecretBytes(capacity: 128)
    private var taken = 0

    /// Begins with the first line.
    package init() { text.append(KitText.prefix.utf8.span) }

    /// Takes the next line; case, blanks and dashes do not matter, and its number may precede it.
    ///
    /// The whole identity, as a scanner reads it from the code of the kit, is taken as all lines.
    ///
    /// - Returns: what is wrong; the line is then to be typed again. Nil also for what precedes the first line.
    package mutating func take(_ typed: borrowing SecretBytes) -> Problem? {
        guard let number = nextLine else { preconditionFailure("all lines are there") }
        var line = Self.normalized(typed)
        let prefix = KitText.prefix.exact.replacing("-", with: "")
        if number == 1, line.withBytes({ $0.starts(with: prefix) }) {
            line.removeFirst(prefix.utf8.count)
            // It stands on a line of its own.
            if line.isEmpty { return nil }
        }
        let total = KitText.lineLengths.reduce(0, +)
        let isWhole = number == 1 && line.count == total
        let wanted = isWhole ? total : KitText.lineLengths[number - 1] + 1
        // Only the 1 of the first line cannot be one of its characters.
        if line.count == wanted + 1, line.withBytes({ $0[0] }) == UInt8(ascii: "0") + UInt8(number) {
            line.removeFirst(1)
        }
        if let problem = line.withBytes({ Self.strange($0) }) { return problem }
        guard line.count == wanted else { return .length(line.count, wanted: wanted) }
        if isWhole {
            line.withBytes { text.append($0) }
            taken = KitText.lineLengths.count
            return nil
        }
        let fits = line.withBytes { bytes in
            KitText.check(of: bytes.extracting(..<(wanted - 1)), number: number) == bytes[wanted - 1]
        }
        guard fits else { return .check }
        line.withBytes { text.append($0.extracting(..<(wanted - 1))) }
        taken += 1
        return nil
    }

    /// The identity; nil if its checksum is wrong, although that of each line is right.
    package consuming func identity() throws(AgeFailure) -> X25519Identity? {
        precondition(nextLine == nil, "lines are missing")
        return try text.withBytes { bytes throws(AgeFailure) in try X25519Identity.parse(bytes) }
    }

    /// The letters in upper case, without blanks and dashes.
    private static func normalized(_ typed: borrowing SecretBytes) -> SecretBytes {
        var line = SecretBytes(capacity: typed.count)
        typed.withBytes { bytes in
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "-"): continue
                case UInt8(ascii: "a")...UInt8(ascii: "z"): line.append(bytes[index] & ~0x20)
                default: line.append(bytes[index])
                }
            }
        }
        return line
    }

    /// The first character that no kit has.
    private static func strange(_ line: borrowing Span<UInt8>) -> Problem? {
        for index in line.indices where !KitText.alphabet.contains(line[index]) {
            switch line[index] {
            case UInt8(ascii: "O"): return .lookalike("O", of: "0", offset: index + 1)
            case UInt8(ascii: "I"): return .lookalike("I", of: "L", offset: index + 1)
            case UInt8(ascii: "1"): return .lookalike("1", of: "L", offset: index + 1)
            case UInt8(ascii: "B"): return .lookalike("B", of: "8", offset: index + 1)
            default: return .character(offset: index + 1)
            }
        }
        return nil
    }
}
