import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys
@testable import KCKeychainStore

@Suite("Changing class keys with the passcode") struct ClassKeyChangeTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    /// The secrets in the current file that the device key and the class keys of an earlier keybag open.
    private func opens(_ keybag: Keybag, passcode: String?) throws -> Set<String> {
        let text = String(decoding: keybag.text, as: UTF8.self)
        let archived = try ArchivedKeybag(text: text, of: bench.device.id, deviceKey: bench.device)
        switch passcode.secret {
        case .some(let passcode): try archived.unlock(passcode: passcode, minimumCost: Bench.cost)
        case .none: break
        }
        let stored = try bench.open().visit(.stored)
        var opened: Set<String> = []
        var secret = SecretBytes(capacity: 64)
        for (index, item) in stored.items.enumerated() {
            let line = stored.lines[index]
            let bytes = SecretBytes(copying: stored.secrets[index])
            if try archived.open(item, line: line.span, stored: bytes, into: &secret) == .opened {
                opened.insert(String(decoding: secret.bytesForTest(), as: UTF8.self))
            }
        }
        return opened
    }

    @Test("After a first passcode is set, the earlier class keys open nothing")
    func firstPasscode() throws {
        let keychain = try bench.create()
        _ = try keychain.fill()
        let old = keychain.keybag
        #expect(try opens(old, passcode: nil).count == 6)
        try keychain.setPasscode(current: nil, new: "strong".secret, cost: Bench.cost, now: moment(2))
        try keychain.add(password("later"), secret: "added later".secret, now: moment(3))
        #expect(try opens(old, passcode: nil).isEmpty)
        #expect(try opens(keychain.keybag, passcode: "strong").count == 7)
    }

    @Test("After a change or removal, a leaked passcode and an old keybag open nothing")
    func leakedPasscode() throws {
        let keychain = try bench.create(passcode: "leaked")
        _ = try keychain.fill()
        let old = keychain.keybag
        try keychain.setPasscode(current: "leaked".secret, new: "new".secret, cost: Bench.cost, now: moment(2))
        try keychain.add(password("later"), secret: "added later".secret, now: moment(3))
        #expect(try opens(old, passcode: "leaked").isEmpty)
        // This includes the key of akpu items, which are in no archive but whose key is in every keybag.
        let leaked = try old.passcodeKeys(
            SecretBytes(copying: "leaked".utf8), bench.device, minimumCost: Bench.cost)
        let now = try #require(keychain.classKeys[.whenPasscodeSetThisDeviceOnly])
        let then = try #require(leaked[.whenPasscodeSetThisDeviceOnly])
        let isSame = constantTimeEqual(now.secret, then.secret)
        #expect(!isSame)
        try keychain.setPasscode(current: "new".secret, new: nil, cost: Bench.cost, now: moment(4))
        #expect(try opens(old, passcode: "leaked").isEmpty)
    }

    @Test("Current class keys open those of every earlier generation, except akpu's")
    func retired() throws {
        let keychain = try bench.create()
        var generations = [keychain.classKeys]
        let passcodes = ["a", "b", nil, nil, "c"]
        var current: String?
        for (index, next) in passcodes.enumerated() {
            let change = try keychain.setPasscode(
                current: current.secret, new: next.secret, cost: Bench.cost, now: moment(Int64(index)))
            #expect(change.droppedKeys == 0)
            current = next
            generations.insert(keychain.classKeys, at: 0)
        }
        let again = try bench.open()
        #expect(try again.keybag.retiredKeys(under: again.classKeys).allSatisfy { $0[.whenUnlocked] == nil })
        try again.unlock(passcode: "c".secret, now: moment(9))
        let found = try again.keybag.retiredKeys(under: again.classKeys)
        #expect(found.count == 5)
        for (opened, expected) in zip(found, generations.dropFirst()) {
            #expect(opened[.whenPasscodeSetThisDeviceOnly] == nil)
            for accessibility in RetiredKeys.accessibilities {
                let (left, right) = (
                    try #require(opened[accessibility]), try #require(expected[accessibility])
                )
                let isSame = constantTimeEqual(left.secret, right.secret)
                #expect(isSame)
            }
        }
        // Earlier class keys do not open later ones.
        #expect(throws: CryptographyFailure.authentication) {
            try RetiredKeys.unwrap(try #require(again.keybag.retired.first), under: generations[1])
        }
    }

    @Test("Beyond the limit of retired keys, the oldest set is dropped and counted")
    func limit() throws {
        let keychain = try bench.create()
        for number in 1...Keybag.retiredLimit + 2 {
            let change = try keychain.setPasscode(
                current: nil, new: nil, cost: Bench.cost, now: moment(Int64(number)))
            #expect(change.droppedKeys == (number > Keybag.retiredLimit ? 1 : 0))
        }
        let again = try bench.open()
        #expect(again.keybag.retired.count == Keybag.retiredLimit)
        #expect(again.keybag.text.count <= Keybag.sizeLimit)
        try again.setLockSettings(try #require(LockSettings(lockAfter: 31_536_000, lockOnSuspend: false)))
        try again.setPasscode(current: nil, new: "p".secret, cost: Bench.cost, now: moment(99))
        #expect(again.keybag.text.count <= Keybag.sizeLimit)
        #expect(try bench.open().lockSettings == again.lockSettings)
    }

    @Test("Tombstones are kept, and so is a damaged item, which is not resealed as genuine")
    func damaged() throws {
        let keychain = try bench.create(passcode: "old")
        let item = try keychain.add(password("damaged"), secret: "x".secret, now: moment(1))
        try keychain.add(password("gone", [.sync: .number(1)]), secret: "x".secret, now: moment(1))
        try keychain.delete(matching: ItemQuery(synchronizable: .yes), now: moment(2))
        try bench.alter("UPDATE genp SET labl = x'61' WHERE uuid = ?", [.blob(item.uuid.bytes)])
        try keychain.setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(3))
        #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) { try keychain.text(of: item) }
        #expect(try keychain.information().tombstoneCount == 1)
        try bench.alter("UPDATE genp SET labl = NULL WHERE uuid = ?", [.blob(item.uuid.bytes)])
        #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) { try keychain.text(of: item) }
    }

    @Test("A row restored from an older copy does not open after the passcode was changed")
    func rowPutBack() throws {
        let keychain = try bench.create(passcode: "old")
        let item = try keychain.add(password("a"), secret: "old secret".secret, now: moment(1))
        let blob = try #require(try keychain.visit(.stored).secrets.first)
        try keychain.setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(3))
        try bench.alter("UPDATE genp SET data = ? WHERE uuid = ?", [.blob(blob), .blob(item.uuid.bytes)])
        #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) { try keychain.text(of: item) }
    }

    @Test("A process with class keys from before a change neither reads nor seals with them")
    func staleKeys() throws {
        let stale = try bench.create(passcode: "old")
        let items = try stale.fill()
        let other = try bench.open()
        try other.setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(2))
        let item = try #require(items[.whenUnlocked])
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try stale.text(of: item) }
        #expect(stale.readable(items) == Readable.always)
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try stale.add(password("x"), secret: "x".secret, now: moment(3))
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try stale.visit() }
        let always = try stale.add(
            password("always", [.pdmn: .text("dk")]), secret: "always".secret, now: moment(3))
        #expect(try bench.open().text(of: always) == "always")
    }

    @Test("A process with stale keys detects this within its write transaction")
    func staleWriter() throws {
        let stale = try bench.create(passcode: "old")
        let item = try stale.add(password("a"), secret: "a".secret, now: moment(1))
        try bench.open().setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(2))
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try stale.update(matching: ItemQuery(item), set: [:], secret: "b".secret, now: moment(3))
        }
        try stale.unlock(passcode: "new".secret, now: moment(4))
        #expect(try stale.text(of: item) == "a")
    }

    @Test("After a kill at any point of a change, the old passcode opens everything", arguments: [1, 100, 207, 208])
    func killed(_ point: Int) async throws {
        let bench = try Bench(device: fixedDevice())
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        for number in 1...200 { try keychain.add(password("\(number)"), secret: "x".secret, now: moment(1)) }
        let path = bench.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, point = point as Int] in
            let keychain = try Keychain.open(at: path, deviceKey: fixedDevice(), minimumCost: Bench.cost)
            // A tiny cache makes SQLite write changed pages to the file before the commit.
            try keychain.withReadTransaction { database throws(KeychainStoreError) in
                try SQLStatement("PRAGMA cache_size = 1", on: database).run()
            }
            var count = 0
            _ = try keychain.setPasscode(
                current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(2),
                step: {
                    count += 1
                    if count == point { kill(getpid(), SIGKILL) }
                },
                beforeCommit: { _, _ throws(KeychainStoreError) in kill(getpid(), SIGKILL) })
        }
        #expect(try bench.folder.read("login.keychain-journal").count > 512)
        let again = try bench.open()
        try again.unlock(passcode: "old".secret, now: moment(3))
        #expect(again.readable(items).count == 7)
        #expect(try again.visit().items.count == 207)
        try again.setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(4))
        #expect(again.readable(items).count == 7)
    }

    @Test("A failure before the commit keeps the old passcode and all items")
    func failed() throws {
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        let before = try bench.folder.read("login.keychain")
        #expect(throws: KeychainStoreError.busy) {
            _ = try keychain.setPasscode(
                current: "old".secret, new: nil, cost: Bench.cost, now: moment(2), step: {},
                beforeCommit: { _, _ throws(KeychainStoreError) in throw .busy })
        }
        #expect(try bench.folder.read("login.keychain") == before)
        #expect(keychain.readable(items).count == 7)
    }
}

private func fixedDevice() throws -> DeviceKey {
    try DeviceKey(secret: SecretBytes(copying: (0..<32).map { UInt8($0) }))
}
