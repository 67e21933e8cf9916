import KCItemMatching
import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Laws of matching")
struct MatchingLawTests {
    /// The contents that a side of a random series may have.
    private struct World {
        var hasUnknownSecrets = true
        var secrets = 4
        var hasWhole: Bool

        func side(_ random: inout SeededRandom) -> [AlikeItem] {
            let count = Int.random(in: 0...6, using: &random)
            return (0..<9).shuffled(using: &random).prefix(count).map { position in
                let label = ["A", "B", ""].randomElement(using: &random) ?? ""
                let secret = Int.random(in: 0..<(hasUnknownSecrets ? secrets + 1 : secrets), using: &random)
                let second = Int64.random(in: 0..<2, using: &random)
                let rest = UInt8.random(in: 0..<2, using: &random)
                return AlikeItem(
                    position: position, label: label, secret: secret == secrets ? nil : ItemCode([UInt8(secret)]),
                    created: hasWhole ? Timestamp(microseconds: second * 1_000_000) : nil,
                    whole: hasWhole ? ItemCode(Array(label.utf8) + [UInt8(second), rest]) : nil)
            }
        }
    }

    private typealias Series = (records: [AlikeItem], items: [AlikeItem])

    /// Runs a test with random series.
    private func each(
        hasUnknownSecrets: Bool = true, secrets: Int = 4, _ body: (Series, inout SeededRandom) throws -> Void
    ) rethrows {
        var random = SeededRandom(seed: 2_023)
        for round in 0..<3_000 {
            let world = World(hasUnknownSecrets: hasUnknownSecrets, secrets: secrets, hasWhole: round.isMultiple(of: 2))
            let records = world.side(&random)
            try body((records, world.side(&random)), &random)
        }
    }

    /// The pairs as positions.
    private func positions(_ records: [AlikeItem], _ items: [AlikeItem]) -> Set<[Int]> {
        let pairs = zip(records, AlikeItems.pairs(of: records, with: items)).map { ($0.position, $1) }
        return Set(pairs.compactMap { position, pair in pair.map { [position, items[$0].position] } })
    }

    @Test("Two records are never one item")
    func oneToOne() {
        each { series, _ in
            let pairs = AlikeItems.pairs(of: series.records, with: series.items)
            let found = pairs.compactMap { $0 }
            #expect(pairs.count == series.records.count && Set(found).count == found.count)
        }
    }

    @Test("The order in which items are given makes no difference")
    func orderOfInput() {
        each { series, random in
            #expect(
                positions(series.records, series.items)
                    == positions(series.records.shuffled(using: &random), series.items.shuffled(using: &random)))
        }
    }

    @Test("The two sides may change places")
    func symmetric() {
        each { series, _ in
            let back = Set(positions(series.items, series.records).map { [$0[1], $0[0]] })
            #expect(positions(series.records, series.items) == back)
        }
    }

    @Test("An item with another secret is taken only if none has the secret")
    func secrets() {
        each { series, _ in
            if series.records.count == 1, series.items.count == 1 { return }
            let pairs = AlikeItems.pairs(of: series.records, with: series.items)
            for (record, pair) in zip(series.records, pairs) {
                guard let pair, series.items[pair].hasOtherSecret(than: record) else { continue }
                for (index, item) in series.items.enumerated() where item.secret == record.secret {
                    guard let owner = pairs.firstIndex(of: index) else {
                        Issue.record("an item with the secret is left over: \(series)")
                        continue
                    }
                    #expect(!item.hasOtherSecret(than: series.records[owner]))
                }
            }
        }
    }

    @Test("After a restore, each record is an item that is equal to it, and no item is gone")
    func restored() {
        each(hasUnknownSecrets: false) { series, _ in
            var items = series.items
            var next = 100
            for (record, pair) in zip(series.records, AlikeItems.pairs(of: series.records, with: series.items)) {
                var written = record
                if let pair {
                    written.position = items[pair].position
                    items[pair] = written
                } else {
                    written.position = next
                    next += 1
                    items.append(written)
                }
            }
            let again = AlikeItems.pairs(of: series.records, with: items)
            for (record, pair) in zip(series.records, again) {
                var item = pair.map { items[$0] }
                item?.position = record.position
                #expect(item == record)
            }
        }
    }

    @Test("A second restore that keeps what is there adds nothing, where no two records have the same secret")
    func keptTwice() {
        var count = 0
        each(hasUnknownSecrets: false, secrets: 12) { series, _ in
            guard Set(series.records.map(\.secret)).count == series.records.count else { return }
            count += 1
            let pairs = AlikeItems.pairs(of: series.records, with: series.items)
            let added = zip(series.records, pairs).filter { $0.1 == nil }.enumerated().map { index, record in
                var item = record.0
                item.position = 100 + index
                return item
            }
            #expect(!AlikeItems.pairs(of: series.records, with: series.items + added).contains(nil), "\(series)")
        }
        #expect(count > 1_000)
    }

    @Test("What is matched while it is read is matched as if all were known")
    func streamed() throws {
        let name = ItemUUID(high: 0x1122_3344_5566_8788, low: 0x99aa_bbcc_0000_0000)
        try each { series, _ in
            guard (series.records + series.items).allSatisfy({ $0.whole != nil }) else { return }
            var matcher = ItemMatcher()
            func uuid(_ item: AlikeItem) -> ItemUUID { name.with(ordinal: UInt32(item.position)) }
            func key(_ item: AlikeItem) -> ItemCode { ItemCode([UInt8(item.position)]) }
            for item in series.items { matcher.add(uuid(item), key: key(item), alike: item) }
            var found: Set<[Int]> = []
            var waiting: [AlikeItem] = []
            for record in series.records {
                let number = try matcher.match(uuid(record), key: key(record), alike: record) {
                    series.items[$0].whole == record.whole && !series.items[$0].hasOtherSecret(than: record)
                }
                if let number {
                    found.insert([record.position, series.items[number].position])
                } else {
                    waiting.append(record)
                }
            }
            for (record, number) in zip(waiting, matcher.rest()) {
                if let number { found.insert([record.position, series.items[number].position]) }
            }
            #expect(found == positions(series.records, series.items))
        }
    }
}
