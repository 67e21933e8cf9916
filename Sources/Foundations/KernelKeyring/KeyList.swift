/// What `/proc/keys` says of a key: one line each, as proc(5) describes it.
enum KeyList {
    static let path = "/proc/keys"
    /// A user has at most 200 keys, root a million; what is longer than this is not searched.
    static let sizeLimit = 1 << 20

    /// The seconds until the key expires, rounded down; nil when it never does or is not in the list.
    ///
    /// Only the serial number and the fourth field are looked at: `perm` for never, `expd` for over, or a number with
    /// its unit (`s`, `m`, `h`, `d`, `w`). The rest of a line may hold text of anybody.
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
        let fields = text.split(separator: " ", maxSplits: 4)
        guard fields.count > 3, Int32(fields[0], radix: 16) == serial else { return nil }
        if fields[3] == "expd" { return 0 }
        guard let unit = fields[3].last, let second = units[unit], let number = Int(fields[3].dropLast()),
            (0...1_000_000).contains(number)
        else { return nil }
        return number * second
    }

    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
}
