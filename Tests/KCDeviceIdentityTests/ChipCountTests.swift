import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("A passcode that a chip counts")
struct ChipCountTests {
    private let chip = FakeChip()
    private let device: DeviceKey

    init() throws {
        device = try DeviceKey(secret: RandomBytes.secret(count: 32), chip: DeviceChip(chip))
    }

    private func stretched(_ byte: UInt8) -> SecretBytes { SecretBytes(copying: [UInt8](repeating: byte, count: 32)) }

    private func keys(_ byte: UInt8, _ guarded: GuardedSecret?, of other: DeviceKey? = nil) throws -> [UInt8] {
        try (other ?? device).mixIntoPasscodeKey(scryptOutput: stretched(byte), context: [1, 2], guarded: guarded)
            .bytesForTest()
    }

    @Test("Its keys need the passcode, the device and the share that the chip has")
    func shares() throws {
        let guarded = try device.guardedShare(scryptOutput: stretched(1), context: [1, 2])
        let other = try device.guardedShare(scryptOutput: stretched(1), context: [1, 2])
        let found = try keys(1, guarded)
        #expect(try found.count == 128 && found == keys(1, guarded))
        #expect(try Set([found, keys(1, nil), keys(1, other), keys(2, nil)]).count == 4)
        #expect(chip.wrongGuesses == 0)
        #expect(throws: CryptographyFailure.chip(.wrongPassword)) { try keys(2, guarded) }
        let stranger = try DeviceKey(secret: RandomBytes.secret(count: 32), chip: DeviceChip(chip))
        #expect(throws: CryptographyFailure.chip(.wrongPassword)) { try keys(1, guarded, of: stranger) }
        #expect(chip.wrongGuesses == 2)
        #expect(throws: CryptographyFailure.unsupportedParameters("scrypt output length")) {
            _ = try device.guardedShare(scryptOutput: SecretBytes(copying: [1]), context: [])
        }
    }

    @Test("A chip that is another one, was cleared or is gone is named as such")
    func gone() throws {
        let guarded = try device.guardedShare(scryptOutput: stretched(1), context: [1, 2])
        chip.set(absent: true)
        #expect(throws: CryptographyFailure.chip(.countedElsewhere)) { try keys(1, guarded) }
        chip.set(absent: false)
        chip.fail("unseal", .tampered)
        #expect(throws: CryptographyFailure.chip(.tampered)) { try keys(1, guarded) }
        chip.fail("unseal", nil)
        chip.clear()
        #expect(throws: CryptographyFailure.chip(.countedElsewhere)) { try keys(1, guarded) }
        let noChip = try DeviceKey(secret: RandomBytes.secret(count: 32))
        #expect(throws: CryptographyFailure.chip(.countedElsewhere)) { try keys(1, guarded, of: noChip) }
    }

    @Test(
        "As many guesses are left to other programs, and it is said when the next one is possible",
        arguments: [
            (wrong: 0, limit: 32, wait: nil), (27, 32, nil), (28, 32, 600), (31, 32, 2_400), (32, 32, 3_000),
            (40, 32, 3_000),
        ] as [(wrong: Int, limit: Int, wait: Int?)])
    func reserve(wrong: Int, limit: Int, wait: Int?) throws {
        let guarded = try device.guardedShare(scryptOutput: stretched(1), context: [1, 2])
        chip.set(wrongGuesses: wrong, of: limit)
        if let wait {
            for byte: UInt8 in [1, 2] {
                #expect(throws: CryptographyFailure.chip(.lockedOut(seconds: wait))) { try keys(byte, guarded) }
            }
        } else {
            #expect(try keys(1, guarded).count == 128)
        }
        #expect(chip.wrongGuesses == wrong)
    }

    @Test("A chip that a few typing errors lock for hours, or that counts nothing, gets no passcode to count")
    func unfit() throws {
        for (limit, seconds) in [(9, 600), (0, 600), (32, 0)] {
            chip.set(wrongGuesses: 0, of: limit, secondsPerGuess: seconds)
            #expect(throws: CryptographyFailure.chip(.countsTooFew(limit: limit))) {
                _ = try device.guardedShare(scryptOutput: stretched(1), context: [1, 2])
            }
        }
        chip.set(wrongGuesses: 0, of: 10, secondsPerGuess: 1)
        _ = try device.guardedShare(scryptOutput: stretched(1), context: [1, 2])
        chip.set(wrongGuesses: 10, of: 10, secondsPerGuess: .max)
        #expect(throws: ChipFailure.lockedOut(seconds: .max)) { try chip.facts().requireGuess() }
        // With less, a passcode would never be tried.
        chip.set(wrongGuesses: 0, of: 4)
        #expect(throws: ChipFailure.countsTooFew(limit: 4)) { try chip.facts().requireGuess() }
    }
}
