internal import KCByteStreams
internal import KCItemSources

/// The groups and lines of a plain-text keyring.
///
/// The daemon writes secrets verbatim, including line feeds, and cannot read such a file afterwards. A secret is
/// therefore read up to the dates that the daemon writes after it.
enum KeyFile {
    /// The maximum number of keys in a group; the daemon writes at most six.
    private static let keyLimit = 100

    struct Group {
        /// `ID` for an item, `ID:…` for a part of one; of a name that is incomplete, what is left of the ID.
        let name: ExactText
        /// From 1.
        let line: Int
        var values: [Value] = []
        /// The first thing that is wrong with the group, if anything is.
        var damage: ForeignFailure?

        subscript(key: String) -> Value? { values.first { $0.key == key.exact } }
    }

    struct Value {
        let key: ExactText
        /// The bytes after the equals sign, without the final line feed.
        let range: Range<Int>
        /// From 1.
        let line: Int
        let hasSeveralLines: Bool
    }

    // Each takes some 32 bytes of memory; an item has about twelve.
    private static let linesLimit = 10_000_000

    /// Reads all groups; those with lines that the daemon does not write are marked as damaged.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `damagedLine` for a line above the first group, `limit`).
    static func groups(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [Group] {
        // The daemon ends every line with a line feed; without one, the last line may be incomplete.
        guard bytes.count > 0, bytes[bytes.count - 1] == UInt8(ascii: "\n") else {
            throw .damaged("its last line does not end")
        }
        var lines: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? bytes.count
            lines.append(start..<end)
            guard lines.count <= linesLimit else {
                throw .limit("lines", found: UInt64(lines.count), allowed: UInt64(linesLimit))
            }
            start = end + 1
        }
        let secretEnds = secretEnds(lines, in: bytes)
        var groups: [Group] = []
        var names: Set<ExactText> = []
        var index = 0
        while index < lines.count {
            let line = trimmed(lines[index], in: bytes)
            defer { index += 1 }
            if line.isEmpty || bytes[line.lowerBound] == UInt8(ascii: "#") { continue }
            if bytes[line.lowerBound] == UInt8(ascii: "[") {
                groups.append(group(line, index + 1, &names, in: bytes))
                continue
            }
            guard let group = groups.last else { throw .damagedLine(index + 1, "it precedes the first group") }
            let first = index
            do throws(ForeignFailure) {
                let (key, start) = try keyOfLine(line, index + 1, in: bytes)
                guard group[key] == nil else { throw .damagedLine(index + 1, "a key occurs twice") }
                guard group.values.count < keyLimit else { throw .damagedLine(index + 1, "a group has too many keys") }
                // The daemon writes the type of an item before its secret, and the dates after it.
                if key.exact == "secret", group["item-type"] != nil, group["mtime"] == nil, let end = secretEnds[index]
                {
                    index = end
                }
                groups[groups.count - 1].values.append(
                    Value(
                        key: key.exact, range: start..<lines[index].upperBound, line: first + 1,
                        hasSeveralLines: index > first))
            } catch {
                groups[groups.count - 1].damage = group.damage ?? error
            }
        }
        return groups
    }

    /// A line without leading blanks and without a trailing carriage return.
    static func trimmed(_ line: Range<Int>, in bytes: borrowing Span<UInt8>) -> Range<Int> {
        var (start, end) = (line.lowerBound, line.upperBound)
        if start < end, bytes[end - 1] == 0x0d { end -= 1 }
        while start < end, isBlank(bytes[start]) { start += 1 }
        return start..<end
    }

