import KCItemMatching
import Testing

@Suite("Which collections of a service are those of an archive")
struct CollectionPairingTests {
    @Test(
        "Collections with the same label are matched by what they hold, then by their number",
        arguments: [
            // The former second collection is the only one now, in a keyring made from the archive.
            ([1: [1, 2]], [0: [1, 2]], [1: 0]),
            // They were made in another order.
            ([0: [1], 1: [2]], [0: [2], 1: [1]], [0: 1, 1: 0]),
            ([0: [1], 1: [2]], [0: [2]], [0: 1, 1: 0]),
            // The first one is empty, and not in the archive.
            ([1: [1]], [0: [], 1: [1]], [1: 1]), ([1: [1]], [0: [], 1: [2]], [1: 1]),
            // Nothing tells them apart.
            ([0: [1], 1: [1]], [0: [1], 1: [1]], [0: 0, 1: 1]), ([0: [1], 1: [2]], [:], [0: 0, 1: 1]),
            ([0: [1]], [0: [2]], [0: 0]), ([3: [1], 1: [2]], [:], [1: 0, 3: 1]),
        ] as [([Int: [UInt8]], [Int: [UInt8]], [Int: Int])])
    func collections(_ archived: [Int: [UInt8]], _ existing: [Int: [UInt8]], _ expected: [Int: Int]) {
        func keys(_ collections: [Int: [UInt8]]) -> CollectionPairing.Collections {
            collections.mapValues { keys in
                var contents = CollectionPairing.Contents()
                for key in keys { contents.insert([key], AlikeItem(position: 0, label: "", secret: ItemCode([1]))) }
                return contents
            }
        }
        #expect(CollectionPairing.pairs(of: keys(archived), with: keys(existing)) == expected)
    }

    @Test("Of collections with the same items, the one with the same secrets is the same")
    func secrets() {
        func contents(_ secret: UInt8) -> CollectionPairing.Contents {
            var contents = CollectionPairing.Contents()
            contents.insert([1], AlikeItem(position: 0, label: "A", secret: ItemCode([secret])))
            return contents
        }
        let pairs = CollectionPairing.pairs(of: [0: contents(1), 1: contents(2)], with: [0: contents(2)])
        #expect(pairs == [0: 1, 1: 0])
    }
}
