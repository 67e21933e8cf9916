import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("Which backups are kept")
struct RetentionTests {
    private static let now = Timestamp("2026-11-22T12:00:00.000000Z") ?? .reference

    private static func time(_ text: String) throws -> Timestamp {
        try #require(Timestamp(text + ":00.000000Z"))
    }

    private func kept(_ rules: (inout Retention) -> Void, _ times: [String]) throws -> [String] {
        var retention = Retention()
        rules(&retention)
        let decisions = try retention.decide(times.map(Self.time), now: Self.now, calendar: .utc)
        return decisions.filter { !$0.reasons.isEmpty }.map { times[$0.index] }
    }

    @Test("A daily rule keeps the newest backup of each day that has one, and skips days without backups")
    func daily() throws {
        let times = [
            "2026-11-20T08:00", "2026-11-20T20:00", "2026-11-14T09:00", "2026-11-14T10:00", "2026-11-01T00:00",
            "2026-10-01T00:00",
        ]
        let found = try kept({ $0.daily = 3 }, times)
        #expect(found == ["2026-11-20T20:00", "2026-11-14T10:00", "2026-11-01T00:00"])
    }

    @Test("If a rule keeps fewer backups than it may, the oldest one is kept too")
    func oldest() throws {
        let found = try kept({ $0.yearly = 3 }, ["2026-03-01T00:00", "2026-02-01T00:00", "2026-01-01T00:00"])
        #expect(found == ["2026-03-01T00:00", "2026-01-01T00:00"])
    }

    @Test("Rules are ORed, and one backup may satisfy several")
    func ored() throws {
        let times = ["2026-11-20T08:00", "2026-11-19T08:00", "2026-10-31T08:00", "2026-10-30T08:00"]
        let found = try kept(
            {
                $0.last = 1
                $0.monthly = 2
            }, times)
        #expect(found == ["2026-11-20T08:00", "2026-10-31T08:00"])
    }

    @Test("A week begins on Monday and belongs to the year of its Thursday")
    func weeks() throws {
        // Sunday, Monday, and a new year within a week.
        let found = try kept(
            { $0.weekly = 9 },
            ["2026-11-16T00:00", "2026-11-15T23:00", "2026-01-01T00:00", "2025-12-29T00:00", "2025-12-28T00:00"])
        #expect(found == ["2026-11-16T00:00", "2026-11-15T23:00", "2026-01-01T00:00", "2025-12-28T00:00"])
    }

    @Test("A span is counted from the newest backup, not from now")
    func within() throws {
        let found = try kept(
            { $0.within = TimeSpan("1m2d") }, ["2026-06-30T00:00", "2026-05-28T01:00", "2026-05-28T00:00"])
        #expect(found == ["2026-06-30T00:00", "2026-05-28T01:00"])
    }

    @Test("Backups dated in the future are kept, and do not count against the rules")
    func future() throws {
        let found = try kept({ $0.last = 1 }, ["2031-01-01T00:00", "2026-11-20T00:00", "2026-11-19T00:00"])
        #expect(found == ["2031-01-01T00:00", "2026-11-20T00:00"])
    }

    @Test("Time spans are written as in restic", arguments: ["1y5m7d2h", "30d", "12h", "2y"])
    func spans(text: String) {
        #expect(TimeSpan(text)?.description == text)
    }

    @Test(
        "An invalid time span is refused",
        arguments: ["", "5", "d", "7d1y", "-1d", "0d", "1w", "99999999d", "٣٠d", "٣٠d1h", "３０d1h"])
    func noSpans(text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test("The rules keep the same random backups as a model written from restic's documentation")
    func model() throws {
        var random = SeededRandom(seed: 20_261_122)
        for _ in 0..<300 {
            let times = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                Self.now.advanced(byMicroseconds: -Int64.random(in: 0...40_000, using: &random) * 3_600_000_000 / 17)
            }
            var retention = Retention()
            for rule in Retention.Rule.allCases where Bool.random(using: &random) {
                retention.set(rule, to: Int.random(in: 1...9, using: &random))
            }
            if Int.random(in: 0..<4, using: &random) == 0 { retention.within = TimeSpan("17d5h") }
            if retention.isEmpty { continue }
            let decisions = retention.decide(times, now: Self.now, calendar: .utc)
            let kept = Set(decisions.filter { !$0.reasons.isEmpty }.map { times[$0.index] })
            #expect(kept == Self.model(retention, times), "\(retention)")
            #expect(decisions.count == times.count)
        }
    }

    /// Works period by period: each rule picks the backups that it keeps out of all of them.
    private static func model(_ retention: Retention, _ times: [Timestamp]) -> Set<Timestamp> {
        let newestFirst = Set(times).sorted(by: >)
        var kept: Set<Timestamp> = []
        for rule in Retention.Rule.allCases {
            let count = retention.count(rule)
            if count == 0 { continue }
            var newestOfPeriod: [String: Timestamp] = [:]
            for time in newestFirst {
                let text = time.description
                let period =
                    switch rule {
                    case .last: text
                    case .hourly: String(text.prefix(13))
                    case .daily: String(text.prefix(10))
                    case .weekly: "\((time.seconds / 86_400 + 3) / 7)"
                    case .monthly: String(text.prefix(7))
                    case .yearly: String(text.prefix(4))
                    }
                newestOfPeriod[period] = max(newestOfPeriod[period] ?? time, time)
            }
            let newest = newestOfPeriod.values.sorted(by: >)
            kept.formUnion(newest.prefix(count))
            if newest.count < count, let oldest = newestFirst.last { kept.insert(oldest) }
        }
        if retention.within != nil, let latest = newestFirst.first {
            let start = latest.advanced(byMicroseconds: -(17 * 24 + 5) * 3_600_000_000)
            kept.formUnion(newestFirst.filter { $0 > start })
        }
        if kept.isEmpty, let newest = newestFirst.first { kept.insert(newest) }
        return kept
    }
}

extension Retention {
    fileprivate mutating func set(_ rule: Rule, to count: Int) {
        switch rule {
        case .last: last = count
        case .hourly: hourly = count
        case .daily: daily = count
        case .weekly: weekly = count
        case .monthly: monthly = count
        case .yearly: yearly = count
        }
    }
}
