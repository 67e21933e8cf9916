internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads a binary property list, version 00.
///
/// Source: CFBinaryPList.c in apple/swift-corelibs-foundation, its comment on the format.
struct BinaryPropertyList {
    private let offsets: Range<Int>
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    private var depth = 0
    /// The kept texts and data, by the offsets of their objects; each is kept once, however many references it has.
    private var kept: [UInt64: Range<Int>] = [:]
    /// The names of members, by the places of their texts.
    private var memberNames: [Range<Int>: String] = [:]

    /// Reads the trailer.
    init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        guard bytes.count >= 8 + 32 else { throw .damaged("a property list ends early") }
        var cursor = ByteCursor(bytes.count - 26..<bytes.count)
        offsetSize = Int(bytes[try cursor.take(1).lowerBound])
        referenceSize = Int(bytes[try cursor.take(1).lowerBound])
        let count = try cursor.uint64(in: bytes)
        let top = try cursor.uint64(in: bytes)
        let start = try cursor.uint64(in: bytes)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count > 0, top < count,
            count <= UInt64(PropertyList.nodeLimit), start >= 8, start <= UInt64(bytes.count - 32),
            count * UInt64(offsetSize) <= UInt64(bytes.count - 32) - start
        else { throw .damaged("the trailer of a property list is malformed") }
        self.count = Int(count)
        self.top = Int(top)
        offsets = Int(start)..<Int(start) + Int(count) * offsetSize
    }

    /// Adds everything that is reachable from the root, and returns the root.
    mutating func read(into list: PropertyList, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Int {
        try object(top, list, bytes)
    }

    private mutating func object(
        _ index: Int, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        guard index < count else { throw .damaged("a property list refers to a missing object") }
        depth += 1
        defer { depth -= 1 }
        guard depth <= PropertyList.depthLimit else {
            throw .limit("levels", found: UInt64(depth), allowed: UInt64(PropertyList.depthLimit))
        }
        let place = offsets.lowerBound + index * offsetSize
        let offset = Self.number(place..<place + offsetSize, bytes)
        guard offset >= 8, offset < UInt64(offsets.lowerBound) else {
            throw .damaged("a property list refers to a missing object")
        }
        var cursor = ByteCursor(Int(offset)..<offsets.lowerBound)
        let marker = bytes[try cursor.take(1).lowerBound]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0x0:
            switch marker {
            case 0x00: return try list.add(.null)
            case 0x08: return try list.add(.flag(false))
            case 0x09: return try list.add(.flag(true))
            default: throw .damaged("a property list has a value of an unknown kind")
            }
        case 0x1:
            guard low <= 4 else { throw .damaged("a number is too long") }
            return try list.add(.number(try Self.integer(cursor.take(1 << low), bytes)))
        case 0x2:
            switch low {
            case 2: return try list.add(.real(Double(Float(bitPattern: try cursor.uint32(in: bytes)))))
            case 3: return try list.add(.real(Double(bitPattern: try cursor.uint64(in: bytes))))
            default: throw .damaged("a number has the wrong size")
            }
        case 0x3:
            guard low == 3 else { throw .damaged("a date has the wrong size") }
            let seconds = Double(bitPattern: try cursor.uint64(in: bytes))
            guard let date = Self.date(seconds) else { throw .damaged("a date is malformed") }
            return try list.add(.date(date))
        case 0x8: return try list.add(.uid(Int(Self.number(try cursor.take(min(low + 1, 4)), bytes))))
        case 0x4, 0x5, 0x6, 0x7:
            let range: Range<Int>
            if let known = kept[offset] { range = known } else { range = try content(marker, &cursor, list, bytes) }
            kept[offset] = range
            return try list.add(marker >> 4 == 0x4 ? .data(range) : .text(range))
        case 0xa, 0xb, 0xc: return try array(length(low, &cursor, bytes), &cursor, list, bytes)
        case 0xd: return try dictionary(length(low, &cursor, bytes), &cursor, list, bytes)
        default: throw .damaged("a property list has a value of an unknown kind")
        }
    }

    /// Keeps the content of a text or data.
    ///
    /// The objects of a file may overlap, so that their sizes alone do not limit what is kept.
    private func content(
        _ marker: UInt8, _ cursor: inout ByteCursor, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Range<Int> {
        let count = try length(Int(marker & 15), &cursor, bytes)
        let range: Range<Int>
        switch marker >> 4 {
        case 0x4: range = list.keep(bytes.extracting(try cursor.take(count)))
        case 0x6:
            guard count <= cursor.left / 2 else { throw .damaged("a string ends early") }
            range = try wideText(cursor.take(count * 2), list, bytes)
        default: range = try text(cursor.take(count), list, bytes)
        }
        // UTF-16 grows by half.
        guard list.end <= 2 * bytes.count else { throw .damaged("its values overlap") }
        return range
    }

    private mutating func array(
        _ count: Int, _ cursor: inout ByteCursor, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        let references = try references(count, &cursor, bytes)
        var values: [Int] = []
        for reference in references { values.append(try object(reference, list, bytes)) }
        return try list.add(.array(values))
    }

    private mutating func dictionary(
        _ count: Int, _ cursor: inout ByteCursor, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        let names = try references(count, &cursor, bytes)
        let values = try references(count, &cursor, bytes)
        var members: [(name: String, value: Int)] = []
        var seen: Set<[UInt8]> = []
        for (name, value) in zip(names, values) {
            let name = try list.name(object(name, list, bytes), &memberNames)
            guard seen.insert(Array(name.utf8)).inserted else { throw .damaged("a name occurs twice") }
            members.append((name, try object(value, list, bytes)))
        }
        return try list.add(.dictionary(members))
    }

    private func references(
        _ count: Int, _ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> [Int] {
        guard count <= cursor.left / referenceSize else { throw .damaged("a property list ends early") }
        guard count <= PropertyList.nodeLimit else {
            throw .limit("values", found: UInt64(count), allowed: UInt64(PropertyList.nodeLimit))
        }
        var references: [Int] = []
        for _ in 0..<count {
            references.append(Int(clamping: Self.number(try cursor.take(referenceSize), bytes)))
        }
        return references
    }

    /// The length from a marker; if it is 15, the length follows as a number.
    private func length(
        _ low: Int, _ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int {
        if low < 15 { return low }
        let marker = bytes[try cursor.take(1).lowerBound]
        guard marker >> 4 == 1, marker & 15 <= 3 else { throw .damaged("a length is not a number") }
        return Int(clamping: Self.number(try cursor.take(1 << Int(marker & 15)), bytes))
    }

    private func text(
        _ range: Range<Int>, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Range<Int> {
        let part = bytes.extracting(range)
        guard part.isUTF8 else { throw .damaged("a string is not UTF-8") }
        return list.keep(part)
    }

    private func wideText(
        _ range: Range<Int>, _ list: PropertyList, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Range<Int> {
        let start = list.end
        var high: UInt32?
        for index in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            let unit = UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
            if let first = high {
                guard (0xdc00..<0xe000).contains(unit),
                    let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (unit - 0xdc00))
                else { throw .damaged("a string is not UTF-16") }
                list.keep(scalar)
                high = nil
            } else if (0xd800..<0xdc00).contains(unit) {
                high = unit
            } else {
                guard let scalar = Unicode.Scalar(unit) else { throw .damaged("a string is not UTF-16") }
                list.keep(scalar)
            }
        }
        guard high == nil else { throw .damaged("a string is not UTF-16") }
        return start..<list.end
    }

    private static func number(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for index in range { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    /// Numbers of 8 bytes are signed, shorter ones are not; those of 16 bytes must fit in 64 bits.
    private static func integer(
        _ range: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Int64 {
        if range.count < 16 { return Int64(bitPattern: number(range, bytes)) }
        let high = number(range.prefix(8), bytes)
        let low = Int64(bitPattern: number(range.suffix(8), bytes))
        guard high == 0 && low >= 0 || high == .max && low < 0 else { throw .damaged("a number is too large") }
        return low
    }

    /// The date that is this many seconds after 2001 begins; nil if no item can have it.
    static func date(_ seconds: Double) -> Timestamp? {
        let microseconds = (seconds * 1_000_000).rounded()
        guard microseconds.isFinite, abs(microseconds) < 9e18 else { return nil }
        let (sum, overflow) = Int64(microseconds).addingReportingOverflow(Timestamp.reference.microseconds)
        return overflow ? nil : Timestamp(microseconds: sum)
    }
}
