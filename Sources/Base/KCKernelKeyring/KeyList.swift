internal import KCByteStreams

/// Parses `/proc/keys`: one line per key, see proc(5).
enum KeyList {
    static let path = "/proc/keys"
    /// A user has at most 200 keys, root a million; a list beyond this size is not searched.
    static let sizeLimit = 1 << 20

    /// The seconds until the key expires, rounded down; nil if it never does or is not listed.
    ///
    /// Only the serial number and the fourth field are used. The latter is `perm` (never expires), `expd` (expired), or
    /// a number with a unit (`s`, `m`, `h`, `d`, `w`). The rest of a line may contain text that other programs chose.
    static func remainingSeconds(of serial: Int32, in list: borrowing Span<UInt8>) -> Int? {
        var start = 0
        for end in list.indices where list[end] == UInt8(ascii: "\n") {
            if let seconds = remainingSeconds(of: serial, in: list, line: start..<end) { return seconds }
            start = end + 1
        }
        return nil
    }

    private static func remainingSeconds(
        of serial: Int32, in list: borrowing Span<UInt8>, line: Range<Int>
    ) -> Int? {
        let text = String(decoding: line.prefix(80).map { list[$0] }, as: UTF8.self)
        let fields = text.exact.split(separator: " ", maxSplits: 4)
        guard fields.count > 3, Int32(fields[0], radix: 16) == serial else { return nil }
        if fields[3] == "expd" { return 0 }
        guard let unit = fields[3].last, let second = units[unit], let number = Int(fields[3].dropLast()),
            (0...1_000_000).contains(number)
        else { return nil }
        return number * second
    }

    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
}
