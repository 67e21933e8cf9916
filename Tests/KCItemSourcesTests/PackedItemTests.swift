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
            PackedItem.encode(item, key: PackedItem.key(of: item), into: &bytes)
            let end = bytes.count
            let (found, range, uuid) = bytes.withBytes { bytes in
                let (item, range) = PackedItem.decode(bytes)
                return (item, range, PackedItem.uuid(bytes))
            }
            #expect(found == item)
            #expect(range == end..<end + (item.secretSize ?? 0))
            #expect(uuid == item.uuid)
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
        for index in 0..<items.count {
            let number = items.item(at: index).attributes.text(.svce).flatMap { Int($0) } ?? -1
            let secret = items.secret(at: index)?.withBytes { bytes in (bytes.count, bytes[0]) }
            #expect(number < 1_000 || number > 2_000)
            #expect(secret?.0 == 1_000 && secret?.1 == UInt8(number % 251))
        }
    }
}
