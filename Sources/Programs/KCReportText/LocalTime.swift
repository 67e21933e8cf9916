package import KCBackupCatalogue
package import KCKeychainModel

// Times for people; JSON and names of files have UTC.
extension LocalCalendar {
    /// Returns the day, as in `2026-03-01`.
    package func day(_ time: Timestamp) -> String {
        var text: [UInt8] = []
        append(day: time, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the day, as in `2026-03-01`.
    package func append(day time: Timestamp, to text: inout [UInt8]) {
        let parts = parts(time)
        Self.append(parts.year / 100, to: &text)
        Self.append(parts.year % 100, to: &text)
        text.append(UInt8(ascii: "-"))
        Self.append(parts.month, to: &text)
        text.append(UInt8(ascii: "-"))
        Self.append(parts.day, to: &text)
    }

    /// Appends two digits.
    private static func append(_ number: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    /// Returns the day and the time for a table, whose heading names the zone, as in `2026-03-01 09:30`.
    package func minute(_ time: Timestamp) -> String { String(wall(time).prefix(16)) }

    /// Returns the day, the time to the second and the zone, as in `2026-03-01 09:30:00 CET`.
    package func moment(_ time: Timestamp) -> String { "\(wall(time)) \(zone(time))" }

    /// Returns the names of the zone in winter and in summer of a year, as in "CET/CEST", or the only one.
    package func zones(inYearOf time: Timestamp) -> String {
        let names = [1, 7].compactMap { month in
            Timestamp(year: parts(time).year, month: month, day: 1, hour: 12, minute: 0, second: 0, microsecond: 0)
        }.map(zone)
        return names.first == names.last ? names.first ?? zone(time) : names.joined(separator: "/")
    }

    /// The name comes from `TZ` or a file, which may hold anything.
    private func zone(_ time: Timestamp) -> String { displayed(parts(time).zone, limit: 10) }

    private func wall(_ time: Timestamp) -> String {
        let parts = parts(time)
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(digits(parts.year, 4))-\(digits(parts.month))-\(digits(parts.day)) "
            + "\(digits(parts.hour)):\(digits(parts.minute)):\(digits(parts.second))"
    }
}
