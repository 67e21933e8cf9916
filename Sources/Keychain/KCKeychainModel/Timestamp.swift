/// A time in whole microseconds since 1970-01-01T00:00:00Z, within the years 1 to 9999.
///
/// The text form is RFC 3339 in UTC with six fractional digits, such as `2026-03-01T09:30:00.000000Z`.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the Unix epoch, without leap seconds.
    package let microseconds: Int64

    /// The first microsecond of the year 1.
    package static let earliest: Int64 = -62_135_596_800_000_000
    /// The last microsecond of the year 9999.
    package static let latest: Int64 = 253_402_300_799_999_999
    /// Apple's reference date, 2001-01-01T00:00:00Z, the value of an absent date in a unique key.
    package static let reference = Timestamp(unchecked: 978_307_200_000_000)

    private init(unchecked microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates a timestamp; nil outside the years 1 to 9999.
    package init?(microseconds: Int64) {
        guard (Self.earliest...Self.latest).contains(microseconds) else { return nil }
        self.microseconds = microseconds
    }

    /// Orders earlier times first.
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// Whole seconds since the Unix epoch, rounded down.
    package var seconds: Int64 {
        microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
    }

    /// The time `microseconds` later, clamped to the range of years.
    package func advanced(byMicroseconds microseconds: Int64) -> Timestamp {
        let (sum, overflow) = self.microseconds.addingReportingOverflow(microseconds)
        let bound = microseconds < 0 ? Self.earliest : Self.latest
        return Timestamp(unchecked: overflow ? bound : min(max(sum, Self.earliest), Self.latest))
    }
}

extension Timestamp {
    /// The length of the text form in bytes.
    static let spellingLength = 27

    /// Year, month (1…12), day (1…31), hour, minute, second, microsecond in UTC.
    ///
    /// The algorithm counts 400-year eras from 0000-03-01, so that leap days fall at the end of a year.
    package var components: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, microsecond: Int) {
        let daySize: Int64 = 86_400_000_000
        var days = microseconds / daySize
        var rest = microseconds % daySize
        if rest < 0 {
            rest += daySize
            days -= 1
        }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let seconds = rest / 1_000_000
        return (
            Int(year), Int(month), Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1), Int(seconds / 3_600),
            Int(seconds / 60 % 60), Int(seconds % 60), Int(rest % 1_000_000)
        )
    }

    /// Creates a timestamp from a civil date in UTC; nil if there is no such date.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, microsecond: Int) {
        guard (1...9_999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second), (0...999_999).contains(microsecond)
        else { return nil }
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        let seconds = days * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        self.init(microseconds: seconds * 1_000_000 + Int64(microsecond))
        // A day that the month does not have would become a day of the next month.
        guard day <= 28 || components.day == day else { return nil }
    }
}

extension Timestamp: CustomStringConvertible {
    /// The text form with six fractional digits.
    package var description: String {
        String(unsafeUninitializedCapacityOf: Self.spellingLength) { output in spell(into: &output) }
    }

    /// Appends the text form, `spellingLength` bytes.
    func spell(into output: inout OutputSpan<UInt8>) {
        let parts = components
        Self.twoDigits(parts.year / 100, to: &output)
        Self.twoDigits(parts.year % 100, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.twoDigits(parts.month, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.twoDigits(parts.day, to: &output)
        output.append(UInt8(ascii: "T"))
        Self.twoDigits(parts.hour, to: &output)
        output.append(UInt8(ascii: ":"))
        Self.twoDigits(parts.minute, to: &output)
        output.append(UInt8(ascii: ":"))
        Self.twoDigits(parts.second, to: &output)
        output.append(UInt8(ascii: "."))
        Self.twoDigits(parts.microsecond / 10_000, to: &output)
        Self.twoDigits(parts.microsecond / 100 % 100, to: &output)
        Self.twoDigits(parts.microsecond % 100, to: &output)
        output.append(UInt8(ascii: "Z"))
    }

    private static func twoDigits(_ value: Int, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(truncatingIfNeeded: 48 + value / 10))
        output.append(UInt8(truncatingIfNeeded: 48 + value % 10))
    }

    /// Parses the text form; nil for anything else.
    package init?(parsing bytes: borrowing Span<UInt8>) {
        guard bytes.count == Self.spellingLength else { return nil }
        var isNumber = true
        func number(_ start: Int, _ count: Int) -> Int {
            var value = 0
            for index in start..<start + count {
                let digit = Int(bytes[index]) - 48
                isNumber = isNumber && 0 <= digit && digit <= 9
                value = value * 10 + digit
            }
            return value
        }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
        let microsecond = number(20, 6)
        guard bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"), bytes[19] == UInt8(ascii: "."),
            bytes[26] == UInt8(ascii: "Z"), isNumber
        else { return nil }
        self.init(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, microsecond: microsecond)
    }

    /// Parses the text form; nil for anything else.
    package init?(_ text: String) {
        self.init(parsing: Array(text.utf8).span)
    }
}

extension String {
    fileprivate init(unsafeUninitializedCapacityOf count: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let bytes = [UInt8](capacity: count, initializingWith: write)
        self.init(decoding: bytes, as: UTF8.self)
    }
}
