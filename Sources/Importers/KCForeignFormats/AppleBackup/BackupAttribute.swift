internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

/// The attributes of an item in a backup, whose values programs give to Apple's keychain in several forms.
///
/// The keychain accepts text, data and numbers for most attributes, compares them as the column's kind, and keeps some
/// as they were given: a protocol is the number 1752461427 or the text `htps`.
///
/// Source: Apple's `SecDbItem.c`.
extension PropertyList {
    /// The value of an attribute in the form that an item has; nil for one that means the same as none.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value that the attribute cannot have in any form.
    func attribute(_ code: AttributeCode, _ node: Int) throws(ForeignFailure) -> AttributeValue? {
        let wrong = ForeignFailure.damaged("its attribute '\(code.code)' has the wrong kind of value")
        let value: AttributeValue?
        switch code.kind {
        case .number:
            if isNothing(node) { return nil }
            value = whole(node).map { .number($0) }
        case .date:
            if isNothing(node) { return nil }
            value = moment(node).map { .date($0) }
        case .string: value = words(node).map { .text($0) }
        case .textOrData, .dataOrText:
            if case .data = nodes[node] {
                // Data stays data even if it is text: the two differ to some programs.
                value = data(node).map { .data($0) }
            } else {
                let name = code == .atyp ? fourCharacters(node) : nil
                value = (name ?? words(node)).map { .text($0) }
            }
        case .data: value = bytes(node).map { .data($0) }
        }
        if case .null = nodes[node] { return nil }
        guard let value else { throw wrong }
        // A backup has only one user.
        if code == .musr, value == .data([]) { return nil }
        return value
    }

    /// True for a date in no form that is known.
    func isUnreadableDate(_ code: AttributeCode, _ node: Int) -> Bool {
        code.kind == .date && !isNothing(node) && moment(node) == nil
    }

    /// True for null, and for text and data without content.
    private func isNothing(_ node: Int) -> Bool {
        switch nodes[node] {
        case .null: true
        case .text(let range), .data(let range): range.isEmpty
        default: false
        }
    }

    /// A number that was given as a number, as digits, as a code of up to four characters, or as bytes.
    private func whole(_ node: Int) -> Int64? {
        switch nodes[node] {
        case .number, .flag: return number(node)
        case .real(let real): return Int64(exactly: real)
        case .date(let date): return date.seconds - Timestamp.reference.seconds
        case .text: return text(node).flatMap { Int64($0) ?? Self.code(Array($0.utf8)) }
        case .data:
            let bytes = data(node) ?? []
            if bytes.count == 4, let code = Self.code(bytes) { return code }
            guard [1, 2, 4, 8].contains(bytes.count) else { return nil }
            let magnitude = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // The keychain makes signed numbers of 4 bytes, the least significant first.
            return bytes.count == 4
                ? Int64(Int32(truncatingIfNeeded: magnitude)) : Int64(truncatingIfNeeded: magnitude)
        default: return nil
        }
    }

    /// The number of a code such as `htps`, which trailing blanks fill.
    private static func code(_ text: [UInt8]) -> Int64? {
        guard (3...4).contains(text.count), text.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        return (text + [0x20]).prefix(4).reduce(0) { $0 << 8 | Int64($1) }
    }

    /// The code that a number is, such as `form` for 1718579821; nil for other numbers.
    private func fourCharacters(_ node: Int) -> String? {
        guard case .number(let number) = nodes[node], let code = UInt32(exactly: number) else { return nil }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) }
        return bytes.allSatisfy { (0x20...0x7e).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private func moment(_ node: Int) -> Timestamp? {
        switch nodes[node] {
        case .date(let date): return date
        // Seconds since 2001.
        case .number(let number):
            let (seconds, overflow) = number.addingReportingOverflow(Timestamp.reference.seconds)
            return overflow ? nil : ForeignDate.seconds(seconds)
        case .real(let real):
            guard let count = Int64(exactly: (real * 1_000_000).rounded()) else { return nil }
            let (microseconds, overflow) = count.addingReportingOverflow(Timestamp.reference.microseconds)
            return overflow ? nil : Timestamp(microseconds: microseconds)
        case .text: return text(node).flatMap(Self.moment)
        case .data: return data(node).flatMap { $0.span.utf8Text }.flatMap(Self.moment)
        default: return nil
        }
    }

    /// A date as text: in ISO 8601, or in the form of the DER of items.
    private static func moment(_ text: String) -> Timestamp? {
        ForeignDate.iso(text) ?? DERPropertyList.date(text, isShort: false)
    }

    private func words(_ node: Int) -> String? {
        switch nodes[node] {
        case .text: text(node)
        case .data: data(node).flatMap { $0.span.utf8Text }
        case .number(let number): "\(number)"
        case .flag(let flag): flag ? "1" : "0"
        case .real(let real): "\(real)"
        case .date(let date): date.description
        default: nil
        }
    }

    private func bytes(_ node: Int) -> [UInt8]? {
        switch nodes[node] {
        case .data: return data(node)
        case .number(let number):
            // The keychain makes 4 bytes of a number, the least significant first.
            guard let short = Int32(exactly: number) else { return KDBX.littleEndian(number) }
            return KDBX.littleEndian(short)
        default: return words(node).map { Array($0.utf8) }
        }
    }
}
