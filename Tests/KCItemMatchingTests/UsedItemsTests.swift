import KCItemMatching
import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Items that are each used once")
struct UsedItemsTests {
    @Test("The second use is refused, of records and of other items")
    func once() {
        var random = SeededRandom(seed: 3)
        let records = (0..<200).map { _ in ItemUUID(high: random.next(), low: random.next()) }
        let others = (0..<200).map { _ in ItemUUID(high: random.next(), low: random.next()) }
        let imported = ImportedUUIDs(records)
        #expect(imported.count == 200)
        #expect(records.allSatisfy { imported.contains($0) } && !others.contains { imported.contains($0) })
        #expect(Set(records.compactMap { imported.number(of: $0) }) == Set(0..<200))
        var used = UsedItems(imported)
        let all = (records + others).shuffled(using: &random)
        for isFirst in [true, false] {
            let answers = all.map { used.use($0) }
            #expect(answers.allSatisfy { $0 == isFirst })
        }
        var none = UsedItems(ImportedUUIDs([]))
        let answers = [none.use(others[0]), none.use(others[0])]
        #expect(answers == [true, false])
    }
}