    fileprivate static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0c, 0x0d].contains(byte) }

    private static func group(
        _ line: Range<Int>, _ number: Int, _ names: inout Set<ExactText>, in bytes: borrowing Span<UInt8>
    ) -> Group {
        var end = line.upperBound
        while isBlank(bytes[end - 1]) { end -= 1 }
        if bytes[end - 1] == UInt8(ascii: "]"), end - line.lowerBound > 2,
            let name = bytes.text(line.lowerBound + 1..<end - 1), !name.utf8.contains(where: { "[]".utf8.contains($0) })
        {
            let isNew = names.insert(name.exact).inserted
            return Group(
                name: name.exact, line: number, damage: isNew ? nil : .damagedLine(number, "a group occurs twice"))
        }
        let colon = line.first { bytes[$0] == UInt8(ascii: ":") }
        let item = colon.flatMap { bytes.text(line.lowerBound + 1..<$0) }
        return Group(
            name: item.map { "\($0):".exact } ?? "", line: number,
            damage: .damagedLine(number, "the name of a group is incomplete"))
    }

    private static func keyOfLine(
        _ line: Range<Int>, _ number: Int, in bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (key: String, valueStart: Int) {
        guard let equals = line.first(where: { bytes[$0] == UInt8(ascii: "=") }) else {
            throw .damagedLine(number, "it is neither a group nor a value")
        }
        var end = equals
        while end > line.lowerBound, isBlank(bytes[end - 1]) { end -= 1 }
        guard end > line.lowerBound, let key = bytes.text(line.lowerBound..<end) else {
            throw .damagedLine(number, "it is neither a group nor a value")
        }
        return (key, equals + 1)
    }

    // MARK: Secrets of several lines

    /// The last line of a secret that begins at each line, in the form that the daemon writes.
    ///
    /// A secret ends before the next dates that end an item, whatever its lines look like. Nil if what looks like another
    /// item begins before them: then the item may have no dates, and its secret is a single line.
    private static func secretEnds(_ lines: [Range<Int>], in bytes: borrowing Span<UInt8>) -> [Int?] {
        var ends = [Int?](repeating: nil, count: lines.count)
        var end: Int?
        // From the last line up, so that each line is looked at once.
        for index in lines.indices.reversed() {
            ends[index] = end
            if areDates(index, lines, bytes) {
                end = index - 1
            } else if isStartOfItem(index, lines, bytes) {
                end = nil
            }
        }
        return ends
    }

    /// True if the group of an item, or a part of one, begins at this line.
    private static func isStartOfItem(_ index: Int, _ lines: [Range<Int>], _ bytes: borrowing Span<UInt8>) -> Bool {
        guard index > 0, lines[index - 1].isEmpty, isItemGroup(lines[index], bytes), index + 1 < lines.count else {
            return false
        }
        return ["item-type=", "name=", "display-name="].contains { key in
            bytes.extracting(lines[index + 1]).starts(with: key)
        }
    }

    /// True if both dates that end an item's group are at this line, and nothing in the group follows them.
    private static func areDates(_ index: Int, _ lines: [Range<Int>], _ bytes: borrowing Span<UInt8>) -> Bool {
        guard index + 1 < lines.count, isDate("mtime=", lines[index], bytes), isDate("ctime=", lines[index + 1], bytes)
        else { return false }
        guard index + 2 < lines.count else { return true }
        guard lines[index + 2].isEmpty else { return false }
        return index + 3 == lines.count || isItemGroup(lines[index + 3], bytes)
    }

    private static func isDate(_ key: String, _ line: Range<Int>, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard bytes.extracting(line).starts(with: key), line.count > key.utf8.count else { return false }
        return line.dropFirst(key.utf8.count).allSatisfy { isDigit(bytes[$0]) }
    }

    /// True for `[5]` and `[5:attribute0]`.
    private static func isItemGroup(_ line: Range<Int>, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard line.count > 2, bytes[line.lowerBound] == UInt8(ascii: "["),
            bytes[line.upperBound - 1] == UInt8(ascii: "]")
        else { return false }
        let name = line.dropFirst().dropLast()
        let digits = name.prefix { isDigit(bytes[$0]) }
        if digits.isEmpty { return false }
        let part = bytes.extracting(digits.upperBound..<name.upperBound)
        return part.isEmpty || part.starts(with: ":attribute") || part.starts(with: ":acl")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension KeyFile.Value {
    /// The text without leading blanks and with escapes replaced, as GKeyFile reads it.
    func text(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String {
        let text = unescaped(in: bytes).utf8Text
        guard let text else { throw .damagedLine(line, "it is not UTF-8") }
        return text
    }

    /// The number, written in decimal digits.
    func number(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> UInt64 {
        let range = KeyFile.trimmed(range, in: bytes)
        guard let text = bytes.text(range), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(text)
        else { throw .damagedLine(line, "a number is malformed") }
        return number
    }

    /// The secret: as GKeyFile reads it if it is a single line, verbatim if it has several.
    func secret(in bytes: borrowing Span<UInt8>) -> SecretBytes {
        hasSeveralLines ? SecretBytes(bytes.extracting(range)) : unescaped(in: bytes)
    }

    /// True if the daemon does not read the secret as it wrote it.
    func isAltered(in bytes: borrowing Span<UInt8>) -> Bool {
        // Every change that it makes shortens the secret.
        !hasSeveralLines && unescaped(in: bytes).count != range.count
    }

    /// The bytes given by hexadecimal digits.
    func hexadecimal(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> SecretBytes {
        guard let secret = bytes.bytes(ofHexadecimal: KeyFile.trimmed(range, in: bytes)) else {
            throw .damagedLine(line, "a secret is not in hexadecimal digits, two for each byte")
        }
        return secret
    }

    private func unescaped(in bytes: borrowing Span<UInt8>) -> SecretBytes {
        let range = KeyFile.trimmed(range, in: bytes)
        var value = SecretBytes(capacity: range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let next = index + 1 < range.upperBound ? bytes[index + 1] : nil
            if bytes[index] == UInt8(ascii: "\\"), let next, let byte = Self.escaped(next) {
                value.append(byte)
                index += 2
            } else {
                value.append(bytes[index])
                index += 1
            }
        }
        return value
    }

    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "s"): 0x20
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "\\"): 0x5c
        default: nil
        }
    }
}
