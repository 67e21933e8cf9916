import KCByteStreams
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("Security tokens of keychains") struct TokenTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let blue: TokenName
    private let handle: TokenHandle
    private var secret: SecretBytes { SecretBytes(copying: [UInt8](repeating: 9, count: 32)) }

    init() throws {
        bench = try Bench()
        blue = try #require(TokenName("blue"))
        handle = try #require(
            TokenHandle(
                credential: [1, 2, 3], publicKey: [UInt8](repeating: 2, count: 64),
                salt: [UInt8](repeating: 3, count: 32)))
    }

    private func enrolled() throws -> Keychain {
        let keychain = try bench.create(passcode: "open")
        try enroll(keychain, "open", 2)
        return keychain
    }

    private func enroll(_ keychain: Keychain, _ passcode: String, _ minute: Int64) throws {
        try keychain.enrollToken(
            blue, handle, secret: secret, passcode: SecretBytes(copying: passcode.utf8), now: moment(minute))
    }

    private func opensPresence(_ keychain: Keychain) -> Bool {
        keychain.canOpen(Protection(.always, .userPresence))
    }

    @Test("A token opens 'user-presence' until that is forgotten, unlocks nothing, and never opens 'device-passcode'")
    func opens() throws {
        _ = try enrolled()
        let locked = try bench.open()
        #expect(!opensPresence(locked))
        try locked.openPresence(ofToken: blue, secret: secret)
        #expect(opensPresence(locked) && !locked.isUnlocked)
        #expect(!locked.canOpen(Protection(.whenUnlocked, .userPresence)))
        #expect(!locked.canOpen(Protection(.always, .devicePasscode)))
        locked.forgetPresence()
        #expect(!opensPresence(locked))
    }

    @Test("Enrolling needs the passcode, also while the keychain is unlocked; removing needs nothing")
    func passcode() throws {
        let keychain = try bench.create(passcode: "open")
        #expect(throws: KeychainStoreError.wrongPasscode) {
            try enroll(keychain, "wrong", 2)
        }
        let locked = try bench.open()
        #expect(throws: KeychainStoreError.presenceNeeded(.userPresence)) {
            try enroll(locked, "open", 2)
        }
        try enroll(keychain, "open", 2)
        #expect(throws: KeychainStoreError.token(.exists(blue))) {
            try enroll(keychain, "open", 2)
        }
        try bench.open().removeToken(blue)
        #expect(throws: KeychainStoreError.token(.none(blue))) { try bench.open().removeToken(blue) }
        #expect(throws: KeychainStoreError.token(.none(blue))) {
            try bench.open().openPresence(ofToken: blue, secret: secret)
        }
        #expect(try keychain.information().tokens.isEmpty)
    }

    @Test("Setting the passcode renews the record, and removing the passcode removes it; escrow stays as it is")
    func renewed() throws {
        let keychain = try enrolled()
        let escrow = try EscrowKey.generate()
        try keychain.enableEscrow(for: escrow.publicKey, passcode: SecretBytes(copying: "open".utf8), now: moment(3))
        let early = try bench.open()
        try keychain.setPasscode(current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(4))
        #expect(try keychain.information().tokens.map(\.since) == [moment(2)])
        let later = try bench.open()
        try later.openPresence(ofToken: blue, secret: secret)
        #expect(opensPresence(later))
        // A keychain that was opened before reads the new record as well.
        try early.openPresence(ofToken: blue, secret: secret)
        try keychain.removeToken(blue)
        #expect(try keychain.information().escrow?.key == escrow.publicKey)
        try enroll(keychain, "new", 5)
        try keychain.revokeEscrow()
        #expect(try keychain.information().tokens.count == 1)
        try keychain.setPasscode(current: "new".secret, new: nil, cost: Bench.cost, now: moment(6))
        #expect(try keychain.information().tokens.isEmpty)
        #expect(throws: KeychainStoreError.token(.noPasscode)) {
            try enroll(keychain, "new", 7)
        }
    }

    @Test("A move to another device key renews the record")
    func moved() throws {
        let keychain = try enrolled()
        let key = try DeviceKey.generate()
        try keychain.move(to: key, passcode: "open".secret, now: moment(3))
        let moved = try Keychain.open(at: keychain.path, deviceKey: key, minimumCost: Bench.cost)
        try moved.openPresence(ofToken: blue, secret: secret)
        #expect(opensPresence(moved))
    }
}
