import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("A device key that a chip holds")
struct SealedKeyTests {
    private let folder: TemporaryFolder
    private let chip = FakeChip()
    private let day = KeyDay.ofTest

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("here", Array("0123456789abcdef0123456789abcdef\n".utf8))
        try folder.write("there", Array("ffffffffffffffffffffffffffffffff\n".utf8))
    }

    /// Each provider stands for a process of its own.
    private func provider(_ name: String = "device.key", on machine: String = "here") -> FileDeviceKeyProvider {
        FileDeviceKeyProvider(path: folder.path(name), machineIDPath: folder.path(machine), chip: DeviceChip(chip))
    }

    private func text() throws -> String { String(decoding: try folder.read("device.key"), as: UTF8.self) }

    private func keys(_ device: DeviceKey) throws -> [[UInt8]] {
        [
            try device.wrappingKey(context: [1]).bytesForTest(), try device.stateMACKey(context: [2]).bytesForTest(),
            try device.sign([3]), device.signingPublicKey,
        ]
    }

    @Test("It derives the same keys as from the file, before and after, and the file has nothing of them")
    func sameDevice() throws {
        let made = try provider().create()
        let before = try keys(made)
        let plain = try text()
        #expect(try keys(provider().seal(on: day)) == before)
        #expect(try keys(provider().load()) == before)
        let key = try #require(plain.split(separator: "\n").first { $0.hasPrefix("KCBACKUP") })
        #expect(try !text().contains(key))
        #expect(try provider().status().holding == .chip(SealedKeyHistory(origin: .file, sealed: day)))
        #expect(try keys(provider().unseal()) == before)
        #expect(try text() == plain)
        #expect(try folder.list() == [".lock", "device.key", "here", "there"])
    }

    @Test("Who it is, is known without the chip; the chip opens it once, when a key is first derived")
    func lazy() throws {
        let made = try provider().create(in: .chip(day))
        #expect(try provider().status().holding == .chip(SealedKeyHistory(origin: .tpm, sealed: day)))
        let before = chip.openings
        let shared = provider()
        let device = try shared.load()
        #expect(device.id == made.id && device.signingPublicKey == made.signingPublicKey)
        #expect(chip.openings == before)
        for _ in 0..<3 { _ = try keys(shared.load()) }
        #expect(chip.openings == before + 1)
        chip.set(absent: true)
        #expect(try provider().load().id == made.id)
        #expect(throws: CryptographyFailure.chip(.absent(path: "/dev/tpmrm0"))) { try provider().load().prove() }
    }

    @Test("What the chip would not open again never replaces the key in the file")
    func unsealTest() throws {
        _ = try provider().create()
        let before = try text()
        for call in ["seal", "unseal"] {
            chip.fail(call, .noAnswer)
            #expect(throws: DeviceKeyFailure.cryptography(.chip(.noAnswer))) { try provider().seal(on: day) }
            chip.fail(call, nil)
            #expect(try text() == before)
        }
        chip.set(altersSecrets: true)
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.damaged))) { try provider().seal(on: day) }
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.damaged))) {
            try provider("new.key").create(in: .chip(day))
        }
        #expect(try text() == before)
        #expect(try folder.list() == [".lock", "device.key", "here", "there"])
    }

    @Test("It is sealed once, and taken out once")
    func twice() throws {
        let id = try provider().create().id
        #expect(throws: DeviceKeyFailure.heldByFile(path: folder.path("device.key"), device: id)) {
            try provider().unseal()
        }
        _ = try provider().seal(on: day)
        #expect(throws: DeviceKeyFailure.heldByChip(path: folder.path("device.key"), device: id)) {
            try provider().seal(on: day)
        }
    }

    @Test("Each changed character of the file is refused, with the chip or without it")
    func altered() throws {
        let device = try provider().create(in: .chip(day))
        let before = try folder.read("device.key")
        for index in before.indices {
            var bytes = before
            bytes[index] ^= 1
            try folder.write("device.key", bytes)
            #expect(throws: DeviceKeyFailure.self, "byte \(index)") { try provider().load().prove() }
        }
        for count in [0, 10, before.count - 1] {
            try folder.write("device.key", Array(before.prefix(count)))
            #expect(throws: DeviceKeyFailure.self, "\(count) bytes") { try provider().load() }
        }
        try folder.write("device.key", before + Array("\n".utf8))
        #expect(throws: DeviceKeyFailure.self) { try provider().load() }
        try folder.write("device.key", before)
        #expect(try provider().load().id == device.id)
    }

    @Test("A history that somebody wrote who has no key is refused, although its checksum is right")
    func forgedHistory() throws {
        _ = try provider().create()
        _ = try provider().seal(on: day)
        let lines = try text().replacing("born file", with: "born tpm").split(separator: "\n").dropLast()
        let forged = lines.map { $0 + "\n" }.joined()
        let sum = SHA256.hash(Array(forged.utf8).span).hex
        try folder.write("device.key", Array("\(forged)check \(sum)\n".utf8))
        #expect(throws: CryptographyFailure.chip(.damaged)) { try provider().load().prove() }
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.damaged))) { try provider().adopt() }
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.damaged))) { try provider().unseal() }
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.damaged))) { _ = try provider().exported(on: day) }
    }

    @Test("A copied home opens nothing elsewhere, whatever its user says")
    func copiedHome() throws {
        let id = try provider().create(in: .chip(day)).id
        #expect(throws: DeviceKeyFailure.otherMachine(path: folder.path("device.key"), device: id)) {
            try provider(on: "there").load()
        }
        let before = try text()
        chip.clear()
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.otherChip))) { try provider(on: "there").adopt() }
        #expect(try text() == before)
        #expect(throws: CryptographyFailure.chip(.otherChip)) { try provider().load().prove() }
    }

    @Test("A reinstalled system of the same machine adopts it, and its history stays")
    func adopt() throws {
        let made = try keys(provider().create(in: .chip(day)))
        #expect(try keys(provider(on: "there").adopt()) == made)
        #expect(try keys(provider(on: "there").load()) == made)
        #expect(try provider(on: "there").status().holding == .chip(SealedKeyHistory(origin: .tpm, sealed: day)))
        #expect(throws: DeviceKeyFailure.self) { try provider().load() }
    }

    @Test("A renewed device keeps the old one as the chip left it, and a file if it wants one")
    func renew() throws {
        let old = try provider().create(in: .chip(day))
        let oldKeys = try keys(old)
        let oldText = try text()
        let renewal = try provider().renew(in: .chip(day))
        #expect(renewal.retired == old.id && renewal.device.id != old.id)
        #expect(try String(decoding: folder.read("device.key.retired-\(old.id)"), as: UTF8.self) == oldText)
        // A retired key comes back where the chip still opens it.
        let retired = SecretBytes(copying: oldText.utf8)
        let back = try provider().replace(by: retired, from: "retired")
        #expect(try keys(back.device) == oldKeys)
        // A dead chip keeps nobody from a new device in a file.
        chip.set(absent: true)
        let inFile = try provider().renew(in: .file)
        #expect(try provider().status().holding == .file)
        try inFile.device.prove()
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.absent(path: "/dev/tpmrm0")))) {
            try provider().renew(in: .chip(day))
        }
        #expect(try provider().load().id == inFile.device.id)
    }

    @Test("A copy is on record, and brings the key back where the chip is gone")
    func export() throws {
        let made = try keys(provider().create(in: .chip(day)))
        let later = KeyDay(year: 2026, month: 12, day: 1)
        let copy = try provider().exported(on: later)
        let history = SealedKeyHistory(origin: .tpm, sealed: day, copied: later)
        #expect(try provider().status().holding == .chip(history))
        // As long as the chip opens the key, it stays there.
        #expect(try keys(provider().install(copy, from: "copy")) == made)
        #expect(try provider().status().holding == .chip(history))
        // A chip that does not answer at the moment is no reason to give it up.
        chip.fail("unseal", .noAnswer)
        #expect(throws: DeviceKeyFailure.cryptography(.chip(.noAnswer))) { try provider().install(copy, from: "copy") }
        chip.fail("unseal", nil)
        for isAbsent in [true, false] {
            if isAbsent { chip.set(absent: true) } else { chip.clear() }
            let before = try folder.read("device.key")
            #expect(try keys(provider().install(copy, from: "copy")) == made)
            #expect(try provider().status().holding == .file)
            if isAbsent { try folder.write("device.key", before) }
            chip.set(absent: false)
        }
        #expect(try keys(provider().seal(on: later)) == made)
    }

    @Test("A device is renewed however often its key was retired before, and in whatever form")
    func retiredForms() throws {
        let old = try provider().create()
        let copy = try provider().exported(on: day)
        for number in 1...3 {
            if number == 2 { _ = try provider().seal(on: day) }
            let renewal = try provider().renew(in: .file)
            let name = "device.key.retired-\(old.id)" + (number == 1 ? "" : "-2")
            #expect(renewal.retiredPath == folder.path(number == 3 ? "device.key.retired-\(old.id)" : name))
            _ = try provider().replace(by: copy, from: "copy")
        }
        #expect(try provider().load().id == old.id)
    }

    @Test("The text of a file that later versions write is refused as such")
    func laterVersion() throws {
        try folder.write("device.key", Array("# a later version\ntpm hmac 1\nmachine none\n".utf8))
        #expect(
            throws: DeviceKeyFailure.damaged(
                path: folder.path("device.key"), rule: "another version of this program wrote it")
        ) { try provider().load() }
    }

    @Test("A day is four, two and two digits", arguments: [("2026-11-21", true), ("2026-1-21", false), ("x", false)])
    func days(text: String, isDay: Bool) {
        #expect((KeyDay(text) != nil) == isDay)
        #expect(KeyDay(year: 2026, month: 1, day: 5).description == "2026-01-05")
    }
}
