import KCByteStreams
import KCItemMatching
import KCItemSources
import KCKeychainModel
import Testing

/// A keychain that counts what it is asked.
private final class CountingKeychain: ExistingItems {
    private var series: [ItemUUID: [Item]] = [:]
    private var secrets: [ItemUUID: String] = [:]
    var opened = 0
    var searched = 0

    init(_ items: [(item: Item, secret: String)]) {
        for (item, secret) in items {
            series[item.uuid.with(ordinal: 0), default: []].append(item)
            secrets[item.uuid] = secret
        }
    }

    func series(of item: Item) -> [Item] {
        searched += 1
        return series[item.uuid.with(ordinal: 0)] ?? []
    }

    func code<Code>(ofSecretOf existing: Item, _ code: (borrowing SecretBytes) throws -> Code) throws -> Code? {
        opened += 1
        return try code(SecretBytes(copying: (secrets[existing.uuid] ?? "").utf8))
    }

    func item(withKeyOf item: Item) -> Item? { nil }
    func item(withUUID uuid: ItemUUID) -> Item? { nil }
    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool { false }
    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) -> Int { 0 }
}

@Suite("The work of matching")
struct AlikePlacesTests {
    private func item(_ series: UInt64, _ ordinal: UInt32) throws -> Item {
        let uuid = ItemUUID(high: series << 32 | 0x8000, low: 1 << 63).with(ordinal: ordinal)
        var draft = ItemDraft(itemClass: .genericPassword, uuid: uuid)
        draft.attributes[.svce] = .text("service \(series)")
        if ordinal > 0 { _ = draft.attributes.mark(.genericPassword, for: uuid) }
        return try draft.completed(now: .reference, secretSize: 1)
    }

    @Test("Of 2,000 alike items, each secret is opened once, however they moved")
    func once() throws {
        let items = try (0..<2_000).map { (item: try item(1, $0), secret: "p\($0)") }
        let keychain = CountingKeychain(items)
        var places = try AlikePlaces(in: keychain)
        for index in 0..<1_999 {
            try places.add(
                items[index].item, secret: places.codes.secret(SecretBytes(copying: items[index + 1].secret.utf8)))
        }
        try places.finish()
        #expect(keychain.opened == 2_000 && keychain.searched == 1)
        for index in 0..<1_999 { #expect(places.place(of: items[index].item.uuid) == .item(items[index + 1].item)) }
    }

    @Test("No secret of an item that is alone in its series, on both sides, is opened")
    func alone() throws {
        let items = try (0..<100).map { (item: try item($0, 0), secret: "p") }
        let keychain = CountingKeychain(items)
        var places = try AlikePlaces(in: keychain)
        for (item, _) in items { try places.add(item, secret: places.codes.secret(SecretBytes(copying: "x".utf8))) }
        for number in UInt64(200)..<300 { try places.add(item(number, 0), secret: nil) }
        try places.finish()
        #expect(keychain.opened == 0 && keychain.searched == 200)
        #expect(items.allSatisfy { places.place(of: $0.item.uuid) == .own })
    }
}
