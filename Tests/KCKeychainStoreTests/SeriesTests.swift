import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@Suite("Series of imported items")
struct SeriesTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let keychain: Keychain
    private let items: [Item]

    /// Adds an item of each of 114 series: of every third two, and of every fourth another one that is a tombstone.
    init() throws {
        bench = try Bench(inMemory: true)
        keychain = try bench.create()
        items = try keychain.write { writer in
            var items: [Item] = []
            for series in 0..<114 {
                items.append(try writer.add(Self.draft(series, 1), secret: nil, now: moment(1)))
                if series % 3 == 0 {
                    items.append(try writer.add(Self.draft(series, 2), secret: nil, now: moment(1)))
                }
                if series % 4 == 0 {
                    let dead = try writer.add(Self.draft(series, 0, synchronizable: 1), secret: nil, now: moment(1))
                    items.append(dead)
                    _ = try writer.delete(matching: ItemQuery(dead), now: moment(2))
                }
            }
            return items
        }
    }

    /// An item of a series, with a UUID as an import makes it.
    private static func draft(_ series: Int, _ ordinal: UInt32, synchronizable: Int64 = 0) -> ItemDraft {
        var draft = password("\(series) \(ordinal)", [.sync: .number(synchronizable)])
        let half = UInt64(series) << 32
        draft.uuid = ItemUUID(high: half | 0x8000, low: half | UInt64(ordinal))
        return draft
    }

    @Test("However many are asked for, only a live item is one beside another", arguments: [50, 1_000])
    func others(count: Int) throws {
        let asked = (0..<count).map { items[$0 % items.count] }
        let wrong = try keychain.readItems { existing in
            try asked.filter { item in
                try existing.hasOthersInSeries(of: item) != existing.series(of: item).contains { $0.uuid != item.uuid }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test("An item that is added after many were asked for counts")
    func added() throws {
        // The only one of its series.
        let lone = items[3]
        try keychain.write { writer in
            for item in items { _ = try writer.hasOthersInSeries(of: item) }
            #expect(try !writer.hasOthersInSeries(of: lone))
            var draft = password("another one")
            draft.uuid = lone.uuid.with(ordinal: 9)
            try writer.add(draft, secret: nil, now: moment(3))
            #expect(try writer.hasOthersInSeries(of: lone))
        }
    }
}
