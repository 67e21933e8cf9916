package import KCKeychainModel

/// Parses dates as other programs write them; nil for values that are not dates or that an item cannot have.
package enum ForeignDate {
    /// Seconds since 1970.
    package static func seconds(_ seconds: Int64?) -> Timestamp? { scaled(seconds, 1_000_000) }

    /// Milliseconds since 1970.
    package static func milliseconds(_ milliseconds: Int64?) -> Timestamp? { scaled(milliseconds, 1_000) }

    /// Microseconds since 1601, as Windows and Chromium count; nil for 0, which stands for no date.
    package static func microsecondsSince1601(_ microseconds: Int64?) -> Timestamp? {
        guard let microseconds, microseconds > 0 else { return nil }
        return Timestamp(microseconds: microseconds - 11_644_473_600_000_000)
    }

    /// RFC 3339, such as `2026-03-01T09:30:00.5Z` or `2026-03-01T11:30:00+02:00`; without a zone it is UTC.
    package static func iso(_ text: String?) -> Timestamp? {
        guard let text, text.utf8.count <= 40 else { return nil }
        var scanner = DateScanner(text)
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2)
        else { return nil }
        var (hour, minute, second, microsecond, offset) = (0, 0, 0, 0, 0)
        if scanner.take("T") || scanner.take(" ") {
            guard let givenHour = scanner.number(2), scanner.take(":"), let givenMinute = scanner.number(2) else {
                return nil
            }
            (hour, minute) = (givenHour, givenMinute)
            if scanner.take(":") {
                guard let given = scanner.number(2) else { return nil }
                second = given
                if scanner.take(".") || scanner.take(",") {
                    guard let given = scanner.fraction() else { return nil }
                    microsecond = given
                }
            }
            while scanner.take(" ") {}
            guard let given = scanner.zone() else { return nil }
            offset = given
        }
        let civil = Timestamp(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, microsecond: microsecond)
        guard let civil, scanner.isAtEnd else { return nil }
        return Timestamp(microseconds: civil.microseconds - Int64(offset) * 1_000_000)
    }

    /// The digits of a date and time in UTC, 14 or 8 without the time, such as `20260301093000Z`; what follows them is
    /// ignored.
    package static func digits(_ text: String?) -> Timestamp? {
        var scanner = DateScanner(text ?? "")
        guard let year = scanner.number(4), let month = scanner.number(2), let day = scanner.number(2) else {
            return nil
        }
        let hour = scanner.number(2)
        let (minute, second) = (scanner.number(2), scanner.number(2))
        guard hour == nil || second != nil else { return nil }
        return Timestamp(
            year: year, month: month, day: day, hour: hour ?? 0, minute: minute ?? 0, second: second ?? 0,
            microsecond: 0)
    }

    private static func scaled(_ count: Int64?, _ factor: Int64) -> Timestamp? {
        guard let count else { return nil }
        let (microseconds, overflow) = count.multipliedReportingOverflow(by: factor)
        return overflow ? nil : Timestamp(microseconds: microseconds)
    }
}

/// Reads the parts of a date, by hand because regular expressions would take most of the time of an import.
private struct DateScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Consumes a character if it is next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// A number of exactly `count` digits.
    mutating func number(_ count: Int) -> Int? {
        var number = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// The microseconds in a fraction of one to nine digits.
    mutating func fraction() -> Int? {
        var (microseconds, count) = (0, 0)
        while let digit = digit() {
            if count < 6 { microseconds = microseconds * 10 + digit }
            count += 1
        }
        guard (1...9).contains(count) else { return nil }
        for _ in 0..<max(0, 6 - count) { microseconds *= 10 }
        return microseconds
    }

    /// Seconds east of UTC; 0 without a zone, nil if the zone is malformed.
    mutating func zone() -> Int? {
        if take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+") else { return 0 }
        guard let hours = number(2), hours < 24 else { return nil }
        _ = take(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
    }

    private mutating func digit() -> Int? {
        guard let byte = rest.first, (0x30...0x39).contains(byte) else { return nil }
        rest.removeFirst()
        return Int(byte - 0x30)
    }
}
