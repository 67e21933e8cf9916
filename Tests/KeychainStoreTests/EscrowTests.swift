import ByteStreams
import Cryptography
import DeviceIdentity
import KeychainKeys
import KeychainModel
import TestSupport
import Testing

@testable import KeychainStore

@Suite("Escrow of keychains") struct EscrowTests {
    // Keeps the folder alive as long as the test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private let noPasscodeBound = { (item: Item) in item.accessibility != .whenPasscodeSetThisDeviceOnly }

    /// A keychain with an item of each accessibility, and its escrow key.
    private func escrowed() throws -> (Keychain, EscrowKey) {
        let keychain = try bench.create(passcode: "open")
        _ = try keychain.fill()
        return (keychain, try enable(keychain, "open"))
    }

    private func enable(_ keychain: Keychain, _ passcode: String) throws -> EscrowKey {
        let key = try EscrowKey.generate()
        try keychain.enableEscrow(for: key.publicKey, passcode: SecretBytes(copying: passcode.utf8), now: moment(2))
        return key
    }

    private func collect(_ keychain: EscrowedKeychain, _ wants: @escaping (Item) -> Bool) throws -> Set<String> {
        var collector = Collector()
        collector.isWanted = wants
        try keychain.visitItems(&collector)
        #expect(collector.damaged.isEmpty)
        return Set(collector.secrets.map { String(decoding: $0, as: UTF8.self) })
    }

    private func open(_ keychain: Keychain, _ key: EscrowKey) throws -> EscrowedKeychain {
        try EscrowedKeychain(keychain, keyFile: key.text(comments: []))
    }

    private func read(_ key: EscrowKey) throws -> Set<String> {
        try collect(open(bench.open(), key), noPasscodeBound)
    }

