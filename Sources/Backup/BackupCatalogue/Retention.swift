package import KeychainModel

/// Which backups of one keychain are kept: restic's rules.
///
/// The rules are ORed. A rule for periods keeps the newest backup of each of the last periods that have one. While a rule
/// has room for more, the oldest backup is kept as well.
package struct Retention: Hashable, Sendable {
    package var last = 0
    package var hourly = 0
    package var daily = 0
    package var weekly = 0
    package var monthly = 0
    package var yearly = 0
    /// Keeps everything since that long before the newest backup.
    package var within: TimeSpan?

    /// Keeps nothing yet.
    package init() {}

    /// True when there is no rule.
    package var isEmpty: Bool { self == Retention() }

    /// Why a backup is kept.
    package enum Reason: Hashable, Sendable {
        case rule(Rule)
        /// The oldest one, for which the rule has room.
        case oldest(Rule)
        case within
        /// No run may remove it: it is the newest that was verified.
        case newest
        /// The clock has not reached its date, so it counts for no rule, and no rule decides on it.
        case future
    }

    /// A rule that counts.
    package enum Rule: String, CaseIterable, Sendable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    /// What becomes of a backup.
    package struct Decision: Hashable, Sendable {
        /// Its position in the input.
        package let index: Int
        /// Empty if it goes.
        package let reasons: [Reason]
    }

    /// Decides for backups made at `times`, in any order.
    ///
    /// - Returns: a decision for each, the newest first.
    package func decide(_ times: [Timestamp], now: Timestamp, calendar: LocalCalendar) -> [Decision] {
        let order = times.indices.sorted { (times[$0], $0) > (times[$1], $1) }
        let future = order.filter { times[$0] > now }
        let past = order.filter { times[$0] <= now }
        var rooms = Rule.allCases.map { (rule: $0, count: count($0), last: "") }
        let start = past.first.flatMap { newest in within.map { calendar.time(times[newest], less: $0) } }
        var decisions = future.map { Decision(index: $0, reasons: [.future]) }
        for (position, index) in past.enumerated() {
            var reasons: [Reason] = []
            if let start, times[index] > start { reasons.append(.within) }
            for room in rooms.indices where rooms[room].count > 0 {
                let period = rooms[room].rule == .last ? "\(position)" : calendar.period(rooms[room].rule, times[index])
                let isNew = period != rooms[room].last
                guard isNew || position == past.count - 1 else { continue }
                rooms[room].last = period
                rooms[room].count -= 1
                reasons.append(isNew ? .rule(rooms[room].rule) : .oldest(rooms[room].rule))
            }
            if position == 0, reasons.isEmpty { reasons = [.newest] }
            decisions.append(Decision(index: index, reasons: reasons))
        }
        return decisions
    }

    /// How many a rule keeps.
    package func count(_ rule: Rule) -> Int {
        switch rule {
        case .last: last
        case .hourly: hourly
        case .daily: daily
        case .weekly: weekly
        case .monthly: monthly
        case .yearly: yearly
        }
    }
}

/// A span such as `1y5m7d2h`, in years, months, days and hours of the calendar.
package struct TimeSpan: Hashable, Sendable {
    package var years = 0
    package var months = 0
    package var days = 0
    package var hours = 0

    /// Reads one; nil for anything else, also for a span of nothing.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /(?:(\d{1,4})y)?(?:(\d{1,4})m)?(?:(\d{1,5})d)?(?:(\d{1,6})h)?/) else {
            return nil
        }
        years = match.1.flatMap { Int($0) } ?? 0
        months = match.2.flatMap { Int($0) } ?? 0
        days = match.3.flatMap { Int($0) } ?? 0
        hours = match.4.flatMap { Int($0) } ?? 0
        guard years + months + days + hours > 0 else { return nil }
    }

    /// The spelling that `init` reads.
    package var description: String {
        [(years, "y"), (months, "m"), (days, "d"), (hours, "h")].filter { $0.0 > 0 }.map { "\($0)\($1)" }.joined()
    }
}
