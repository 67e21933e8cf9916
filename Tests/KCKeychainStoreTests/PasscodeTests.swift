import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys
@testable import KCKeychainStore

@Suite struct PasscodeTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    @Test("A locked keychain shows attributes, opens dk and dku items, and refuses the rest")
    func locked() throws {
        let items = try bench.create(passcode: "open").fill()
        let keychain = try bench.open()
        #expect(!keychain.isUnlocked)
        #expect(try keychain.items().count == 7)
        #expect(keychain.readable(items) == [.always, .alwaysThisDeviceOnly])
        for (accessibility, item) in items where !accessibility.isReadableWithoutPasscode {
            #expect(throws: KeychainStoreError.locked(accessibility)) { try keychain.text(of: item) }
            #expect(throws: KeychainStoreError.locked(accessibility)) {
                try keychain.add(password("new", [.pdmn: .text(accessibility.rawValue)]), secret: nil, now: moment(2))
            }
            #expect(throws: KeychainStoreError.locked(accessibility)) {
                try keychain.update(matching: ItemQuery(item), set: [.labl: .text("x")], now: moment(2))
            }
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try keychain.unlock(passcode: nil, now: moment(2)) }
        try keychain.unlock(passcode: "open".secret, now: moment(2))
        #expect(keychain.readable(items) == Set(Accessibility.allCases))
        keychain.lock()
        #expect(
            keychain.readable(items)
                == [.always, .alwaysThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly])
        keychain.lock(untilFirstUnlock: true)
        #expect(keychain.readable(items) == [.always, .alwaysThisDeviceOnly])
    }

    @Test("Deleting requires no key")
    func deleteLocked() throws {
        let items = try bench.create(passcode: "open").fill()
        let keychain = try bench.open()
        #expect(try keychain.delete(matching: ItemQuery(), now: moment(2)).items.count == items.count)
    }

    @Test("Without a passcode everything opens immediately, and akpu items are refused")
    func withoutPasscode() throws {
        let items = try bench.create().fill()
        let keychain = try bench.open()
        #expect(keychain.isUnlocked && !keychain.hasPasscode)
        #expect(keychain.readable(items).count == 6)
        #expect(throws: KeychainStoreError.passcodeNotSet) {
            try keychain.add(password("x", [.pdmn: .text("akpu")]), secret: nil, now: moment(2))
        }
        let item = try #require(items[.whenUnlocked])
        #expect(throws: KeychainStoreError.passcodeNotSet) {
            try keychain.update(matching: ItemQuery(item), set: [.pdmn: .text("akpu")], now: moment(2))
        }
        keychain.lock()
        #expect(!keychain.isUnlocked)
        try keychain.unlock(passcode: nil, now: moment(2))
        #expect(keychain.isUnlocked)
    }

    @Test("A wrong passcode only increments the count, and the right one resets it")
    func wrongPasscode() throws {
        let items = try bench.create(passcode: "open").fill()
        let keychain = try bench.open()
        for wrong in ["opem", "open ", "o"] {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try keychain.unlock(passcode: wrong.secret, now: moment(2))
            }
        }
        #expect(!keychain.isUnlocked)
        #expect(try keychain.wrongPasscodeCount() == 3)
        #expect(try keychain.items().count == 7)
        try keychain.unlock(passcode: "open".secret, now: moment(2))
        #expect(try bench.open().wrongPasscodeCount() == 0)
        #expect(keychain.readable(items).count == 7)
    }

    @Test("After several wrong passcodes the delay between attempts doubles up to a maximum")
    func delays() throws {
        let keychain = try bench.create(passcode: "open")
        keychain.lock(untilFirstUnlock: true)
        var now: Int64 = 10
        for _ in 0..<Attempts.free {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try keychain.unlock(passcode: "no".secret, now: moment(now))
            }
        }
        for delay in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            #expect(throws: KeychainStoreError.tooManyAttempts(retryAfter: delay)) {
                try keychain.unlock(passcode: "open".secret, now: moment(now))
            }
            #expect(throws: KeychainStoreError.tooManyAttempts(retryAfter: 1)) {
                try bench.open().unlock(passcode: "open".secret, now: moment(now + Int64(delay) - 1))
            }
            now += Int64(delay)
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try keychain.unlock(passcode: "no".secret, now: moment(now))
            }
        }
        #expect(throws: KeychainStoreError.wrongPasscode) {
            // A clock that was set back must not lock the owner out forever.
            try keychain.unlock(passcode: "no".secret, now: moment(now - 1))
        }
        try keychain.unlock(passcode: "open".secret, now: moment(now + 300))
    }

    @Test("Changing the passcode reseals every item unchanged, and only the new passcode opens them")
    func change() throws {
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        let before = try keychain.visit(.stored)
        try keychain.setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(2))
        let after = try keychain.visit(.stored)
        #expect(after.lines == before.lines && after.items.count == 7)
        #expect(Set(after.secrets).isDisjoint(with: before.secrets))
        #expect(keychain.keybag.generation == 2)
        let again = try bench.open()
        #expect(throws: KeychainStoreError.wrongPasscode) { try again.unlock(passcode: "old".secret, now: moment(3)) }
        try again.unlock(passcode: "new".secret, now: moment(3))
        #expect(again.readable(items).count == 7)
    }

    @Test("Changing the passcode requires the old one, even if the keychain is unlocked")
    func changeNeedsOld() throws {
        let keychain = try bench.create(passcode: "old")
        #expect(throws: KeychainStoreError.wrongPasscode) {
            try keychain.setPasscode(current: "bad".secret, new: "new".secret, cost: Bench.cost, now: moment(2))
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try keychain.setPasscode(current: nil, new: "new".secret, cost: Bench.cost, now: moment(2))
        }
        #expect(throws: KeychainStoreError.passcodeEmpty) {
            try keychain.setPasscode(current: "old".secret, new: "".secret, cost: Bench.cost, now: moment(2))
        }
        try bench.open().unlock(passcode: "old".secret, now: moment(3))
    }

    @Test("Removing the passcode destroys only akpu items and their key, and a new passcode creates a new key")
    func remove() throws {
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        #expect(try keychain.passcodeBoundItems().items == [try #require(items[.whenPasscodeSetThisDeviceOnly])])
        let oldKey = keychain.keybag.wrappedKeys[.whenPasscodeSetThisDeviceOnly]
        try keychain.setPasscode(current: "old".secret, new: nil, cost: Bench.cost, now: moment(2))
        let open = try bench.open()
        #expect(open.isUnlocked && !open.hasPasscode)
        #expect(open.readable(items).count == 6)
        #expect(try open.items().count == 6)
        #expect(open.keybag.wrappedKeys[.whenPasscodeSetThisDeviceOnly] == nil && oldKey != nil)
        #expect(throws: KeychainStoreError.passcodeNotSet) {
            try keychain.add(password("x", [.pdmn: .text("akpu")]), secret: nil, now: moment(3))
        }
        try open.setPasscode(current: nil, new: "third".secret, cost: Bench.cost, now: moment(3))
        try open.add(password("x", [.pdmn: .text("akpu")]), secret: nil, now: moment(3))
    }

    @Test("A passcode change that is not committed keeps the old passcode")
    func interrupted() throws {
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        // An active reader prevents the commit from getting its lock.
        let reader = try bench.open()
        let impatient = try bench.open(lockWait: .zero)
        _ = try reader.visit { _ in
            #expect(throws: KeychainStoreError.busy) {
                try impatient.setPasscode(current: "old".secret, new: nil, cost: Bench.cost, now: moment(2))
            }
            return false
        }
        #expect(impatient.hasPasscode)
        let again = try bench.open()
        try again.unlock(passcode: "old".secret, now: moment(3))
        #expect(again.readable(items).count == 7)
    }

    @Test("A passcode change killed before its commit is rolled back, and the old passcode opens everything")
    func killed() throws {
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        let after = try Keybag.wrapping(
            keychain.classKeys, uuid: keychain.keybag.uuid, generation: 2, deviceKey: bench.device,
            passcode: "new".secret, cost: try #require(Bench.cost))
        // The file and its journal as they are before the commit, which is what a crash leaves.
        let crash = try Bench(device: bench.device)
        #expect(throws: StopHere.self) {
            try keychain.connection.write { database in
                try StoreRecord.replace(with: after, in: database)
                // The tiny cache spills, so that the file is already partly changed.
                try database.execute("PRAGMA cache_spill = 1; PRAGMA cache_size = 1; UPDATE genp SET labl = x'01'")
                for suffix in ["", "-journal"] {
                    try crash.folder.write("login.keychain" + suffix, try bench.folder.read("login.keychain" + suffix))
                }
                throw StopHere()
            }
        }
        #expect(try crash.folder.read("login.keychain-journal").count > 512)
        let again = try crash.open()
        try again.unlock(passcode: "old".secret, now: moment(3))
        #expect(again.readable(items).count == 7)
    }

    @Test("A passcode set or removed by another process is detected before anything is sealed")
    func foreignChange() throws {
        let mine = try bench.create(passcode: "old")
        let other = try bench.open()
        try other.setPasscode(current: "old".secret, new: nil, cost: Bench.cost, now: moment(2))
        #expect(throws: KeychainStoreError.passcodeNotSet) {
            try mine.add(password("x", [.pdmn: .text("akpu")]), secret: nil, now: moment(3))
        }
        try other.setPasscode(current: nil, new: "new".secret, cost: Bench.cost, now: moment(4))
        #expect(throws: KeychainStoreError.locked(.whenPasscodeSetThisDeviceOnly)) {
            try mine.add(password("x", [.pdmn: .text("akpu")]), secret: nil, now: moment(5))
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try mine.add(password("y"), secret: "y".secret, now: moment(5))
        }
        try mine.unlock(passcode: "new".secret, now: moment(6))
        let item = try mine.add(password("y"), secret: "y".secret, now: moment(6))
        #expect(try other.text(of: item) == "y")
    }
}

private struct StopHere: Error {}
