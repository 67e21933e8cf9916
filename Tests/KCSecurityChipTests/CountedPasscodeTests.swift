import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCTestSupport
import Testing

@testable import KCSecurityChip

@Suite(
    "A passcode that a TPM counts", .waitsForPrograms,
    .enabled(if: SoftwareTPM.isInstalled, Comment(rawValue: SoftwareTPM.missing)))
struct CountedPasscodeTests {
    private let tpm: SoftwareTPM
    private let folder: TemporaryFolder
    private let share = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 29 &+ 5) }
    private let password = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 41 &+ 3) }

    init() throws {
        tpm = try SoftwareTPM()
        folder = try TemporaryFolder()
        try allow(32)
    }

    private func allow(_ guesses: Int) throws {
        try tpm.run("tpm2_dictionarylockout", "-s", "-n", "\(guesses)", "-t", "1000", "-l", "1000", in: folder)
    }

    private func seal(_ password: [UInt8]? = nil) throws -> GuardedSecret {
        try tpm.chip.seal(SecretBytes(copying: share), behind: SecretBytes(copying: password ?? self.password))
    }

    private func opened(_ guarded: GuardedSecret, _ password: [UInt8]? = nil) throws -> [UInt8] {
        try tpm.chip.unseal(guarded, with: SecretBytes(copying: password ?? self.password)).bytesForTest()
    }

    /// A device of the machine with the TPM, the same in each process.
    private func device() throws -> DeviceKey {
        try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: 9, count: 32)), chip: DeviceChip(tpm.chip))
    }

    private func keys(
        _ guarded: GuardedSecret, _ scryptOutput: [UInt8], _ context: [UInt8] = [1]
    ) throws -> [UInt8] {
        try device().mixIntoPasscodeKey(
            scryptOutput: SecretBytes(copying: scryptOutput), context: context, guarded: guarded
        ).bytesForTest()
    }

    @Test("What is behind a password opens with it, also after a restart, and each wrong one is counted")
    func counts() throws {
        let guarded = try seal()
        #expect(try opened(guarded) == share)
        var wrong = password
        wrong[31] ^= 1
        for count in 1...3 {
            #expect(throws: ChipFailure.wrongPassword) { try opened(guarded, wrong) }
            #expect(try tpm.chip.facts().wrongGuesses == count)
        }
        #expect(throws: ChipFailure.wrongPassword) { try opened(guarded, []) }
        #expect(try opened(guarded) == share)
        #expect(try tpm.chip.facts().wrongGuesses == 4)
        // Nothing that opens what has no password opens it.
        #expect(throws: (any Error).self) { try tpm.chip.unseal(guarded.sealed).bytesForTest() }
        try tpm.stop()
        try tpm.start()
        #expect(try opened(guarded) == share)
        #expect(try tpm.chip.facts().wrongGuesses >= 5)
    }

    @Test("A password of any length opens, as those have whose zeros at the end were cut off", arguments: [1, 30, 31])
    func lengths(count: Int) throws {
        let password = Array(self.password.prefix(count))
        let guarded = try seal(password)
        #expect(try opened(guarded, password) == share)
        #expect(throws: ChipFailure.wrongPassword) { try opened(guarded, password + [7]) }
    }

    @Test("A passcode whose password ends with a zero works like any other")
    func trailingZero() throws {
        let fake = FakeChip()
        let counted = try DeviceKey(
            secret: SecretBytes(copying: [UInt8](repeating: 9, count: 32)), chip: DeviceChip(fake))
        let scryptOutput = [UInt8](repeating: 4, count: 32)
        let context = try #require(
            try (0..<4_000).lazy.map { [UInt8($0 >> 8), UInt8($0 & 0xff)] }.first { context in
                _ = try counted.guardedShare(scryptOutput: SecretBytes(copying: scryptOutput), context: context)
                return fake.lastPassword.count < 32
            })
        #expect(fake.lastPassword.last != 0)
        let guarded = try device().guardedShare(scryptOutput: SecretBytes(copying: scryptOutput), context: context)
        #expect(try keys(guarded, scryptOutput, context) == keys(guarded, scryptOutput, context))
        #expect(try tpm.chip.facts().wrongGuesses == 0)
    }

    @Test("A guess that could lock what the TPM guards for others is not made, and it says how long that lasts")
    func reserve() throws {
        let (right, wrong) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        try allow(10)
        let guarded = try device().guardedShare(scryptOutput: SecretBytes(copying: right), context: [1])
        for _ in 0..<6 {
            #expect(throws: CryptographyFailure.chip(.wrongPassword)) { try keys(guarded, wrong) }
        }
        for attempt in [wrong, right] {
            #expect(throws: CryptographyFailure.chip(.lockedOut(seconds: 1000))) { try keys(guarded, attempt) }
        }
        #expect(try tpm.chip.facts().wrongGuesses == 6)
        // Who has the lockout password, or anybody if there is none, ends that.
        try tpm.run("tpm2_dictionarylockout", "-c", in: folder)
        #expect(try keys(guarded, right).count == 128)
    }

    @Test("A TPM that is locked opens no passcode, and still opens the key of the device")
    func lockedOut() throws {
        let plain = try tpm.chip.seal(SecretBytes(copying: share))
        let guarded = try seal()
        try allow(5)
        #expect(throws: ChipFailure.wrongPassword) { try opened(guarded, [1]) }
        #expect(throws: ChipFailure.lockedOut(seconds: 1000)) { try opened(guarded) }
        try guessElsewhere(4)
        #expect(try tpm.chip.facts().isLockedOut)
        #expect(throws: ChipFailure.lockedOut(seconds: 5000)) { try opened(guarded) }
        #expect(try tpm.chip.unseal(plain).bytesForTest() == share)
        try allow(2)
        #expect(throws: ChipFailure.countsTooFew(limit: 2)) { try opened(guarded) }
        #expect(throws: CryptographyFailure.chip(.countsTooFew(limit: 2))) {
            _ = try device().guardedShare(scryptOutput: SecretBytes(copying: password), context: [])
        }
    }

    /// Guesses wrong at what another program guards.
    private func guessElsewhere(_ count: Int) throws {
        try tpm.run("tpm2_createprimary", "-C", "o", "-c", "p.ctx", in: folder)
        try folder.write("data", [1, 2, 3])
        try tpm.run(
            "tpm2_create", "-C", "p.ctx", "-p", "right", "-i", "data", "-u", "u", "-r", "r", "-c", "k.ctx", in: folder)
        for _ in 0..<count {
            #expect(throws: SoftwareTPM.Failed.self) {
                try tpm.run("tpm2_unseal", "-c", "k.ctx", "-p", "wrong", in: folder)
            }
        }
    }

    @Test("Another TPM does not open it, nor does the same one after it was cleared")
    func otherChip() throws {
        let guarded = try device().guardedShare(scryptOutput: SecretBytes(copying: password), context: [1])
        let other = try SoftwareTPM()
        #expect(throws: ChipFailure.otherChip) {
            _ = try other.chip.unseal(guarded, with: SecretBytes(copying: password))
        }
        withExtendedLifetime(other) {}
        try tpm.run("tpm2_clear", "-c", "p", in: folder)
        #expect(throws: CryptographyFailure.chip(.countedElsewhere)) { try keys(guarded, password) }
    }

    @Test("Nobody between the program and the TPM sees the share or the password, and other programs count too")
    func listeners() throws {
        let guarded = try seal()
        #expect(try opened(guarded) == share)
        let log = try tpm.log()
        #expect(!log.contains(Hexadecimal.encode(share)) && !log.contains(Hexadecimal.encode(password)))
        try folder.write("public", guarded.sealed.publicPart)
        try folder.write("private", guarded.sealed.privatePart)
        let attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
        try tpm.run("tpm2_createprimary", "-C", "o", "-G", "ecc", "-a", attributes, "-c", "srk.ctx", in: folder)
        try tpm.run("tpm2_load", "-C", "srk.ctx", "-u", "public", "-r", "private", "-c", "key.ctx", in: folder)
        let right = "hex:\(Hexadecimal.encode(password))"
        #expect(try tpm.run("tpm2_unseal", "-c", "key.ctx", "-p", right, in: folder).output == share)
        #expect(throws: SoftwareTPM.Failed.self) {
            try tpm.run("tpm2_unseal", "-c", "key.ctx", "-p", "hex:00", in: folder)
        }
        #expect(try tpm.chip.facts().wrongGuesses == 1)
    }
}
