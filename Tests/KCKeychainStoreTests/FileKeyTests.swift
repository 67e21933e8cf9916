import KCByteStreams
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("Keys of files in keychains") struct FileKeyTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private func secrets(_ keychain: Keychain, _ fileClass: FileKeyClass) throws -> [[UInt8]] {
        try keychain.fileKeys(fileClass).map { $0.secret.bytesForTest() }
    }

    @Test("Locked, only the public key of 'unless-open' is known; after the first unlock, 'until-first-unlock' opens")
    func states() throws {
        let keychain = try bench.create(passcode: "open")
        let locked = try bench.open()
        for fileClass in FileKeyClass.allCases {
            #expect(throws: KeychainStoreError.locked(fileClass.accessibility)) { try locked.filePublicKey(fileClass) }
            #expect(!locked.knowsFilePublicKey(fileClass))
        }
        let keys = try FileKeyClass.allCases.map { try keychain.filePublicKey($0) }
        #expect(Set(keys).count == 3)
        #expect(try locked.filePublicKey(.unlessOpen) == keychain.filePublicKey(.unlessOpen))
        for fileClass in [FileKeyClass.complete, .untilFirstUnlock] {
            #expect(throws: KeychainStoreError.locked(fileClass.accessibility)) { try locked.filePublicKey(fileClass) }
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlockedThisDeviceOnly)) { try locked.fileKeys(.unlessOpen) }
        keychain.lock()
        #expect(try keychain.fileKeys(.untilFirstUnlock).count == 1)
        #expect(throws: KeychainStoreError.locked(.whenUnlockedThisDeviceOnly)) { try keychain.fileKeys(.complete) }
        keychain.lock(untilFirstUnlock: true)
        #expect(throws: KeychainStoreError.locked(.afterFirstUnlockThisDeviceOnly)) {
            try keychain.fileKeys(.untilFirstUnlock)
        }
    }

    @Test("Two objects that need the first key at once find the same one")
    func together() throws {
        let one = try bench.create(passcode: nil)
        let other = try bench.open()
        #expect(try one.filePublicKey(.complete) == other.filePublicKey(.complete))
    }

    @Test("A key survives each change of the passcode, and another device key; a new one comes with each passcode")
    func changes() throws {
        let keychain = try bench.create(passcode: nil)
        let first = try keychain.filePublicKey(.complete)
        let secret = try secrets(keychain, .complete)
        for (current, new) in [(nil, "one"), ("one", "two"), ("two", nil)] as [(String?, String?)] {
            try keychain.setPasscode(current: current.secret, new: new.secret, cost: Bench.cost, now: moment(1))
            #expect(try keychain.filePublicKey(.complete) != first)
            #expect(try secrets(keychain, .complete).last == secret.first)
        }
        #expect(try keychain.fileKeys(.complete).count == 4)
        let all = try secrets(keychain, .complete)
        let device = try DeviceKey.generate()
        try keychain.move(to: device, passcode: nil, now: moment(2))
        let moved = try Keychain.open(at: bench.path, deviceKey: device, minimumCost: Bench.cost)
        #expect(try secrets(moved, .complete) == all)
    }

    @Test("An old passcode with an old copy of the file opens no key of the new passcode")
    func oldCopy() throws {
        let keychain = try bench.create(passcode: "one")
        _ = try keychain.filePublicKey(.complete)
        let old = try secrets(keychain, .complete)
        try keychain.setPasscode(current: "one".secret, new: "two".secret, cost: Bench.cost, now: moment(1))
        let new = try #require(try secrets(keychain, .complete).first)
        #expect(!old.contains(new))
        let reopened = try bench.open()
        #expect(throws: KeychainStoreError.wrongPasscode) {
            try reopened.unlock(passcode: "one".secret, now: moment(2))
        }
    }
}
