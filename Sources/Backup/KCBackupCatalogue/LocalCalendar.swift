// Fence: asks the C library for the local time.
internal import Glibc
package import KCKeychainModel

/// The calendar of the user's time zone, as `TZ` or the system sets it.
package struct LocalCalendar: Sendable {
    /// Returns what a wall clock shows at a time.
    package let parts: @Sendable (Timestamp) -> Parts

    /// A time as shown by a wall clock.
    package struct Parts: Hashable, Sendable {
        package var year: Int
        package var month: Int
        package var day: Int
        package var hour: Int
        package var minute: Int
        package var second: Int
        /// 0 for Sunday.
        package var weekday: Int
        /// 0 for January 1.
        package var dayOfYear: Int
        /// The short name of the zone at that time, as in "CET".
        package var zone: String
    }

    /// Creates the calendar of the time zone that this process uses.
    package init() {
        parts = { time in
            var seconds = time_t(time.seconds)
            var broken = unsafe tm()
            unsafe localtime_r(&seconds, &broken)
            return unsafe Parts(
                year: Int(broken.tm_year) + 1900, month: Int(broken.tm_mon) + 1, day: Int(broken.tm_mday),
                hour: Int(broken.tm_hour), minute: Int(broken.tm_min), second: Int(broken.tm_sec),
                weekday: Int(broken.tm_wday), dayOfYear: Int(broken.tm_yday),
                zone: unsafe broken.tm_zone.map { unsafe String(cString: $0) } ?? "local time")
        }
    }

    /// The calendar of UTC.
    package static let utc = LocalCalendar(zone: "UTC", secondsFromUTC: 0)

    /// Creates the calendar of a zone that is always as far ahead of UTC.
    package init(zone: String, secondsFromUTC offset: Int64) {
        parts = { Self.parts($0.advanced(byMicroseconds: offset * 1_000_000), zone) }
    }

    private static func parts(_ time: Timestamp, _ zone: String) -> Parts {
        let parts = time.components
        let days = time.seconds / 86_400
        let newYear = Timestamp(
            year: parts.year, month: 1, day: 1, hour: 0, minute: 0, second: 0, microsecond: 0)
        return Parts(
            year: parts.year, month: parts.month, day: parts.day, hour: parts.hour, minute: parts.minute,
            second: parts.second, weekday: Int((days + 4) % 7),
            dayOfYear: Int(days - (newYear?.seconds ?? 0) / 86_400), zone: zone)
    }

    /// Returns the number of days since 1970-01-01 on the calendar.
    package func dayNumber(_ time: Timestamp) -> Int {
        let wall = time.seconds + offset(at: time.seconds)
        return Int(wall / 86_400) - (wall % 86_400 < 0 ? 1 : 0)
    }

    /// Returns a name for the period of a rule that contains a time.
    func period(_ rule: Retention.Rule, _ time: Timestamp) -> String {
        let parts = parts(time)
        switch rule {
        case .last: return time.description
        case .hourly:
            // An hour that the clock shows twice, as when summer time ends, is two.
            return "\(parts.year)-\(parts.month)-\(parts.day)-\(parts.hour) \(offset(at: time.seconds))"
        case .daily: return "\(parts.year)-\(parts.month)-\(parts.day)"
        case .weekly: return Self.week(parts)
        case .monthly: return "\(parts.year)-\(parts.month)"
        case .yearly: return "\(parts.year)"
        }
    }

    /// Returns the ISO 8601 week: it begins on Monday and belongs to the year that contains its Thursday.
    private static func week(_ parts: Parts) -> String {
        let weekday = (parts.weekday + 6) % 7
        let thursday = parts.dayOfYear + 3 - weekday
        if thursday < 0 {
            let length = days(inYear: parts.year - 1)
            return "\(parts.year - 1)-W\((thursday + length) / 7)"
        }
        let length = days(inYear: parts.year)
        return thursday >= length ? "\(parts.year + 1)-W\((thursday - length) / 7)" : "\(parts.year)-W\(thursday / 7)"
    }

    private static func days(inYear year: Int) -> Int {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365
    }

    /// Returns the time one span earlier on the calendar; a day that the month does not have carries over into the next
    /// month.
    func time(_ time: Timestamp, less span: TimeSpan) -> Timestamp {
        let parts = parts(time)
        let months = (parts.year - span.years) * 12 + parts.month - 1 - span.months
        let firstOfMonth = Timestamp(
            year: max(1, months / 12), month: months % 12 + 1, day: 1, hour: parts.hour, minute: parts.minute,
            second: parts.second, microsecond: 0)
        let wall = (firstOfMonth ?? .reference).seconds + Int64(parts.day - 1 - span.days) * 86_400
        // The offset from UTC may have been different at that time.
        var seconds = wall - offset(at: time.seconds)
        seconds = wall - offset(at: seconds) - Int64(span.hours) * 3_600
        let fraction = time.microseconds - time.seconds * 1_000_000
        return Timestamp(microseconds: seconds * 1_000_000 + fraction) ?? .reference
    }

    /// Returns the number of seconds by which local time is ahead of UTC.
    private func offset(at seconds: Int64) -> Int64 {
        guard let time = Timestamp(microseconds: seconds * 1_000_000) else { return 0 }
        let parts = parts(time)
        let wall = Timestamp(
            year: parts.year, month: parts.month, day: parts.day, hour: parts.hour, minute: parts.minute,
            second: min(parts.second, 59), microsecond: 0)
        return (wall?.seconds ?? seconds) - seconds
    }
}
