import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys

@Suite("Escrow") struct EscrowTests {
    private let device: DeviceKey
    private let cost: ScryptCost
    private var passcode: SecretBytes { SecretBytes(copying: "open".utf8) }

    init() throws {
        device = try DeviceKey.generate()
        cost = try #require(ScryptCost(logN: 1))
    }

    private func keybag(
        _ keys: ClassKeys, retired: Int = 0, escrow: EscrowRecord? = nil, lockSettings: LockSettings = .default
    ) throws -> Keybag {
        let earlier = try (0..<retired).map { _ in try ClassKeys(generatingWithPasscode: false) }
        return try Keybag.wrapping(
            keys, retired: earlier, uuid: ItemUUID(), generation: 1, deviceKey: device, passcode: passcode, cost: cost,
            lockSettings: lockSettings, escrow: escrow)
    }

    private func file(_ keys: EscrowKey...) throws -> EscrowKeys {
        var text = SecretBytes(capacity: 1024)
        for key in keys { key.text(comments: ["a comment", ""]).withBytes { text.append($0) } }
        return try EscrowKeys(parsing: text)
    }

    @Test("An escrow key opens the class keys that the passcode protects, except that of akpu")
    func opens() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let key = try EscrowKey.generate()
        let plain = try keybag(keys)
        let bag = try plain.withEscrow(for: key.publicKey, since: .reference, keys, device, passcode: passcode)
        let opened = try bag.escrowedKeys(file(EscrowKey.generate(), key), device)
        #expect(
            Accessibility.allCases.filter { opened[$0] != nil }
                == Accessibility.allCases.filter { ["ak", "aku", "ck", "cku"].contains($0.rawValue) })
        for accessibility in EscrowRecord.accessibilities {
            let found = try #require(opened[accessibility]).secret.bytesForTest()
            #expect(try found == #require(keys[accessibility]).secret.bytesForTest())
        }
        #expect(bag.hasKeys(of: plain) && bag != plain)
        #expect(try bag.withoutEscrow(device) == plain)
        // The passcode still opens the keybag.
        _ = try bag.passcodeKeys(passcode, device, minimumCost: cost)
    }

    @Test("A keybag with every optional part reads back as written and fits the size limit")
    func roundTrip() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let settings = try #require(LockSettings(lockAfter: 31_536_000, lockOnSuspend: false))
        for (retired, settings) in [(0, .default), (0, settings), (1, .default), (Keybag.retiredLimit, settings)] {
            let key = try EscrowKey.generate()
            let bag = try keybag(keys, retired: retired, lockSettings: settings)
                .withEscrow(for: key.publicKey, since: .reference, keys, device, passcode: passcode)
            #expect(try Keybag(text: bag.text.span) == bag)
            #expect(bag.text.starts(with: Array("{\"version\":1,".utf8)))
            #expect(bag.text.count <= Keybag.sizeLimit)
            #expect(try bag.with(.default, device).escrow == bag.escrow)
        }
    }

    @Test("A keybag with an escrow record is refused when changed or cut at any byte, before a key is tried")
    func tampered() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let bag = try keybag(keys)
            .withEscrow(for: EscrowKey.generate().publicKey, since: .reference, keys, device, passcode: passcode)
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
        // The record removed from the middle, as an attacker hiding it would do.
        let whole = String(decoding: bag.text, as: UTF8.self)
        let record = try #require(whole.firstMatch(of: /,"escrow":\{[^}]*\}/))
        let text = whole.replacing(String(record.0), with: "")
        #expect(throws: KeybagFailure.self) { _ = try Keybag(text: Array(text.utf8).span).deviceOnlyKeys(device) }
    }

    @Test("An escrow key opens only the keybag, generation and device that its record was made for")
    func bound() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let key = try EscrowKey.generate()
        let bag = try keybag(keys)
            .withEscrow(for: key.publicKey, since: .reference, keys, device, passcode: passcode)
        let mine = try file(key)
        #expect(throws: KeybagFailure.escrow(.forged)) { _ = try bag.escrowedKeys(mine, DeviceKey.generate()) }
        #expect(throws: KeybagFailure.escrow(.otherKey)) {
            _ = try bag.escrowedKeys(file(EscrowKey.generate()), device)
        }
        #expect(throws: KeybagFailure.escrow(.none)) { _ = try keybag(keys).escrowedKeys(mine, device) }
        // The record is spliced into a keybag of the same device with the same class keys and passcode.
        var contents = try keybag(keys).contents
        contents.escrow = bag.escrow
        let spliced = try Keybag(contents, passcodeCode: nil, DeviceKeys(device, contents.uuid))
        #expect(throws: KeybagFailure.escrow(.forged)) { _ = try spliced.escrowedKeys(mine, device) }
    }

    @Test("A record forged with the device key but without the passcode is detected when the passcode is used")
    func planted() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let thief = try EscrowKey.generate()
        let bag = try keybag(keys)
        // With the attacker's own passcode, the record has a code, but under the wrong key.
        let other = SecretBytes(copying: "guess".utf8)
        let wrong = try PasscodeKeys(other, bag.contents, cost: cost, device)
        var contents = bag.contents
        contents.escrow = try EscrowRecord(keys, for: thief.publicKey, since: .reference, contents, device, wrong)
        let planted = try Keybag(contents, passcodeCode: bag.passcodeCode, DeviceKeys(device, bag.uuid))
        _ = try planted.deviceOnlyKeys(device)
        #expect(throws: KeybagFailure.escrow(.forged)) {
            _ = try planted.passcodeKeys(passcode, device, minimumCost: cost)
        }
        #expect(throws: KeybagFailure.wrongPasscode) {
            _ = try bag.withEscrow(for: thief.publicKey, since: .reference, keys, device, passcode: other)
        }
        #expect(try planted.withoutEscrow(device) == bag)
    }

    @Test("A record is renewed for new class keys with the public key alone, and is removed with the passcode")
    func renewed() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let key = try EscrowKey.generate()
        let old = try keybag(keys)
            .withEscrow(for: key.publicKey, since: .reference, keys, device, passcode: passcode)
        let newer = try ClassKeys(generatingWithPasscode: true)
        let bag = try keybag(newer, escrow: old.escrow)
        #expect(bag.escrow?.since == .reference && bag.escrow?.key == key.publicKey)
        let opened = try bag.escrowedKeys(file(key), device)
        let found = try #require(opened[.whenUnlocked]).secret.bytesForTest()
        #expect(try found == #require(newer[.whenUnlocked]).secret.bytesForTest())
        _ = try bag.passcodeKeys(passcode, device, minimumCost: cost)
        let none = try Keybag.wrapping(
            ClassKeys(generatingWithPasscode: false), uuid: ItemUUID(), generation: 2, deviceKey: device, passcode: nil,
            cost: cost, escrow: old.escrow)
        #expect(none.escrow == nil)
        #expect(throws: KeybagFailure.escrow(.noPasscode)) {
            _ = try none.withEscrow(for: key.publicKey, since: .reference, keys, device, passcode: passcode)
        }
        #expect(throws: KeybagFailure.escrow(.exists)) {
            _ = try bag.withEscrow(for: key.publicKey, since: .reference, newer, device, passcode: passcode)
        }
    }

    @Test("An escrow key file with a changed byte is refused, and the message does not quote the key")
    func files() throws {
        let key = try EscrowKey.generate()
        let text = key.text(comments: ["one"]).bytesForTest()
        let keyLine = try #require(text.split(separator: UInt8(ascii: "\n")).last)
        for index in keyLine.indices {
            var changed = text
            changed[index] ^= 0x01
            #expect(throws: KeybagFailure.escrow(.malformedLine(3))) {
                _ = try EscrowKeys(parsing: SecretBytes(copying: changed))
            }
        }
        #expect(throws: KeybagFailure.escrow(.noKey)) {
            _ = try EscrowKeys(parsing: SecretBytes(copying: "# x\n\n".utf8))
        }
        let many = Array(repeating: Array(keyLine) + [UInt8(ascii: "\n")], count: EscrowKeys.limit + 1).flatMap { $0 }
        #expect(throws: KeybagFailure.limit("escrow keys of a file", found: 257, allowed: 256)) {
            _ = try EscrowKeys(parsing: SecretBytes(copying: many))
        }
    }

    @Test("An archive's keybag with an escrow record is refused")
    func archived() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let bag = try keybag(keys)
            .withEscrow(for: EscrowKey.generate().publicKey, since: .reference, keys, device, passcode: passcode)
        #expect(throws: KeybagFailure.damaged("the keybag of an archive has an escrow record")) {
            _ = try ArchivedKeybag(text: String(decoding: bag.text, as: UTF8.self), of: device.id, deviceKey: device)
        }
    }
}
