import Foundation
import KCBackupArchive
import KCBackupEngine
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCItemSources
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KCItemStores

@Suite("A keychain as a store in which changes are taken back")
struct RestorableKeychainTests {
    private let folder: TemporaryFolder
    private let local: LocalKeychain
    private let keychain: Keychain
    private let told = Told()
    private let setting: StateSetting
    private let store: any RestorableStore

    init() throws {
        folder = try TemporaryFolder()
        let data = DataFolder(path: folder.path("data"))
        let device = LocalDevice(data)
        local = try LocalKeychain("login", in: data)
        _ = try NewKeychain(local, in: data, on: device, cost: ScryptCost(logN: 1), now: moment(0)).make(passcode: nil)
        let keychain = try local.open(on: device, minimumCost: ScryptCost(logN: 1))
        try keychain.unlock(passcode: nil, now: moment(0))
        self.keychain = keychain
        let told = told
        setting = StateSetting(
            folder: data, temporaryFolder: folder.path, home: folder.path, device: device, now: moment(9), tool: "test",
            didKeep: { told.kept += 1 }, warn: { Issue.record("\($0)") })
        let path = local.path
        store = try RestorableKeychain(
            local, minimumCost: ScryptCost(logN: 1), setting,
            KeychainAccess(
                hasPasscode: false,
                open: {
                    guard try Path.exists(path) else { throw KeychainStoreError.notFound(path) }
                    return keychain
                }, unlock: { _ in }, make: { _, _ in throw KeychainStoreError.exists(path) }))
    }

    @Test("Undo is planned after a change that another run is making, whose state is not passed over")
    func waitsForRunningChange() throws {
        try add("ann")
        let minimum = ScryptCost(logN: 1)
        let path = local.path
        let impatient = try Keychain.open(
            at: path, deviceKey: keychain.deviceKey, lockWait: .zero, minimumCost: minimum)
        let store = try RestorableKeychain(
            local, minimumCost: minimum, setting,
            KeychainAccess(
                hasPasscode: false, open: { impatient }, unlock: { _ in },
                make: { _, _ in throw KeychainStoreError.exists(path) }))
        let lock = try FileLock(path + ".lock", waitingAtMost: .zero)
        #expect(throws: KeychainStoreError.busy) { try store.planUndo(to: nil) }
        withExtendedLifetime(lock) {}
    }

    private func archive() throws -> ProvenArchive {
        let (key, _) = try setting.device.keyOrFirst()
        let source = try ArchiveSource(kind: "keychain", name: "login")
        let to = FolderDestination(folder: folder.path, name: "a.kcb")
        _ = try CreateBackup(of: source, device: key, tool: "test", to: to, now: moment(3)).unencrypted(keychain)
        return try ProvenArchive(
            ArchiveFile(OpenFile.reading(folder.path("a.kcb"))).prove().open(), local: LocalIdentity(device: key))
    }

    private func request(_ archive: ProvenArchive) -> RestoreRequest {
        RestoreRequest(.archive(archive), RestoreOptions(), keepsState: true)
    }

    @Test("A rehearsal changes nothing; a restore brings items back, keeps the state, and is taken back like a change")
    func restoring() throws {
        try add("ann", isKept: false)
        let archive = try archive()
        try keychain.write { writer in _ = try writer.delete(matching: ItemQuery(), now: moment(4)) }
        let request = request(archive)
        #expect(try store.newStore(for: .archive(archive)) == nil)
        #expect(try store.restore(request.rehearsal, RestoreObserver()).counts.create == 1)
        #expect(try accounts().isEmpty && store.states().states.isEmpty && told.kept == 0)
        var decided: [RestoreAction] = []
        var observer = RestoreObserver()
        observer.observe = { _, action in decided.append(action) }
        #expect(try store.restore(request, observer).writesSomething)
        #expect(try accounts() == ["ann"] && decided == [.create] && told.kept == 1)
        #expect(try !store.restore(request, RestoreObserver()).writesSomething)
        #expect(try store.states().states.map(\.state.command) == ["restore"])
        _ = try store.planUndo(to: nil).apply(keepsState: false)
        #expect(try accounts().isEmpty)
    }

