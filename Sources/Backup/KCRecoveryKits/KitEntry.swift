package import KCAgeEncryption
package import KCByteStreams

/// An identity that is typed from a recovery kit, line by line.
///
/// ```swift
/// var entry = KitEntry()
/// while let number = entry.nextLine {
///     let answer = entry.take(try terminal.readLine("Line \(number): "))
///     if case .problem(let problem) = answer { print(problem) }
/// }
/// let reading = try entry.finish(known: [])
/// ```
package struct KitEntry: ~Copyable {
    /// The result of taking a line.
    package enum Answer: Hashable, Sendable {
        case taken
        /// Something in it is wrong or missing, which is looked for when all lines are there.
        case doubtful
        /// The line is to be typed again.
        case problem(Problem)
    }

    /// The mistake in a line.
    package enum Problem: Hashable, Sendable {
        /// The line has this many characters, and not `wanted`, its check character among them.
        case length(Int, wanted: Int)
        /// A character that no kit has; the offset counts from 1, without blanks.
        case character(offset: Int)
        /// A letter or digit that no kit has, because it is easily taken for another.
        case lookalike(Character, of: Character, offset: Int)
        /// Its check character does not fit: at least one character is wrong.
        case check
        /// More characters than `KitEntry.erasureLimit` are said to be illegible.
        case illegible(Int)
    }

    /// Typed in the place of a character that cannot be read.
    package static let erasure = UInt8(ascii: "?")
    /// The number of such characters in a line of which the others tell them.
    package static let erasureLimit = 2

    /// The number of the line to type next; nil if all are there.
    package var nextLine: Int? { kinds.count < KitText.lineLengths.count ? kinds.count + 1 : nil }

    // All lines, one after the other, each with its check character.
    private var text = SecretBytes(capacity: 128)
    private var kinds: [KitSearch.Kind] = []
    // The kinds of key that the text before the first line leaves.
    private var keys = NativeIdentity.Kind.allCases
    // The line that was refused last, in case that it comes again.
    private var refused = SecretBytes(capacity: 32)

    /// Begins with the first line.
    package init() {}

    /// Takes the next line; case, blanks and dashes do not matter, and its number may precede it.
    ///
    /// The whole identity, as a scanner reads it from the code of the kit, is taken as all lines. A line that is typed
    /// twice, each time the same, is taken although its check character does not fit: it may be wrong on the paper.
    /// Text before the first line is taken and dropped.
    package mutating func take(_ typed: borrowing SecretBytes) -> Answer {
        guard let number = nextLine else { preconditionFailure("all lines are there") }
        var line = Self.normalized(typed)
        if number == 1, let kind = removePrefix(from: &line) {
            keys = [kind]
            // The prefix stands on a line of its own.
            if line.isEmpty { return .taken }
        }
        let total = KitText.lineLengths.reduce(0, +)
        let isWhole = number == 1 && line.count == total
        let wanted = isWhole ? total : KitText.lineLengths[number - 1] + 1
        // Only the 1 of the first line cannot be one of its characters.
        if line.count == wanted + 1, line.withBytes({ $0[0] }) == UInt8(ascii: "0") + UInt8(number) {
            line.removeFirst(1)
        }
        if let problem = line.withBytes({ Self.strange($0, mayBeIllegible: !isWhole) }) { return .problem(problem) }
        guard line.count == wanted else { return .problem(.length(line.count, wanted: wanted)) }
        if isWhole {
            takeWhole(line)
            return .taken
        }
        let illegible = line.withBytes { bytes in bytes.indices.count { bytes[$0] == Self.erasure } }
        if illegible > Self.erasureLimit { return .problem(.illegible(illegible)) }
        let kind: KitSearch.Kind
        if illegible > 0 {
            kind = .incomplete
        } else if line.withBytes({ KitText.hasCheck($0, number: number) }) {
            kind = .right
        } else if refused.withBytes({ refused in line.withBytes { $0.isEqual(to: refused) } }) {
            kind = .wrong
        } else {
            refused = line.copy()
            return .problem(.check)
        }
        refused.removeAll()
        line.withBytes { text.append($0) }
        kinds.append(kind)
        return kind == .right ? .taken : .doubtful
    }

    /// The result of reading all lines.
    package enum Reading {
        /// They are right.
        case identity(NativeIdentity)
        /// They are this identity if the lines with these numbers have one mistake each, of the kinds that `KitSearch` names.
        case repaired(NativeIdentity, lines: [Int])
        /// They are no identity, and not nearly one.
        case nothing
    }

    /// Reads all lines, and looks for what they may have to be if they are wrong.
    ///
    /// - Parameter known: the public keys of kits, which decide if there are several possibilities.
    package consuming func finish(known: [NativeRecipient]) throws(AgeFailure) -> Reading {
        precondition(nextLine == nil, "lines are missing")
        return try KitSearch(text: text, kinds: kinds, keys: keys).reading(known: known)
    }

    /// Removes what precedes the first line; nil if that is not there.
    private func removePrefix(from line: inout SecretBytes) -> NativeIdentity.Kind? {
        for kind in NativeIdentity.Kind.allCases {
            let prefix = KitText.prefix(kind).exact.replacing("-", with: "")
            guard line.withBytes({ $0.starts(with: prefix) }) else { continue }
            line.removeFirst(prefix.utf8.count)
            return kind
        }
        return nil
    }

    /// Takes what has no check characters.
    private mutating func takeWhole(_ key: borrowing SecretBytes) {
        var start = 0
        for (index, length) in KitText.lineLengths.enumerated() {
            key.withBytes { bytes in
                let line = bytes.extracting(start..<start + length)
                text.append(line)
                text.append(KitText.check(of: line, number: index + 1))
            }
            kinds.append(.right)
            start += length
        }
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
    private static func strange(_ line: borrowing Span<UInt8>, mayBeIllegible: Bool) -> Problem? {
        for index in line.indices where !KitText.alphabet.contains(line[index]) {
            switch line[index] {
            case UInt8(ascii: "O"): return .lookalike("O", of: "0", offset: index + 1)
            case UInt8(ascii: "I"): return .lookalike("I", of: "L", offset: index + 1)
            case UInt8(ascii: "1"): return .lookalike("1", of: "L", offset: index + 1)
            case UInt8(ascii: "B"): return .lookalike("B", of: "8", offset: index + 1)
            case erasure where mayBeIllegible: continue
            default: return .character(offset: index + 1)
            }
        }
        return nil
    }
}
