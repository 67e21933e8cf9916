import KCAgeEncryption
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCRecoveryKits

@Suite("The list of recovery kits")
struct RecoveryKitsTests {
    private let now = Timestamp.reference

    private func kit(_ comment: String = "") throws -> RecoveryKit {
        RecoveryKit(try NativeIdentity.generate(.x25519).recipient, made: now, comment: comment)
    }

    private func device(_ byte: UInt8) throws -> DeviceKey {
        try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    @Test("Kits are read as they were written, and another device's list is empty")
    func kept() throws {
        let folder = try TemporaryFolder()
        let kits = RecoveryKits(besideKeyAt: folder.path("device.key"), of: try device(1))
        #expect(try kits.list().isEmpty)
        var first = try kit("in the safe, \u{201e}blau\u{201c}")
        first.check(at: now.advanced(byMicroseconds: 5))
        var second = RecoveryKit(
            try NativeIdentity.generate(.x25519).recipient, made: now, comment: "", shares: ShareScheme("2of3"))
        second.retired = now
        second.check(at: now, shares: [3, 1])
        try kits.change { $0 += [first, second] }
        #expect(try kits.list() == [first, second])
        #expect(try RecoveryKits(besideKeyAt: folder.path("device.key"), of: device(2)).list().isEmpty)
    }

    @Test("A list that something else has changed is refused, and nothing is written if a change fails")
    func altered() throws {
        let folder = try TemporaryFolder()
        let device = try device(1)
        let kits = RecoveryKits(besideKeyAt: folder.path("device.key"), of: device)
        try kits.change { $0.append(try kit()) }
        let before = try kits.list()
        #expect(throws: CancellationError.self) {
            try kits.change { kits in
                kits.removeAll()
                throw CancellationError()
            }
        }
        #expect(try kits.list() == before)
        let name = "recovery-kits-\(device.id)"
        var text = try folder.read(name)
        text[text.count / 2] ^= 1
        try folder.write(name, text, mode: 0o600)
        #expect(throws: StateFileFailure.altered(path: folder.path(name))) { try kits.list() }
    }

    @Test("Lines in another order, or of another version, are not taken for kits")
    func form() throws {
        let fields = RecoveryKits.fields([try kit("a"), try kit()])
        #expect(RecoveryKits.kits(fields)?.count == 2)
        let text = String(decoding: fields.encoded, as: UTF8.self)
        for (part, other) in [
            ("kit age1", "kit age2"), ("made 2", "made x"), ("comment a", "colour a"), ("kit ", "x "),
        ] {
            let changed = try #require(StateFields(parsing: Array(text.replacing(part, with: other).utf8)))
            #expect(RecoveryKits.kits(changed) == nil, "\(other)")
        }
    }

    @Test(
        "Two to sixteen shares can be made, of which two or more are needed",
        arguments: [
            ("2of3", true), ("2of2", true), ("16of16", true), ("1of3", false), ("3of2", false), ("2of17", false),
            ("2 of 3", false), ("02of3", false), ("2of", false), ("of3", false), ("", false), ("-2of3", false),
            ("2of3of4", false), ("2/3", false),
        ])
    func scheme(text: String, isOne: Bool) { #expect((ShareScheme(text) != nil) == isOne) }

    @Test("A split kit is checked once each share was, and for as long as the one that was checked first")
    func shares() throws {
        var kit = RecoveryKit(
            try NativeIdentity.generate(.x25519).recipient, made: now, comment: "", shares: ShareScheme("2of3"))
        kit.check(at: now)
        #expect(kit.checked == nil && kit.untriedShares == [1, 2, 3])
        kit.check(at: now, shares: [1, 3])
        #expect(kit.checked == nil && kit.untriedShares == [2])
        let later = now.advanced(byMicroseconds: 5)
        kit.check(at: later, shares: [2, 3, 4])
        #expect(kit.checked == now && kit.untriedShares == [])
        kit.check(at: later, shares: [1])
        #expect(kit.checked == later)
    }

    @Test("A kit is to be checked once a year, the same day counts")
    func rehearsal() throws {
        var kit = try kit()
        let day: Int64 = 86_400_000_000
        #expect(kit.rehearsal(at: now) == .never)
        kit.check(at: now)
        #expect(kit.rehearsal(at: now.advanced(byMicroseconds: 366 * day)) == .recent)
        #expect(kit.rehearsal(at: now.advanced(byMicroseconds: 366 * day + 1)) == .old)
        // As of a clock that was slightly fast, and of one that was fast.
        #expect(kit.rehearsal(at: now.advanced(byMicroseconds: -day / 24)) == .recent)
        #expect(kit.rehearsal(at: now.advanced(byMicroseconds: -day / 24 - 1)) == .old)
    }
}
