import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("Escrow of keychains") struct EscrowTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private let noPasscodeBound = { (item: Item) in item.accessibility != .whenPasscodeSetThisDeviceOnly }

    /// A keychain with one item per accessibility, and its escrow key.
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

    @Test("An escrow key reads what a backup reads, leaves the keychain locked, and never opens akpu items")
    func reads() throws {
        let (_, key) = try escrowed()
        let locked = try bench.open()
        let escrowed = try open(locked, key)
        #expect(!locked.isUnlocked && !locked.canOpen(Protection(.afterFirstUnlock)))
        let all = Set(Accessibility.allCases.map(\.rawValue))
        #expect(try collect(escrowed, noPasscodeBound) == all.subtracting(["akpu"]))
        #expect(Accessibility.allCases.filter { !escrowed.canOpen(Protection($0)) } == [.whenPasscodeSetThisDeviceOnly])
        #expect(throws: KeychainStoreError.locked(.whenPasscodeSetThisDeviceOnly)) {
            try collect(escrowed) { _ in true }
        }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try locked.setLockSettings(.default) }
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try locked.setPasscode(current: nil, new: "stolen".secret, cost: Bench.cost, now: moment(3))
        }
    }

    @Test("Setting the passcode renews the record, so that the same key file opens items added later")
    func renewed() throws {
        let (keychain, key) = try escrowed()
        let early = try open(bench.open(), key)
        try keychain.setPasscode(current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(3))
        try keychain.add(password("later"), secret: "added later".secret, now: moment(4))
        #expect(try read(key).contains("added later"))
        #expect(try keychain.information().escrow?.since == moment(2))
        // An escrowed keychain that was opened before reads neither state.
        #expect(throws: KeychainStoreError.busy) { try collect(early, noPasscodeBound) }
        try keychain.setPasscode(current: "new".secret, new: nil, cost: Bench.cost, now: moment(5))
        #expect(throws: KeychainStoreError.escrow(.none)) { try read(key) }
    }

    @Test("Revoking needs no passcode, and the revoked key opens nothing even if escrow is enabled again")
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

    @Test("After revoking and setting the passcode, old copies do not open items added later")
    func oldCopy() throws {
        let (keychain, key) = try escrowed()
        let copy = keychain.keybag
        try keychain.revokeEscrow()
        try keychain.setPasscode(current: "open".secret, new: "open".secret, cost: Bench.cost, now: moment(3))
        try keychain.add(password("later"), secret: "added later".secret, now: moment(4))
        // The old keybag, put back by an attacker who has the escrow key.
        try bench.alter("UPDATE keybag SET bag = ?", [.text(String(decoding: copy.text, as: UTF8.self))])
        let escrowed = try open(bench.open(), key)
        var collector = Collector()
        collector.isWanted = noPasscodeBound
        try escrowed.visitItems(&collector)
        #expect(collector.secrets.isEmpty && collector.damaged.count == 7)
    }

    @Test("An escrow key does not open another keychain, a recreated one, or one of another device")
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

    @Test("Enabling escrow requires the passcode, even if the keychain is unlocked")
    func takesPasscode() throws {
        let keychain = try bench.create(passcode: "open")
        #expect(throws: KeychainStoreError.wrongPasscode) { _ = try enable(keychain, "wrong") }
        let locked = try bench.open()
        #expect(throws: KeychainStoreError.self) { _ = try enable(locked, "open") }
        #expect(try keychain.information().escrow == nil)
        let plain = try bench.create(at: bench.folder.path("plain.keychain"))
        #expect(throws: KeychainStoreError.escrow(.noPasscode)) { _ = try enable(plain, "open") }
    }

    @Test("Enabling or revoking escrow in one process leaves the keychain unlocked in others")
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

    @Test("The keybag of an unencrypted archive has no escrow record and is otherwise unchanged")
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