    @Test("A keychain that does not exist is made when something is written to it, and not for a rehearsal")
    func making() throws {
        try add("ann", isKept: false)
        let archive = try archive()
        let other = try LocalKeychain("other", in: setting.folder)
        let new = NewKeychain(
            other, in: setting.folder, on: setting.device, cost: ScryptCost(logN: 1), now: moment(5))
        let store = try RestorableKeychain(
            other, minimumCost: ScryptCost(logN: 1), setting,
            KeychainAccess(
                hasPasscode: true, open: { throw KeychainStoreError.notFound(other.path) }, unlock: { _ in },
                make: { adopted, fill in
                    if adopted != nil { Issue.record("a passcode was given") }
                    return try new.make(passcode: nil, fill).0
                }))
        #expect(store.newStore(for: .archive(archive)) == NewStore(needsPasscode: false))
        _ = try store.restore(request(archive).rehearsal, RestoreObserver())
        #expect(try !Path.exists(other.path))
        #expect(try store.restore(request(archive), RestoreObserver()).makesKeychain)
        #expect(try Path.exists(other.path))
        let made = try other.open(on: setting.device, minimumCost: ScryptCost(logN: 1))
        #expect(try made.itemCount() == 1)
    }

    @Test("A restore takes the keys that an earlier command unlocked, and an import leaves their clock alone")
    func resuming() throws {
        try add("ann", isKept: false)
        let (archive, path, keychain) = (try archive(), local.path, keychain)
        var resumed = 0
        func store() throws -> RestorableKeychain {
            try RestorableKeychain(
                local, minimumCost: ScryptCost(logN: 1), setting,
                KeychainAccess(
                    hasPasscode: true, open: { keychain }, resume: { _ in resumed += 1 }, unlock: { _ in },
                    make: { _, _ in throw KeychainStoreError.exists(path) }))
        }
        var collection = ItemCollection(date: moment(0))
        try collection.add(ItemDraft(itemClass: .genericPassword), secret: SecretBytes(copying: "x".utf8))
        let items = RestoreRequest(.items(try collection.finish()), RestoreOptions(), keepsState: false)
        #expect(try store().restore(items, RestoreObserver()).counts.create == 1)
        #expect(resumed == 0)
        _ = try store().restore(request(archive), RestoreObserver())
        #expect(resumed == 1)
    }

    private func add(_ account: String, isKept: Bool = true) throws {
        var attributes = Attributes()
        attributes[.acct] = .text(account)
        try KeychainStates(of: keychain, setting).keeping(before: .itemAdd, isKept: isKept) { keep in
            try keychain.write { writer in
                try keep()
                _ = try writer.add(
                    ItemDraft(itemClass: .genericPassword, attributes: attributes),
                    secret: SecretBytes(copying: account.utf8), now: moment(1))
            }
        }
    }

    private func accounts() throws -> [String?] {
        try keychain.find(ItemQuery()).items.map { $0.attributes.text(.acct) }
    }

    private func accounts(
        _ items: ListedItems, where isIncluded: (Int) -> Bool = { _ in true }
    ) throws -> [String?] {
        try items.named(first: .max, where: isIncluded).map { $0.item.attributes.text(.acct) }
    }

    @Test("What is taken back of large items waits in a file, and not in memory")
    func large() throws {
        let note = String(repeating: "walnut ", count: 9_000)
        func change(_ command: KeptStates.Change, _ body: (KeychainWriter, Int) throws -> Void) throws {
            try KeychainStates(of: keychain, setting).keeping(before: command, isKept: true) { keep in
                try keychain.write { writer in
                    try keep()
                    for number in 0..<30 { try body(writer, number) }
                }
            }
        }
        try change(.itemAdd) { writer, number in
            var draft = ItemDraft(itemClass: .genericPassword)
            for code in [AttributeCode.labl, .icmt, .desc] { draft.attributes[code] = .text(note) }
            draft.attributes[.acct] = .text("\(10 + number)")
            _ = try writer.add(draft, secret: SecretBytes(copying: "a".utf8), now: moment(1))
        }
        #expect(try !changes(store.planUndo(to: nil)).vanishing.isHeld)
        try change(.itemUpdate) { writer, number in
            var query = ItemQuery()
            query.attributes[.acct] = .text("\(10 + number)")
            _ = try writer.update(matching: query, set: [.type: .number(7)], secret: nil, now: moment(5))
        }
        let changes = try changes(store.planUndo(to: nil))
        #expect(changes.changing.count == 30 && !changes.changing.isHeld)
        #expect(changes.vanishing.isEmpty && changes.returning.isEmpty && changes.changedSince == 0)
        var whole = 0
        try changes.changing.forEach { item, _ in if item.attributes.text(.icmt) == note { whole += 1 } }
        #expect(whole == 30)
    }

