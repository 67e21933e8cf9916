import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@Suite("Looking up many items by their unique keys")
struct KeyWalkTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let keychain: Keychain
    private let items: [Item]
    private let lives: [Bool]

    /// Of 200 items, every fifth is missing, every seventh a tombstone, and every eleventh no valid item.
    init() throws {
        bench = try Bench(inMemory: true)
        keychain = try bench.create()
        var items: [Item] = []
        try keychain.write { writer in
            for index in 0..<200 {
                let draft = password("item \(1_000 + index)", [.sync: .number(index % 7 == 0 ? 1 : 0)])
                items.append(try writer.add(draft, secret: nil, now: moment(1)))
            }
            for index in items.indices where index % 7 == 0 {
                _ = try writer.delete(matching: ItemQuery(items[index]), now: moment(2))
            }
        }
        // Rows are numbered from 1.
        try bench.alter("DELETE FROM genp WHERE id % 5 = 1")
        try bench.alter("UPDATE genp SET labl = x'ff' WHERE id % 11 = 1")
        self.items = items
        lives = items.indices.map { $0 % 5 != 0 && $0 % 7 != 0 && $0 % 11 != 0 }
    }

    @Test("In any order, each is found unless it is missing, a tombstone or damaged")
    func anyOrder() throws {
        let all = Array(items.indices)
        let orders = [
            all, all.reversed(), all.filter { $0 % 3 == 0 }, all.filter { $0 > 150 }, all.flatMap { [$0, $0] },
            all.flatMap { [$0, 199 - $0] },
        ]
        for order in orders {
            let wrong = try keychain.readItems { existing in
                try order.filter { try existing.item(withKeyOf: items[$0]) != (lives[$0] ? items[$0] : nil) }
            }
            #expect(wrong.isEmpty)
        }
    }

    @Test("An item that is deleted in between is not found, and the others still are")
    func changedInBetween() throws {
        let live = items.indices.filter { lives[$0] }.map { items[$0] }
        try keychain.write { writer in
            for item in live[..<20] { #expect(try writer.item(withKeyOf: item) == item) }
            _ = try writer.delete(matching: ItemQuery(live[20]), now: moment(3))
            #expect(try writer.item(withKeyOf: live[20]) == nil)
            for item in live[21...] { #expect(try writer.item(withKeyOf: item) == item) }
        }
        #expect(try keychain.find(ItemQuery()).items.count == live.count - 1)
    }
}
