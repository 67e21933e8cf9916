import KCItemMatching
import KCKeychainModel
import Testing

@Suite("Items with UUIDs and unique keys")
struct ItemMatcherTests {
    /// Items written as `key` and number of the UUID, such as `K1`.
    private func pairs(_ before: String, _ after: String) throws -> [String: String] {
        func items(_ text: String) -> [(name: String, uuid: ItemUUID, key: ItemCode)] {
            text.split(separator: " ").map { name in
                let number = UInt64(name.dropFirst()) ?? 0
                return (
                    String(name), ItemUUID(high: number << 32 | 0x4000, low: 1 << 63), ItemCode(name.prefix(1).utf8)
                )
            }
        }
        var matcher = ItemMatcher()
        let (first, second) = (items(before), items(after))
        for item in first { matcher.add(item.uuid, key: item.key) }
        var waiting: [String] = []
        var pairs: [String: String] = [:]
        for item in second {
            if let number = try matcher.match(item.uuid, key: item.key) {
                pairs[item.name] = first[number].name
            } else {
                waiting.append(item.name)
            }
        }
        for (name, number) in zip(waiting, matcher.rest()) { pairs[name] = number.map { first[$0].name } }
        #expect(first.indices.count(where: { matcher.isMatched($0) }) == pairs.count)
        return pairs
    }

    @Test(
        "An item is the one with its UUID, else the one with its unique key, and never two",
        arguments: [
            ("a1 b2", "a1 b2", ["a1": "a1", "b2": "b2"]),
            // Renamed; deleted and added again; the names swapped.
            ("a1", "b1", ["b1": "a1"]), ("a1", "a2", ["a2": "a1"]), ("a1 b2", "b1 a2", ["b1": "a1", "a2": "b2"]),
            // An item was renamed, and another one has its name now.
            ("a1", "b1 a2", ["b1": "a1"]), ("a1", "a2 b1", ["b1": "a1"]),
            // An item was deleted, and another one has its name now.
            ("a1 b2", "a2", ["a2": "b2"]), ("a1", "b2", [:]),
        ] as [(String, String, [String: String])])
    func pairs(_ before: String, _ after: String, _ expected: [String: String]) throws {
        #expect(try pairs(before, after) == expected)
    }
}
