import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KCItemStores

@Suite("A keychain as a store of items")
struct KeychainItemStoreTests {
    private let folder: TemporaryFolder
    private let keychain: Keychain
    private let states: CountedStates
    private let store: any ItemStore

    init() throws {
        folder = try TemporaryFolder()
        let device = try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        let keychain = try Keychain.create(
            at: folder.path("login.keychain"), deviceKey: device, passcode: nil, cost: ScryptCost(logN: 1),
            now: moment(0))
        try keychain.unlock(passcode: nil, now: moment(0))
        for account in ["ann", "bob", "carl"] {
            var attributes = Attributes()
            attributes[.acct] = .text(account)
            attributes[.svce] = .text(account == "carl" ? "forum" : "wi-fi")
            _ = try keychain.write { writer in
                try writer.add(
                    ItemDraft(itemClass: .genericPassword, attributes: attributes),
                    secret: SecretBytes(copying: ("of " + account).utf8), now: moment(1))
            }
        }
        let states = CountedStates(
            try Keychain.open(at: folder.path("login.keychain"), deviceKey: device, minimumCost: ScryptCost(logN: 1)))
        self.keychain = keychain
        self.states = states
        store = KeychainItemStore(keychain, states: states) { _ in keychain }
    }

    private func filter(_ text: String) -> ItemFilter {
        var filter = ItemFilter()
        filter.text = text
        return filter
    }

    private func accounts(_ items: [Item]) -> [String?] { items.map { $0.attributes.text(.acct) } }

    @Test("Finding and walking give the same items in the same order", arguments: ["wi-fi", "FORUM", "ann", "nothing"])
    func finding(text: String) throws {
        let found = try store.find(filter(text))
        var measured: [Item] = []
        var walked: [Item] = []
        let shortfall = try store.walk(
            filter(text), first: { item, _ in measured.append(item) }, unless: { false }, { walked.append($0) })
        #expect(found.items == walked)
        #expect(measured == walked)
        #expect(found.isEmpty == (text == "nothing"))
        #expect(shortfall.isNone)
    }

    @Test("A change concerns exactly the items that were found, and the state before it is kept first")
    func updating() throws {
        let found = try store.find(filter("wi-fi"))
        let report = try store.update(
            found.items, [.icmt: .text("upstairs")], secret: SecretBytes(copying: "new".utf8), now: moment(5),
            keepsState: true)
        #expect(accounts(report.changed) == ["ann", "bob"])
        #expect(report.unkept.isEmpty)
        #expect(states.commands == [.itemUpdate])
        #expect(states.comments == [[nil, nil, nil]])
        for item in try store.find(ItemFilter()).items {
            let secret = try #require(try store.secret(of: item)?.bytesForTest())
            #expect((item.attributes.text(.icmt) != nil) == (item.attributes.text(.svce) == "wi-fi"))
            #expect((String(decoding: secret, as: UTF8.self) == "new") == (item.attributes.text(.svce) == "wi-fi"))
        }
    }

    @Test("A change that the keychain refuses changes no item")
    func refused() throws {
        let found = try store.find(filter("wi-fi"))
        #expect(throws: KeychainStoreError.duplicateItem) {
            try store.update(found.items, [.acct: .text("same")], secret: nil, now: moment(5), keepsState: true)
        }
        #expect(accounts(try store.find(ItemFilter()).items) == ["ann", "bob", "carl"])
    }

    @Test("Without a state to keep, nothing is kept")
    func keepingNothing() throws {
        let found = try store.find(filter("ann"))
        try store.delete(found, filter("ann"), now: moment(5), keepsState: false)
        #expect(states.commands.isEmpty)
        #expect(accounts(try store.find(ItemFilter()).items) == ["bob", "carl"])
    }

    @Test("Deleting removes the found items, and an item that was added since stays")
    func deleting() throws {
        let found = try store.find(filter("wi-fi"))
        var attributes = Attributes()
        attributes[.acct] = .text("dora")
        attributes[.svce] = .text("wi-fi")
        _ = try keychain.write { writer in
            try writer.add(
                ItemDraft(itemClass: .genericPassword, attributes: attributes), secret: SecretBytes(copying: "x".utf8),
                now: moment(4))
        }
        try store.delete(found, filter("wi-fi"), now: moment(5), keepsState: true)
        #expect(accounts(try store.find(ItemFilter()).items) == ["carl", "dora"])
        #expect(states.commands == [.itemDelete])
    }
}

/// Remembers the commands and what the keychain held when its state was to be kept.
private final class CountedStates: StateKeeping {
    /// Another connection, which sees nothing of a transaction that has not ended.
    private let keychain: Keychain
    private(set) var commands: [KeptStates.Change] = []
    private(set) var comments: [[String?]] = []

    init(_ keychain: Keychain) { self.keychain = keychain }

    func count() -> Int { commands.count }

    func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        try change {
            guard isKept else { return }
            self.commands.append(command)
            self.comments.append(try self.keychain.find(ItemQuery()).items.map { $0.attributes.text(.icmt) })
        }
    }
}

private func moment(_ seconds: Int64) -> Timestamp {
    Timestamp.reference.advanced(byMicroseconds: seconds * 1_000_000)
}
