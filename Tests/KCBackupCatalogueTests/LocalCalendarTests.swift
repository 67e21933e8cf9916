import Glibc
import KCKeychainModel
import Testing

@testable import KCBackupCatalogue

@Suite("Spans on the calendar of the system")
struct LocalCalendarTests {
    /// A zone as POSIX spells it, the newest backup, the span, and the time from which on backups are kept.
    private static let cases = [
        // January, from which the months of the last year are counted.
        ("UTC0", "2026-01-15T12:00", "1m", "2025-12-15T12:00"),
        ("UTC0", "2026-01-15T12:00", "12m", "2025-01-15T12:00"),
        ("UTC0", "2026-01-15T12:00", "13m", "2024-12-15T12:00"),
        ("UTC0", "2026-12-15T12:00", "12m", "2025-12-15T12:00"),
        // Days that a month does not have carry over into the next one.
        ("UTC0", "2026-01-31T12:00", "2m", "2025-12-01T12:00"),
        ("UTC0", "2026-03-31T12:00", "1m", "2026-03-03T12:00"),
        ("UTC0", "2024-03-31T12:00", "1m", "2024-03-02T12:00"),
        ("UTC0", "2024-02-29T12:00", "1y", "2023-03-01T12:00"),
        ("UTC0", "2026-03-01T12:00", "1d", "2026-02-28T12:00"),
        // The clock on the wall stays the same when the offset from UTC changes; hours are hours.
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-15T16:00", "14d", "2026-03-01T17:00"),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-15T16:00", "336h", "2026-03-01T16:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-31T23:30", "1m", "2026-09-30T22:30"),
        // The local day is not the one of UTC.
        ("<+14>-14", "2025-12-31T10:30", "1m", "2025-11-30T10:30"),
        ("<-11>11", "2026-01-01T05:00", "1m", "2025-12-02T05:00"),
    ]

    @Test("The hour that the clock shows twice when summer time ends is two")
    func twice() async {
        await #expect(processExitsWith: .success) {
            _ = unsafe setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            tzset()
            let times = try ["00:30", "01:30", "02:30"].map { try #require(Timestamp("2026-10-25T\($0):00.000000Z")) }
            var retention = Retention()
            retention.hourly = 3
            let now = try #require(Timestamp("2026-10-25T12:00:00.000000Z"))
            let kept = retention.decide(times, now: now, calendar: LocalCalendar()).filter { !$0.reasons.isEmpty }
            #expect(kept.count == 3)
        }
    }

    @Test("A span goes back by the calendar: over the new year, to month ends, and in the time zone of the user")
    func spans() async {
        // In a process of its own, since a time zone is one of the process.
        await #expect(processExitsWith: .success) {
            for (zone, newest, span, start) in Self.cases {
                _ = unsafe setenv("TZ", zone, 1)
                tzset()
                let time = try #require(Timestamp(newest + ":00.250000Z"))
                let found = LocalCalendar().time(time, less: try #require(TimeSpan(span)))
                #expect(found.description == start + ":00.250000Z", "\(newest) less \(span) in \(zone)")
            }
        }
    }
}
