import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("A keychain whose passcode a chip counts")
struct CountedPasscodeTests {
    private let chip: FakeChip
    private let bench: Bench

    init() throws {
        let chip = FakeChip()
        self.chip = chip
        bench = try Bench(
            device: DeviceKey(secret: RandomBytes.secret(count: 32), chip: DeviceChip(chip)))
        try Keychain.make(
            at: bench.path, deviceKey: bench.device, passcode: "open".secret, countedBy: .chip, cost: Bench.cost,
            now: moment(0))
    }

    private func unlocked(_ passcode: String = "open") throws -> Keychain {
        let keychain = try bench.open()
        try keychain.unlock(passcode: passcode.secret, now: moment(10))
        return keychain
    }

    @Test("A wrong passcode is counted once by the chip, and in the file; the right one opens everything")
    func unlock() throws {
        let items = try unlocked().fill()
        let keychain = try bench.open()
        #expect(throws: KeychainStoreError.wrongPasscode) {
            try keychain.unlock(passcode: "guess".secret, now: moment(20))
        }
        #expect(try chip.wrongGuesses == 1 && keychain.wrongPasscodeCount() == 1)
        try keychain.unlock(passcode: "open".secret, now: moment(20))
        #expect(keychain.readable(items) == Set(Accessibility.allCases))
        #expect(try chip.wrongGuesses == 1 && keychain.wrongPasscodeCount() == 0)
    }

    @Test("Putting back the file puts back no guesses")
    func oldFile() throws {
        let before = try bench.folder.read("login.keychain")
        for _ in 1...3 {
            #expect(throws: KeychainStoreError.wrongPasscode) { try unlocked("guess") }
            try bench.folder.write("login.keychain", before)
        }
        #expect(chip.wrongGuesses == 3)
        chip.set(wrongGuesses: 30)
        #expect(throws: KeychainStoreError.cryptography(.chip(.lockedOut(seconds: 1_800)))) { try unlocked() }
        // A lockout of the chip is no wrong passcode.
        #expect(try bench.open().wrongPasscodeCount() == 0)
    }

    @Test("A new passcode is counted as the one before, unless it is said otherwise; an old copy opens with its own")
    func change() throws {
        let keychain = try unlocked()
        let items = try keychain.fill()
        let copy = try bench.folder.read("login.keychain")
        try keychain.setPasscode(current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(20))
        #expect(keychain.keybag.counter == .chip)
        #expect(throws: KeychainStoreError.wrongPasscode) { try unlocked() }
        #expect(try unlocked("new").readable(items) == Set(Accessibility.allCases))

        try keychain.setPasscode(
            current: "new".secret, new: "new".secret, countedBy: .file, cost: Bench.cost, now: moment(30))
        let guesses = chip.wrongGuesses
        chip.set(absent: true)
        #expect(try unlocked("new").readable(items) == Set(Accessibility.allCases))
        #expect(throws: KeychainStoreError.wrongPasscode) { try unlocked("guess") }
        #expect(throws: KeychainStoreError.cryptography(.chip(.absent(path: "/dev/tpmrm0")))) {
            try keychain.setPasscode(
                current: "new".secret, new: "new".secret, countedBy: .chip, cost: Bench.cost, now: moment(40))
        }
        #expect(try bench.open().keybag.counter == .file && chip.wrongGuesses == guesses)
        chip.set(absent: false)
        try bench.folder.write("login.keychain", copy)
        #expect(try unlocked().readable(items) == Set(Accessibility.allCases))
    }

    @Test("A keychain that moves to another key of the same machine is still counted")
    func move() throws {
        let items = try unlocked().fill()
        let key = try DeviceKey(secret: RandomBytes.secret(count: 32), chip: DeviceChip(chip))
        try bench.open().move(to: key, passcode: "open".secret, now: moment(20))
        let moved = try Keychain.open(at: bench.path, deviceKey: key, minimumCost: Bench.cost)
        #expect(throws: KeychainStoreError.wrongPasscode) {
            try moved.unlock(passcode: "guess".secret, now: moment(30))
        }
        #expect(chip.wrongGuesses == 1)
        try moved.unlock(passcode: "open".secret, now: moment(40))
        #expect(moved.readable(items) == Set(Accessibility.allCases))
    }

    @Test("A session, lock settings and an escrow key work as ever, and the escrow key needs no chip")
    func surroundings() throws {
        let keychain = try unlocked()
        _ = try keychain.fill()
        try keychain.setLockSettings(#require(LockSettings(lockAfter: 60, lockOnSuspend: false)))
        let key = try EscrowKey.generate()
        try keychain.enableEscrow(for: key.publicKey, passcode: SecretBytes(copying: "open".utf8), now: moment(20))
        #expect(try unlocked().lockSettings.lockAfter == 60)
        chip.clear()
        #expect(throws: KeychainStoreError.cryptography(.chip(.countedElsewhere))) { try unlocked() }
        // Nor is there a new keychain whose passcode nobody can check.
        #expect(throws: KeychainStoreError.cryptography(.chip(.countedElsewhere))) {
            try Keychain.create(
                at: bench.folder.path("adopting.keychain"), adopting: bench.open().keybag.withoutEscrow(bench.device),
                deviceKey: bench.device, now: moment(30))
        }
        let escrowed = try EscrowedKeychain(bench.open(), keyFile: key.text(comments: []))
        #expect(escrowed.canOpen(Protection(.whenUnlocked)))
    }
}
