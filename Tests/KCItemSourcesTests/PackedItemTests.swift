import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemSources

@Suite("Items as they wait for being written")
struct PackedItemTests {
    /// Values with what a key could mistake for the end of a value.
    private static let values: [AttributeValue] = [
        .text(""), .text("a"), .text("a\u{0}"), .text("a\u{1}"), .text("ab"), .text("\u{0}"), .text("é"),
        .text("e\u{301}"),
        .data([]), .data([0]), .data([0, 0]), .data([0, 1]), .data([255, 0]), .data([97]),
    ]

    private static func items() throws -> [Item] {
        var items: [Item] = []
        for itemClass in ItemClass.allCases {
            let texts = itemClass.uniqueKey.filter { $0.kind == .textOrData }
            for (index, value) in values.enumerated() {
                for number in [Int64.min, -1, 0, 1, .max] {
                    var draft = ItemDraft(itemClass: itemClass)
                    for (place, code) in texts.enumerated() where place <= index % 3 { draft.attributes[code] = value }
                    for code in itemClass.uniqueKey where code.kind == .number && code != .sync {
                        draft.attributes[code] = .number(number)
                    }
                    for code in itemClass.uniqueKey where code.kind == .date {
                        draft.attributes[code] = .date(.reference)
                    }
                    draft.attributes[.labl] = value
                    draft.extra = [ExtraAttribute(name: "x", value: "é\u{0}"), ExtraAttribute(name: "", value: "")]
                    items.append(
                        try draft.completed(now: .reference, secretSize: index % 4 == 0 ? nil : index % 4 * 100 - 100))
                }
            }
        }
        return items
    }

    @Test("Every item comes back as it was, with its secret")
    func roundTrip() throws {
        for item in try Self.items() {
            var bytes = SecretBytes(capacity: 64)
            let secret = item.secretSize.map { SecretBytes(copying: [UInt8](repeating: 7, count: $0)) }
            PackedItem.encode(item, number: 1 << 40, key: PackedItem.key(of: item), secret: secret, into: &bytes)
            let end = bytes.count
            bytes.append(9)
            var builder = AttributesBuilder()
            bytes.withBytes { bytes in
                let (found, range) = PackedItem.decode(bytes, &builder)
                #expect(found == item)
                #expect(range == end - (item.secretSize ?? 0)..<end)
                #expect(range.allSatisfy { bytes[$0] == 7 })
                #expect(PackedItem.uuid(bytes) == item.uuid)
                #expect(PackedItem.number(bytes) == 1 << 40)
                #expect(PackedItem.size(bytes) == end)
            }
        }
    }

    @Test("Keys sort as items do, and are equal where items have the same unique key")
    func order() throws {
        let items = try Self.items()
        let keys = items.map { PackedItem.key(of: $0) }
        for (item, key) in zip(items, keys) {
            for (other, otherKey) in zip(items, keys) {
                #expect(key.lexicographicallyPrecedes(otherKey) == item.precedes(other))
                #expect((key == otherKey) == item.hasKey(of: other))
            }
        }
    }

    @Test("Items that fill many pieces of memory are all there, and so are those before a removed one")
    func pieces() throws {
        var collection = ItemCollection(date: .reference)
        let count = 3_000
        for number in 0..<count {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text("\(number)")
            let secret = [UInt8](repeating: UInt8(number % 251), count: 1_000)
            try collection.add(draft, secret: SecretBytes(copying: secret))
            if number == 2_000 { collection.keepFirst(1_000) }
        }
        let items = try collection.finish()
        #expect(items.count == 1_000 + count - 2_001)
        var visitor = NumberedVisitor()
        try items.visitItems(&visitor)
        #expect(visitor.count == items.count)
    }
}

/// Expects each item to have the secret that belongs to its number.
private struct NumberedVisitor: ItemVisitor {
    private(set) var count = 0

    func wants(_ item: Item) -> Bool { true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        count += 1
        let number = item.attributes.text(.svce).flatMap { Int($0) } ?? -1
        #expect(number < 1_000 || number > 2_000)
        #expect(secret.withBytes { $0.count == 1_000 && $0[0] == UInt8(number % 251) })
    }

    func skip(damaged item: Item?) {}
}