    private func changes(_ plan: UndoPlan) throws -> UndoneChanges {
        guard case .changes(let changes) = plan.effect else { throw StateFailure.none(named: nil) }
        return changes
    }

    @Test("A plan says what it takes back and changes nothing; applied, it does that, and can be taken back")
    func backAndForth() throws {
        try add("ann")
        try add("bob")
        let plan = try store.planUndo(to: nil)
        let changes = try changes(plan)
        #expect(plan.state.command == "item add" && plan.itemsAfter == 1 && changes.itemsBefore == 2)
        #expect(try accounts(changes.vanishing) == ["bob"])
        #expect(changes.addedSince == 0 && changes.changing.isEmpty && changes.returning.isEmpty)
        #expect(try accounts() == ["ann", "bob"])
        #expect(try plan.apply(keepsState: true) == nil)
        #expect(try accounts() == ["ann"])
        _ = try store.planUndo(to: nil).apply(keepsState: true)
        #expect(try accounts() == ["ann", "bob"])
        #expect(told.kept == 4)
    }

    @Test("An item that has the name of a renamed one goes when the change is taken back, and is listed")
    func renamed() throws {
        try add("ann")
        try add("bob")
        try keychain.write { writer in
            var query = ItemQuery()
            query.attributes[.acct] = .text("ann")
            _ = try writer.update(matching: query, set: [.acct: .text("eve")], secret: nil, now: moment(5))
        }
        try add("ann", isKept: false)
        let changes = try changes(store.planUndo(to: nil))
        #expect(try accounts(changes.vanishing) == ["ann", "bob"])
        #expect(try accounts(changes.changing) == ["eve"] && changes.returning.isEmpty)
    }

    @Test("What the undone command did not write is told apart, and a plan that is out of date is not applied")
    func changedSince() throws {
        try add("ann")
        try add("bob", isKept: false)
        let plan = try store.planUndo(to: nil)
        let changes = try changes(plan)
        #expect(changes.addedSince == 1)
        #expect(try accounts(changes.vanishing) { $0 == UndoneChanges.Since.added.rawValue } == ["bob"])
        try add("carl", isKept: false)
        #expect(throws: KeychainStoreError.busy) { try plan.apply(keepsState: true) }
        #expect(try accounts() == ["ann", "bob", "carl"])
        #expect(try store.states().states.count == 1)
    }

    @Test("A named state takes back all that followed; a name that no state has is refused, as is the present state")
    func named() throws {
        try add("ann")
        try add("bob")
        let oldest = try #require(try store.states().states.last?.state)
        let plan = try store.planUndo(to: oldest.name)
        #expect(plan.isOlder && plan.itemsAfter == 0)
        _ = try plan.apply(keepsState: false)
        #expect(try accounts().isEmpty)
        #expect(throws: StateFailure.self) { try store.planUndo(to: "20010101T000000.000000Z") }
    }

    @Test("A state that is damaged is named, counts as unreadable in the list, and does not hide the others")
    func damagedState() throws {
        try add("ann")
        try add("bob")
        let newest = try #require(try store.states().states.first?.state)
        var bytes = try Data(contentsOf: URL(filePath: newest.path))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: newest.path))
        #expect {
            try store.planUndo(to: nil)
        } throws: { error in
            if case StateFailure.unreadable(newest, _) = error { true } else { false }
        }
        let listed = try store.states().states
        #expect(listed.map { (try? $0.contents.get())?.items } == [nil, 0])
    }

    @Test("A state replaces a file that is missing, and nothing replaces one because of another error")
    func repair() throws {
        try add("ann")
        try add("bob")
        try FileManager.default.removeItem(atPath: local.path)
        let missing = KeychainStoreError.notFound(local.path)
        #expect(throws: missing) { try store.planUndo(to: nil) }
        let other = try store.planRepair(after: KeychainStoreError.busy, to: nil)
        #expect(other == nil)
        let listed = try store.states()
        #expect(listed.states.count == 2 && listed.damage != nil)
        let plan = try #require(try store.planRepair(after: missing, to: nil))
        #expect(plan.itemsAfter == 1)
        // The file was there when the store was made, so another one that was put there must not be lost.
        #expect(throws: KeychainStoreError.busy) { try plan.apply(keepsState: true) }
    }
}

/// The reports of a store.
private final class Told {
    var kept = 0
}

private func moment(_ seconds: Int64) -> Timestamp {
    Timestamp.reference.advanced(byMicroseconds: seconds * 1_000_000)
}
