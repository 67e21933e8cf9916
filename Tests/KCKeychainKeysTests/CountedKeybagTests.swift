import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys

@Suite("A keybag whose passcode a chip counts")
struct CountedKeybagTests {
    private let chip = FakeChip()
    private let device: DeviceKey
    private let cost: ScryptCost
    private var passcode: SecretBytes { SecretBytes(copying: "open".utf8) }

    init() throws {
        device = try DeviceKey(secret: RandomBytes.secret(count: 32), chip: DeviceChip(chip))
        cost = try #require(ScryptCost(logN: 1))
    }

    private func keybag(
        _ keys: ClassKeys, retired: Int = 0, lockSettings: LockSettings = .default
    ) throws -> Keybag {
        let earlier = try (0..<retired).map { _ in try ClassKeys(generatingWithPasscode: false) }
        return try Keybag.wrapping(
            keys, retired: earlier, uuid: ItemUUID(), generation: 1, deviceKey: device, passcode: passcode, cost: cost,
            lockSettings: lockSettings, counter: .chip)
    }

    private func opened(_ bag: Keybag, _ text: String = "open") throws -> ClassKeys {
        try bag.passcodeKeys(SecretBytes(copying: text.utf8), device, minimumCost: cost)
    }

    @Test("It opens with its passcode, and the chip counts each wrong one, once")
    func opens() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let bag = try keybag(keys)
        #expect(bag.counter == .chip)
        for accessibility in Accessibility.allCases where !accessibility.isReadableWithoutPasscode {
            let found = try #require(try opened(bag)[accessibility]).secret.bytesForTest()
            #expect(try found == #require(keys[accessibility]).secret.bytesForTest())
        }
        #expect(chip.wrongGuesses == 0)
        for count in 1...2 {
            #expect(throws: KeybagFailure.wrongPasscode) { _ = try opened(bag, "guess") }
            #expect(chip.wrongGuesses == count)
        }
        #expect(throws: KeybagFailure.wrongPasscode) {
            _ = try bag.withEscrow(
                for: EscrowKey.generate().publicKey, since: .reference, keys, device,
                passcode: SecretBytes(copying: "guess".utf8))
        }
        #expect(chip.wrongGuesses == 3)
        chip.set(wrongGuesses: 32)
        #expect(throws: KeybagFailure.cryptography(.chip(.lockedOut(seconds: 3_000)))) { _ = try opened(bag) }
        // A key that needs no passcode needs no chip.
        #expect(try bag.deviceOnlyKeys(device)[.always] != nil)
    }

    @Test("On another board it opens nothing that needs the passcode, with the device key in a file or not")
    func otherBoard() throws {
        let bag = try keybag(ClassKeys(generatingWithPasscode: true))
        chip.clear()
        #expect(throws: KeybagFailure.cryptography(.chip(.countedElsewhere))) { _ = try opened(bag) }
        chip.set(absent: true)
        #expect(throws: KeybagFailure.cryptography(.chip(.countedElsewhere))) { _ = try opened(bag) }
        #expect(chip.wrongGuesses == 0)
    }

    @Test("With every optional part it reads back as written, fits the size limit, and keeps its share")
    func roundTrip() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let settings = try #require(LockSettings(lockAfter: 31_536_000, lockOnSuspend: false))
        for (retired, settings) in [(0, .default), (0, settings), (1, .default), (Keybag.retiredLimit, settings)] {
            let plain = try keybag(keys, retired: retired, lockSettings: settings)
            let key = try EscrowKey.generate()
            let escrowed = try plain.withEscrow(
                for: key.publicKey, since: .reference, keys, device, passcode: passcode)
            for bag in [plain, escrowed] {
                #expect(try Keybag(text: bag.text.span) == bag)
                #expect(try opened(Keybag(text: bag.with(.default, device).text.span))[.whenUnlocked] != nil)
            }
            #expect(try escrowed.withoutEscrow(device) == plain)
            #expect(bagSize(escrowed, withPartsOf: GuardedSecret.partSizes.upperBound) <= Keybag.sizeLimit)
        }
    }

    /// The size of the keybag if the chip returned the largest parts that are accepted.
    private func bagSize(_ bag: Keybag, withPartsOf count: Int) -> Int {
        let part = [UInt8](repeating: 0, count: count)
        let largest = GuardedSecret(SealedSecret(parent: part, publicPart: part, privatePart: part))
        return bag.text.count - (bag.guarded?.member.utf8.count ?? 0) + largest.member.utf8.count
    }

    @Test("It is refused when changed or cut at any byte, or without its share, before a passcode is tried")
    func tampered() throws {
        let bag = try keybag(ClassKeys(generatingWithPasscode: true))
        for index in bag.text.indices {
            var text = bag.text
            text[index] ^= 0x01
            #expect(throws: KeybagFailure.self, "byte \(index)") {
                _ = try Keybag(text: text.span).deviceOnlyKeys(device)
            }
        }
        for count in 0..<bag.text.count {
            #expect(throws: KeybagFailure.self) { try Keybag(text: Array(bag.text[..<count]).span) }
        }
        let whole = String(decoding: bag.text, as: UTF8.self)
        let share = try #require(whole.firstMatch(of: /,"tpm":\{[^}]*\}/))
        let text = whole.replacing(String(share.0), with: "")
        #expect(throws: KeybagFailure.self) { _ = try Keybag(text: Array(text.utf8).span).deviceOnlyKeys(device) }
        #expect(chip.wrongGuesses == 0)
    }

    @Test("An archive has the share, so that the chip counts wrong guesses at it too")
    func archived() throws {
        let bag = try keybag(ClassKeys(generatingWithPasscode: true))
        let text = String(decoding: bag.text, as: UTF8.self)
        let archived = try ArchivedKeybag(text: text, of: device.id, deviceKey: device)
        #expect(throws: KeybagFailure.wrongPasscode) {
            try archived.unlock(passcode: SecretBytes(copying: "guess".utf8), minimumCost: cost)
        }
        #expect(chip.wrongGuesses == 1 && !archived.isOpen)
        try archived.unlock(passcode: passcode, minimumCost: cost)
        #expect(archived.isOpen)
    }
}
