import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCTestSupport
import Testing

@testable import KCSecurityChip

@Suite("A TPM", .waitsForPrograms, .enabled(if: SoftwareTPM.isInstalled, Comment(rawValue: SoftwareTPM.missing)))
struct TPMTests {
    private let tpm: SoftwareTPM
    private let folder: TemporaryFolder
    private let secret = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }

    init() throws {
        tpm = try SoftwareTPM()
        folder = try TemporaryFolder()
    }

    private func seal(_ chip: (any SealingChip)? = nil) throws -> SealedSecret {
        try (chip ?? tpm.chip as any SealingChip).seal(SecretBytes(copying: secret))
    }

    private func opened(_ sealed: SealedSecret, _ chip: (any SealingChip)? = nil) throws -> [UInt8] {
        try (chip ?? tpm.chip as any SealingChip).unseal(sealed).bytesForTest()
    }

    @Test("What it has sealed, it opens, also after a restart, and again and again")
    func opens() throws {
        let sealed = try seal()
        #expect(try opened(sealed) == secret)
        try tpm.stop()
        try tpm.start()
        for _ in 0..<5 { #expect(try opened(sealed) == secret) }
        #expect(try seal().privatePart != sealed.privatePart)
    }

    @Test("Another TPM refuses it, and so does the same one after it was cleared")
    func otherChip() throws {
        let sealed = try seal()
        let other = try SoftwareTPM()
        #expect(throws: ChipFailure.otherChip) { try opened(sealed, other.chip) }
        withExtendedLifetime(other) {}
        try tpm.run("tpm2_clear", "-c", "p", in: folder)
        #expect(throws: ChipFailure.otherChip) { try opened(sealed) }
    }

    @Test("A copy of a TPM's state opens it too, as a cloned machine does")
    func clone() throws {
        let sealed = try seal()
        try tpm.stop()
        let clone = try SoftwareTPM(copying: tpm)
        #expect(try opened(sealed, clone.chip) == secret)
        withExtendedLifetime(clone) {}
    }

    @Test("A storage root key that is made persistent later, or removed again, opens what the other one sealed")
    func persistentParent() throws {
        let before = try seal()
        try persistParent()
        #expect(try opened(before) == secret)
        let after = try seal()
        #expect(after.parent == before.parent)
        try tpm.run("tpm2_evictcontrol", "-C", "o", "-c", "0x81000001", in: folder)
        #expect(try opened(after) == secret)
    }

    private func persistParent() throws {
        let attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
        try tpm.run("tpm2_createprimary", "-C", "o", "-G", "ecc", "-a", attributes, "-c", "srk.ctx", in: folder)
        try tpm.run("tpm2_evictcontrol", "-C", "o", "-c", "srk.ctx", "0x81000001", in: folder)
    }

    @Test("Nothing is sealed under a persistent key of another kind, which anybody may have put there")
    func otherParent() throws {
        try tpm.run("tpm2_createprimary", "-C", "o", "-G", "rsa2048", "-c", "srk.ctx", in: folder)
        try tpm.run("tpm2_evictcontrol", "-C", "o", "-c", "srk.ctx", "0x81000001", in: folder)
        let sealed = try seal()
        #expect(try opened(sealed) == secret)
        try tpm.run("tpm2_evictcontrol", "-C", "o", "-c", "0x81000001", in: folder)
        #expect(try opened(sealed) == secret)
    }

    @Test("An owner's password is no obstacle where the storage root key is persistent, and is named where it is not")
    func ownerPassword() throws {
        let sealed = try seal()
        try persistParent()
        try tpm.run("tpm2_changeauth", "-c", "o", "owner", in: folder)
        #expect(try opened(sealed) == secret)
        try tpm.run("tpm2_evictcontrol", "-C", "o", "-P", "owner", "-c", "0x81000001", in: folder)
        #expect(throws: ChipFailure.ownerPassword) { try opened(sealed) }
        #expect(throws: ChipFailure.ownerPassword) { try seal() }
    }

    @Test("A storage hierarchy that is switched off is named")
    func disabled() throws {
        try tpm.run("tpm2_hierarchycontrol", "-C", "o", "shEnable", "clear", in: folder)
        #expect(throws: ChipFailure.disabled) { try seal() }
    }

    @Test("It opens while wrong guesses at other keys have locked them, and says that they have")
    func lockout() throws {
        let sealed = try seal()
        let before = try tpm.chip.facts()
        #expect(before.wrongGuesses == 0 && before.guessLimit == 3 && !before.isLockedOut && !before.hasLockoutPassword)
        #expect(before.manufacturer == "IBM")
        try tpm.run("tpm2_createprimary", "-C", "o", "-c", "p.ctx", in: folder)
        try folder.write("data", [1, 2, 3])
        try tpm.run(
            "tpm2_create", "-C", "p.ctx", "-p", "right", "-i", "data", "-u", "u", "-r", "r", "-c", "k.ctx", in: folder)
        for _ in 0..<4 {
            #expect(throws: SoftwareTPM.Failed.self) {
                try tpm.run("tpm2_unseal", "-c", "k.ctx", "-p", "wrong", in: folder)
            }
        }
        let after = try tpm.chip.facts()
        #expect(after.wrongGuesses == 3 && after.isLockedOut)
        #expect(try opened(sealed) == secret)
        try tpm.run("tpm2_changeauth", "-c", "l", "password", in: folder)
        #expect(try tpm.chip.facts().hasLockoutPassword)
    }

    @Test("A boot with other firmware and another kernel changes nothing")
    func otherBoot() throws {
        let sealed = try seal()
        for register in ["0", "4", "7"] {
            try tpm.run("tpm2_pcrextend", "\(register):sha256=\(String(repeating: "ab", count: 32))", in: folder)
        }
        #expect(try opened(sealed) == secret)
    }

    @Test("Each changed bit, and each missing end, of what was sealed is refused")
    func altered() throws {
        let sealed = try seal()
        var random = SeededRandom(seed: 25)
        func expectRefused(_ publicPart: [UInt8], _ privatePart: [UInt8], _ what: String) {
            let altered = SealedSecret(parent: sealed.parent, publicPart: publicPart, privatePart: privatePart)
            #expect(throws: ChipFailure.damaged, "\(what)") { try opened(altered) }
        }
        func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
            var bytes = bytes
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            return bytes
        }
        for index in sealed.publicPart.indices {
            expectRefused(flipped(sealed.publicPart, index), sealed.privatePart, "public part, byte \(index)")
        }
        for index in stride(from: 0, to: sealed.privatePart.count, by: 9) {
            expectRefused(sealed.publicPart, flipped(sealed.privatePart, index), "private part, byte \(index)")
        }
        for count in [0, 1, 20, sealed.privatePart.count - 1] {
            expectRefused(sealed.publicPart, Array(sealed.privatePart.prefix(count)), "\(count) bytes")
        }
        expectRefused(Array(sealed.publicPart.dropLast()), sealed.privatePart, "public part cut")
        expectRefused(sealed.publicPart + [0], sealed.privatePart, "public part with more")
        let other = SealedSecret(
            parent: flipped(sealed.parent, 5), publicPart: sealed.publicPart, privatePart: sealed.privatePart)
        #expect(throws: ChipFailure.otherChip) { try opened(other) }
    }

    @Test("Where nothing answers, or this user may not ask, that is said")
    func unreachable() throws {
        let sealed = try seal()
        #expect(throws: ChipFailure.noAnswer) { try opened(sealed, QueuedChip("exec false")) }
        try tpm.stop()
        #expect(throws: ChipFailure.noAnswer) { try seal() }
        let none = folder.path("tpmrm0")
        #expect(throws: ChipFailure.absent(path: none)) { try seal(TPM(.device(path: none))) }
        if geteuid() != 0 {
            try folder.write("tpmrm1", [], mode: 0)
            #expect(throws: ChipFailure.noAccess(path: folder.path("tpmrm1"))) {
                try seal(TPM(.device(path: folder.path("tpmrm1"))))
            }
        }
    }

    @Test("Nothing between the program and the TPM sees the secret")
    func listeners() throws {
        let sealed = try seal()
        #expect(try opened(sealed) == secret)
        let digits = Hexadecimal.encode(secret)
        #expect(try !tpm.log().contains(digits))
        // The outside judge opens it too, and asks for it in the clear.
        try folder.write("public", sealed.publicPart)
        try folder.write("private", sealed.privatePart)
        let attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
        try tpm.run("tpm2_createprimary", "-C", "o", "-G", "ecc", "-a", attributes, "-c", "srk.ctx", in: folder)
        try tpm.run("tpm2_load", "-C", "srk.ctx", "-u", "public", "-r", "private", "-c", "key.ctx", in: folder)
        #expect(try tpm.run("tpm2_unseal", "-c", "key.ctx", in: folder).output == secret)
        #expect(try tpm.log().contains(digits))
    }
}
