package import KCKeychainModel

/// Which backups of one keychain are kept, by the rules that restic uses.
///
/// A backup is kept if any rule keeps it. A rule for periods keeps the newest backup in each of the last periods that
/// have one. If there are fewer such periods than the rule allows, it also keeps the oldest backup.
package struct Retention: Hashable, Sendable {
    package var last = 0
    package var hourly = 0
    package var daily = 0
    package var weekly = 0
    package var monthly = 0
    package var yearly = 0
    /// Keeps every backup made within this span before the newest one.
    package var within: TimeSpan?

    /// Creates an instance without rules.
    package init() {}

    /// True if there are no rules.
    package var isEmpty: Bool { self == Retention() }

    /// Why a backup is kept.
    package enum Reason: Hashable, Sendable {
        case rule(Rule)
        /// The backup is the oldest one, and the rule had room left.
        case oldest(Rule)
        case within
        /// The backup is the newest intact one, which is never removed.
        case newest
        /// Its date is in the future, so no rule applies to it.
        case future
        /// No rule keeps it, and a job has still to copy it.
        case uncopied
        /// No rule keeps it, and the run that would remove it could not read everything.
        case incompleteRun
    }

    /// A rule that keeps a number of backups.
    package enum Rule: String, CaseIterable, Sendable {
        case last, hourly, daily, weekly, monthly, yearly

        fileprivate var count: WritableKeyPath<Retention, Int> {
            switch self {
            case .last: \.last
            case .hourly: \.hourly
            case .daily: \.daily
            case .weekly: \.weekly
            case .monthly: \.monthly
            case .yearly: \.yearly
            }
        }
    }

    /// How many backups each rule keeps.
    package var counts: [(rule: Rule, count: Int)] { Rule.allCases.map { ($0, self[$0]) } }

    package subscript(rule: Rule) -> Int {
        get { self[keyPath: rule.count] }
        set { self[keyPath: rule.count] = newValue }
    }

    /// The decision about a backup.
    package struct Decision: Hashable, Sendable {
        /// Its position in the input.
        package let index: Int
        /// Why it is kept; empty if it is to be removed.
        package let reasons: [Reason]
    }

    /// Decides for backups made at `times`, in any order.
    ///
    /// - Returns: one decision for each backup, newest first.
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

    /// The number of backups that a rule keeps.
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

/// A calendar span in years, months, days and hours, such as `1y5m7d2h`.
package struct TimeSpan: Hashable, Sendable {
    package var years = 0
    package var months = 0
    package var days = 0
    package var hours = 0

    /// Parses a span; nil if the text is malformed or the span is zero.
    package init?(_ text: String) {
        // Other digits are none to Int.
        let form = /(?:(\d{1,4})y)?(?:(\d{1,4})m)?(?:(\d{1,5})d)?(?:(\d{1,6})h)?/.asciiOnlyDigits()
        guard let match = text.wholeMatch(of: form) else { return nil }
        years = match.1.flatMap { Int($0) } ?? 0
        months = match.2.flatMap { Int($0) } ?? 0
        days = match.3.flatMap { Int($0) } ?? 0
        hours = match.4.flatMap { Int($0) } ?? 0
        guard years + months + days + hours > 0 else { return nil }
    }

    /// The form that `init` parses.
    package var description: String {
        [(years, "y"), (months, "m"), (days, "d"), (hours, "h")].filter { $0.0 > 0 }.map { "\($0)\($1)" }.joined()
    }
}
