internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads a property list in the DER that Apple uses: a dictionary is a SET of pairs, an array a SEQUENCE.
///
/// Source: der_plist.c, der_date.c and der_number.c of Apple's Security.
struct DERPropertyList {
    private var depth = 0

    static func read(_ bytes: borrowing Span<UInt8>, into list: PropertyList) throws(ForeignFailure) -> Int {
        var reader = DERPropertyList()
        var cursor = ByteCursor(0..<bytes.count)
        let root = try reader.value(&cursor, list, bytes)
        guard cursor.left == 0 else { throw .damaged("data follows the end of an item") }
        return root
    }

    private mutating func value(
        _ cursor: inout ByteCursor, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PropertyList.depthLimit else {
            throw .limit("levels", found: UInt64(depth), allowed: UInt64(PropertyList.depthLimit))
        }
        let (tag, content) = try cursor.element(in: bytes)
        switch tag {
        case 0x31: return try dictionary(content, list, bytes)
        case 0x30:
            var inner = ByteCursor(content)
            var values: [Int] = []
            while inner.left > 0 { values.append(try value(&inner, list, bytes)) }
            return try list.add(.array(values))
        case 0x0c, 0x12:
            let part = bytes.extracting(content)
            guard part.isUTF8 else { throw .damaged("a string is not UTF-8") }
            return try list.add(.text(list.keep(part)))
        case 0x04: return try list.add(.data(list.keep(bytes.extracting(content))))
        case 0x02:
            guard (1...8).contains(content.count) else { throw .damaged("a number is too long") }
            let first = Int64(Int8(bitPattern: bytes[content.lowerBound]))
            return try list.add(.number(content.dropFirst().reduce(first) { $0 << 8 | Int64(bytes[$1]) }))
        case 0x01:
            guard content.count == 1 else { throw .damaged("a flag has the wrong size") }
            return try list.add(.flag(bytes[content.lowerBound] != 0))
        case 0x05:
            guard content.isEmpty else { throw .damaged("a value of no size has a size") }
            return try list.add(.null)
        case 0x17, 0x18:
            guard let text = bytes.text(content), let date = Self.date(text, isShort: tag == 0x17) else {
                throw .damaged("a date is malformed")
            }
            return try list.add(.date(date))
        default: throw .damaged("an item has a value of an unknown kind")
        }
    }

    private mutating func dictionary(
        _ content: Range<Int>, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        var cursor = ByteCursor(content)
        var members: [(name: String, value: Int)] = []
        var seen: Set<[UInt8]> = []
        while cursor.left > 0 {
            let (tag, pair) = try cursor.element(in: bytes)
            guard tag == 0x30 else { throw .damaged("an item has something other than a pair") }
            var inner = ByteCursor(pair)
            guard let name = list.text(try value(&inner, list, bytes)) else { throw .damaged("a name is not text") }
            guard seen.insert(Array(name.utf8)).inserted else { throw .damaged("a name occurs twice") }
            members.append((name, try value(&inner, list, bytes)))
            guard inner.left == 0 else { throw .damaged("an item has something other than a pair") }
        }
        return try list.add(.dictionary(members))
    }

    /// Parses `YYYYMMDDhhmmss[.fraction]Z`, or the same with an offset from UTC; short dates have a two-digit year.
    static func date(_ text: String, isShort: Bool) -> Timestamp? {
        let form = /(\d{14})(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d)(\d\d))/.asciiOnlyDigits()
        let century = isShort ? (text.prefix(2) < "50" ? "20" : "19") : ""
        guard text.utf8.count <= 40, let parts = (century + text).wholeMatch(of: form)?.output else { return nil }
        let digits = String(parts.1)
        func number(_ start: Int, _ count: Int) -> Int { Int(digits.dropFirst(start).prefix(count)) ?? -1 }
        let fraction = Int(((parts.2 ?? "") + "000000").prefix(6)) ?? 0
        guard
            let civil = Timestamp(
                year: number(0, 4), month: number(4, 2), day: number(6, 2), hour: number(8, 2), minute: number(10, 2),
                second: number(12, 2), microsecond: fraction)
        else { return nil }
        let (hours, minutes) = (parts.4.flatMap { Int64($0) }, parts.5.flatMap { Int64($0) })
        guard let sign = parts.3, let hours, let minutes else { return civil }
        let offset = (hours * 3_600 + minutes * 60) * (sign == "-" ? 1 : -1)
        return Timestamp(microseconds: civil.microseconds + offset * 1_000_000)
    }
}
