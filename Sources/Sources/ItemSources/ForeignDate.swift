package import KeychainModel

/// Dates as other programs write them; nil for what is none, or none that an item can have.
package enum ForeignDate {
    /// Seconds since 1970.
    package static func seconds(_ seconds: Int64?) -> Timestamp? { scaled(seconds, 1_000_000) }

    /// Milliseconds since 1970.
    package static func milliseconds(_ milliseconds: Int64?) -> Timestamp? { scaled(milliseconds, 1_000) }

    /// RFC 3339, such as `2026-03-01T09:30:00.5Z` or `2026-03-01T11:30:00+02:00`; without a zone it is UTC.
    package static func iso(_ text: String?) -> Timestamp? {
        guard let text else { return nil }
        let form =
            /(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(?:([Zz])|([+-])(\d\d):?(\d\d))?)?/
            .asciiOnlyDigits()
        guard text.utf8.count <= 40, let parts = text.wholeMatch(of: form)?.output else { return nil }
        func number(_ part: Substring?) -> Int { part.flatMap { Int($0) } ?? 0 }
        let fraction = (parts.7 ?? "") + "000000"
        let civil = Timestamp(
            year: number(parts.1), month: number(parts.2), day: number(parts.3), hour: number(parts.4),
            minute: number(parts.5), second: number(parts.6), microsecond: number(fraction.prefix(6)))
        guard let civil, number(parts.10) < 24, number(parts.11) < 60 else { return nil }
        let offset = Int64(number(parts.10) * 3_600 + number(parts.11) * 60) * (parts.9 == "-" ? 1 : -1)
        return Timestamp(microseconds: civil.microseconds + offset * 1_000_000)
    }

    private static func scaled(_ count: Int64?, _ factor: Int64) -> Timestamp? {
        guard let count else { return nil }
        let (microseconds, overflow) = count.multipliedReportingOverflow(by: factor)
        return overflow ? nil : Timestamp(microseconds: microseconds)
    }
}
