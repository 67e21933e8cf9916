import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite struct LockSettingsTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private func settings(_ lockAfter: Int?, _ lockOnSuspend: Bool) throws -> LockSettings {
        try #require(LockSettings(lockAfter: lockAfter, lockOnSuspend: lockOnSuspend))
    }

    private func text(_ keybag: Keybag) -> String { String(decoding: keybag.text, as: UTF8.self) }

    @Test("A timeout outside one second to one year is refused")
    func range() {
        for seconds in [Int.min, -1, 0, 31_536_001, .max] {
            #expect(LockSettings(lockAfter: seconds, lockOnSuspend: true) == nil)
        }
        for seconds in [1, 300, 31_536_000] { #expect(LockSettings(lockAfter: seconds, lockOnSuspend: true) != nil) }
    }

    @Test("A new keychain locks after 300 seconds and on suspend, and its keybag omits these defaults")
    func defaults() throws {
        let keychain = try bench.create(passcode: "open")
        #expect(keychain.lockSettings == .default)
        #expect(try keychain.lockSettings == settings(300, true))
        #expect(text(keychain.keybag).hasPrefix("{\"version\":1,") && !text(keychain.keybag).contains("lock"))
        #expect(try keychain.information().lockSettings == .default)
    }

    @Test(
        "Settings are stored in canonical form, and resetting them restores the original keybag exactly",
        arguments: [
            (60, true, ",\"lockAfter\":60,\"lockOnSuspend\":true"), (nil, true, ",\"lockOnSuspend\":true"),
            (300, false, ",\"lockAfter\":300,\"lockOnSuspend\":false"), (nil, false, ",\"lockOnSuspend\":false"),
        ] as [(Int?, Bool, String)])
    func members(lockAfter: Int?, lockOnSuspend: Bool, members: String) throws {
        let keychain = try bench.create(passcode: "open")
        let before = keychain.keybag
        try keychain.setLockSettings(settings(lockAfter, lockOnSuspend))
        #expect(text(keychain.keybag).contains("\(members),\"mac\":"))
        let again = try bench.open()
        #expect(again.keybag == keychain.keybag)
        #expect(try again.lockSettings == settings(lockAfter, lockOnSuspend))
        #expect(again.keybag.generation == 1)
        try keychain.setLockSettings(.default)
        #expect(keychain.keybag == before)
    }

    @Test("Settings can be changed without the passcode, and survive a passcode change")
    func passcode() throws {
        let keychain = try bench.create(passcode: "old")
        let items = try keychain.fill()
        try keychain.setLockSettings(settings(60, false))
        let again = try bench.open()
        #expect(throws: KeychainStoreError.wrongPasscode) { try again.unlock(passcode: "bad".secret, now: moment(2)) }
        try again.unlock(passcode: "old".secret, now: moment(3))
        #expect(again.readable(items).count == 7)
        try again.setPasscode(current: "old".secret, new: "new".secret, cost: Bench.cost, now: moment(4))
        #expect(try bench.open().lockSettings == settings(60, false))
        try again.setPasscode(current: "new".secret, new: nil, cost: Bench.cost, now: moment(5))
        let open = try bench.open()
        #expect(try open.isUnlocked && open.lockSettings == settings(60, false))
        try open.setLockSettings(settings(1, true))
        #expect(try bench.open().lockSettings == settings(1, true))
    }

    @Test("The settings of a locked keychain cannot be changed")
    func locked() throws {
        let keychain = try bench.create(passcode: "open")
        keychain.lock()
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try keychain.setLockSettings(settings(60, true)) }
        #expect(try bench.open().lockSettings == .default)
    }

    @Test("Settings changed by another process are read, and no keys are lost, not even those of akpu items")
    func foreignChange() throws {
        let mine = try bench.create(passcode: "open")
        let items = try mine.fill()
        let other = try bench.open()
        try other.unlock(passcode: "open".secret, now: moment(2))
        try other.setLockSettings(settings(60, true))
        #expect(try mine.information().lockSettings == settings(60, true))
        #expect(mine.readable(items).count == 7)
        try mine.add(password("new", [.pdmn: .text("akpu")]), secret: nil, now: moment(3))
    }

    @Test("A keybag whose settings are changed in any byte or noncanonical is refused")
    func tampered() throws {
        let keychain = try bench.create(passcode: "open")
        try keychain.setLockSettings(settings(60, true))
        let bytes = keychain.keybag.text
        for index in bytes.indices {
            for flip: UInt8 in [0x01, 0x04, 0x20] {
                var text = bytes
                text[index] ^= flip
                #expect(throws: KeybagFailure.self, "byte \(index)") {
                    _ = try Keybag(text: text.span).deviceOnlyKeys(bench.device)
                }
            }
        }
        for (from, to) in [
            ("\"lockAfter\":60", "\"lockAfter\":300"), ("\"lockAfter\":60", "\"lockAfter\":0"),
            ("\"lockAfter\":60", "\"lockAfter\":31536001"), ("\"lockAfter\":60", "\"lockAfter\":null"),
            (",\"lockOnSuspend\":true", ""), ("\"version\":1", "\"version\":0"),
        ] {
            let changed = text(keychain.keybag).replacing(from, with: to)
            #expect(throws: KeybagFailure.damaged("the keybag is not in its canonical form"), "\(to)") {
                try Keybag(text: Array(changed.utf8).span)
            }
        }
    }
}
