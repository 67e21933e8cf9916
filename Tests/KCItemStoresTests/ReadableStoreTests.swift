import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCItemStores

@Suite("What a store that provides its items alone can do")
struct ReadableStoreTests {
    /// Two items, the second of which cannot be opened.
    private struct Store: ReadableStore {
        let items: [Item]
        let identity = "two"

        init() throws {
            items = try ["ann", "bob"].map { account in
                var attributes = Attributes()
                attributes[.acct] = .text(account)
                return try ItemDraft(itemClass: .genericPassword, attributes: attributes)
                    .completed(now: Timestamp.reference, secretSize: 3)
            }
        }

        var unread: UnreadItems {
            var unread = UnreadItems()
            unread.count = 1
            return unread
        }

        func itemCount() -> Int { items.count }

        func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
            for item in items where try visitor.wants(item) {
                if item == items[1] {
                    try visitor.skip(damaged: item)
                } else {
                    var line = SecretBytes(capacity: 0)
                    ItemLine.encode(item, into: &line)
                    try line.withBytes { try visitor.take(item, line: $0, secret: SecretBytes(copying: "abc".utf8)) }
                }
            }
        }
    }

    @Test("Items are found and walked in their order, with the number of those that could not be read")
    func finding() throws {
        let store = try Store()
        let found = try store.find(ItemFilter())
        #expect(found.items == store.items)
        #expect(found.shortfall.unread == 1)
        var filter = ItemFilter()
        filter.text = "bob"
        var walked: [Item] = []
        let shortfall = try store.walk(filter, first: { _, _ in }, unless: { false }, { walked.append($0) })
        #expect(walked == [store.items[1]])
        #expect(!shortfall.isNone)
        // An item that cannot be read may be the one that is looked for.
        filter.text = "nobody"
        #expect(try !store.find(filter).isEmpty)
    }

    @Test("The secret of an item that does not open is an error, and not an item without one")
    func secret() throws {
        let store = try Store()
        let secret = try store.secret(of: store.items[0])
        #expect(secret?.withBytes { $0.count } == 3)
        #expect(throws: KeychainStoreError.itemDamaged(store.items[1].uuid)) {
            _ = try store.secret(of: store.items[1])
        }
    }
}