    @Test("an escrow key reads what a backup reads, leaves the keychain locked, and never opens akpu")
    func reads() throws {
        let (_, key) = try escrowed()
        let locked = try bench.open()
        let escrowed = try open(locked, key)
        #expect(!locked.isUnlocked && !locked.canOpen(.afterFirstUnlock))
        let all = Set(Accessibility.allCases.map(\.rawValue))
        #expect(try collect(escrowed, noPasscodeBound) == all.subtracting(["akpu"]))
        #expect(Accessibility.allCases.filter { !escrowed.canOpen($0) } == [.whenPasscodeSetThisDeviceOnly])
        #expect(throws: KeychainStoreError.locked(.whenPasscodeSetThisDeviceOnly)) {
            try collect(escrowed) { _ in true }
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try locked.setLockSettings(.default) }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try locked.setPasscode(current: nil, new: "stolen".secret, cost: Bench.cost, now: moment(3))
        }
    }

    @Test("setting the passcode renews the record: the same key file opens what is added later")
    func renewed() throws {
        let (keychain, key) = try escrowed()
        let early = try open(bench.open(), key)
        try keychain.setPasscode(current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(3))
        try keychain.add(password("later"), secret: "added later".secret, now: moment(4))
        #expect(try read(key).contains("added later"))
        #expect(try keychain.information().escrow?.since == moment(2))
        // A keychain that was already open reads nothing from either state.
        #expect(throws: KeychainStoreError.busy) { try collect(early, noPasscodeBound) }
        try keychain.setPasscode(current: "new".secret, new: nil, cost: Bench.cost, now: moment(5))
        #expect(throws: KeychainStoreError.escrow(.none)) { try read(key) }
    }

    @Test("after revoking, which takes no passcode, the key opens nothing; nor does it when escrow is enabled anew")
    func revoked() throws {
        let (_, key) = try escrowed()
        let other = try bench.open()
        try other.revokeEscrow()
        #expect(throws: KeychainStoreError.escrow(.none)) { try read(key) }
        #expect(throws: KeychainStoreError.escrow(.none)) { try other.revokeEscrow() }
        try other.unlock(passcode: "open".secret, now: moment(3))
        let newer = try enable(other, "open")
        #expect(throws: KeychainStoreError.escrow(.otherKey)) { try read(key) }
        #expect(try read(newer).count == 6)
        #expect(throws: KeychainStoreError.escrow(.exists)) { _ = try enable(other, "open") }
    }

    @Test("revoking and then setting the passcode makes old copies useless for what is added later")
    func oldCopy() throws {
        let (keychain, key) = try escrowed()
        let copy = keychain.keybag
        try keychain.revokeEscrow()
        try keychain.setPasscode(current: "open".secret, new: "open".secret, cost: Bench.cost, now: moment(3))
        try keychain.add(password("later"), secret: "added later".secret, now: moment(4))
        // The old keybag is put back by someone who has the key.
        try bench.alter("UPDATE keybag SET bag = ?", [.text(String(decoding: copy.text, as: UTF8.self))])
        let escrowed = try open(bench.open(), key)
        var collector = Collector()
        collector.isWanted = noPasscodeBound
        try escrowed.visitItems(&collector)
        #expect(collector.secrets.isEmpty && collector.damaged.count == 7)
    }

    @Test("the key of another keychain, of one of the same name made anew, and of another device open nothing")
    func strangers() throws {
        let (_, key) = try escrowed()
        let other = try bench.create(passcode: "open", at: bench.folder.path("other.keychain"))
        _ = try enable(other, "open")
        #expect(throws: KeychainStoreError.escrow(.otherKey)) { _ = try open(other, key) }
        try Path.remove(bench.path)
        let anew = try bench.create(passcode: "open")
        #expect(throws: KeychainStoreError.escrow(.none)) { try read(key) }
        _ = try enable(anew, "open")
        #expect(throws: KeychainStoreError.escrow(.otherKey)) { try read(key) }
        #expect(throws: KeychainStoreError.otherDevice(bench.device.id)) {
            _ = try Keychain.open(at: bench.path, deviceKey: DeviceKey.generate())
        }
    }

    @Test("enabling takes the passcode, however the keychain was unlocked")
    func takesPasscode() throws {
        let keychain = try bench.create(passcode: "open")
        #expect(throws: KeychainStoreError.wrongPasscode) { _ = try enable(keychain, "wrong") }
        let locked = try bench.open()
        #expect(throws: KeychainStoreError.self) { _ = try enable(locked, "open") }
        #expect(try keychain.information().escrow == nil)
        let plain = try bench.create(at: bench.folder.path("plain.keychain"))
        #expect(throws: KeychainStoreError.escrow(.noPasscode)) { _ = try enable(plain, "open") }
    }

    @Test("enabling and revoking elsewhere leave an unlocked keychain unlocked")
    func othersStayUnlocked() throws {
        let keychain = try bench.create(passcode: "open")
        let items = try keychain.fill()
        let other = try bench.open()
        try other.unlock(passcode: "open".secret, now: moment(2))
        let key = try enable(other, "open")
        #expect(keychain.readable(items).count == 7)
        try keychain.revokeEscrow()
        #expect(other.readable(items).count == 7)
        #expect(throws: KeychainStoreError.escrow(.none)) { try read(key) }
    }

    @Test("an unencrypted archive has no escrow record, and the same keybag as without one")
    func archives() throws {
        let keychain = try bench.create(passcode: "open")
        func keybag() throws -> String {
            var found = ""
            _ = try keychain.visitStoredItems { stored in
                found = stored.keybag
                return Collector()
            }
            return found
        }
        let before = try keybag()
        _ = try enable(keychain, "open")
        #expect(try keybag() == before)
        #expect(throws: KeychainStoreError.damaged("the keybag of an archive has an escrow record")) {
            _ = try Keychain.create(
                at: bench.folder.path("new.keychain"), adopting: keychain.keybag, deviceKey: bench.device,
                now: moment(3))
        }
    }
}
