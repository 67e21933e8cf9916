import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemSources

@Suite("Items that are named later")
struct ItemLogTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func item(_ number: Int) throws -> Item {
        var draft = ItemDraft(itemClass: number % 2 == 0 ? .genericPassword : .internetPassword)
        draft.attributes[.acct] = .text("\(1_000 + number)")
        draft.attributes[.icmt] = .text(String(repeating: "c", count: number % 3 == 0 ? 20_000 : 10))
        return try draft.completed(now: .reference, secretSize: number % 5 == 0 ? nil : 4)
    }

    private func logged(_ numbers: [Int], limit: Int) throws -> (items: ListedItems, mostHeld: Int) {
        let log = ItemLog(spoolingIn: folder.path, limit: limit)
        for number in numbers {
            try log.add(item(number), number: number, secret: SecretBytes(copying: String(1_000 + number).utf8))
        }
        return (try log.finish(), log.mostHeld)
    }

    @Test(
        "They come in archive order with numbers and secrets, and no more than the limit is held",
        arguments: [0, 70_000])
    func order(limit: Int) throws {
        var random = SeededRandom(seed: 3)
        let numbers = Array(0..<200)
        let (items, mostHeld) = try logged(numbers.shuffled(using: &random), limit: limit)
        var found: [(item: Item, number: Int, secret: String)] = []
        try items.forEachSecret { item, number, secret in
            found.append((item, number, String(decoding: Array(copying: secret), as: UTF8.self)))
        }
        #expect(found.map(\.number) == numbers.filter { $0 % 2 == 0 } + numbers.filter { $0 % 2 == 1 })
        for (one, number, secret) in found {
            #expect(try one.attributes == item(number).attributes)
            #expect(secret == "\(1_000 + number)")
        }
        #expect(mostHeld < limit + 30_000 && !items.isHeld)
        #expect(try items.uuids() == Set(found.map(\.item.uuid)))
        #expect(try items.named(first: 2) { $0 % 3 == 0 }.map(\.number) == [0, 6])
        #expect(try items.named(first: 1)[0].item.attributes.text(.icmt)?.utf8.count == 1_024)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Items that come in archive order are one run in the file, however many, and few are in memory alone")
    func oneRun() throws {
        let numbers = Array(stride(from: 0, to: 200, by: 2))
        let (spooled, _) = try logged(numbers, limit: 1_000)
        #expect(spooled.items.runs.count <= 2)
        let (held, _) = try logged(numbers, limit: 10_000_000)
        #expect(held.isHeld && held.count == 100)
        #expect(try logged([], limit: 0).items.isEmpty)
    }

    @Test("An item that was added without its secret comes back so")
    func withoutSecret() throws {
        let log = ItemLog(spoolingIn: folder.path, limit: 0)
        for number in 1..<4 { try log.add(item(number)) }
        var sizes: [Int] = []
        try log.finish().forEachSecret { item, _, secret in
            #expect(item.secretSize == 4)
            sizes.append(secret.count)
        }
        #expect(sizes == [0, 0, 0])
    }

    @Test("A temporary folder that takes nothing is named in the failure, and not the file that is read")
    func noFolder() throws {
        let log = ItemLog(spoolingIn: folder.path("none"), limit: 0)
        let failure = try #require(throws: SpoolFailure.self) { try log.add(item(1)) }
        #expect(failure.folder == folder.path("none") && failure.cause is FileFailure)
    }
}
