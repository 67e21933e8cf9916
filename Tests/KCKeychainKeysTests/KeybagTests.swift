import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys

@Suite struct KeybagTests {
    private static let cost = ScryptCost(logN: 1)
    private let device: DeviceKey

    init() throws {
        device = try DeviceKey.generate()
    }

    private func secret(_ text: String?) -> SecretBytes? {
        switch text {
        case .some(let text): SecretBytes(copying: text.utf8)
        case .none: nil
        }
    }

    private func keybag(passcode: String?) throws -> Keybag {
        try Keybag.wrapping(
            ClassKeys(generatingWithPasscode: passcode != nil), uuid: ItemUUID(), generation: 1, deviceKey: device,
            passcode: secret(passcode), cost: #require(Self.cost))
    }

    @Test("A keybag reads back as written", arguments: [nil, "open"] as [String?])
    func roundTrip(passcode: String?) throws {
        let keybag = try keybag(passcode: passcode)
        #expect(try Keybag(text: keybag.text.span) == keybag)
        #expect(keybag.hasPasscode == (passcode != nil))
        #expect(keybag.wrappedKeys.count == (passcode == nil ? 6 : 7))
        #expect(keybag.device == device.id)
        let text = String(decoding: keybag.text, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "{\"version\":1,\"uuid\":\"\(keybag.uuid)\",\"device\":\"\(device.id)\",\"generation\":1,"))
    }

    @Test("A keybag with any changed byte is refused before a passcode is tried")
    func tampered() throws {
        let keybag = try keybag(passcode: "open")
        for index in keybag.text.indices {
            for flip: UInt8 in [0x01, 0x04, 0x20] {
                var text = keybag.text
                text[index] ^= flip
                #expect(throws: KeybagFailure.self, "byte \(index)") {
                    _ = try Keybag(text: text.span).deviceOnlyKeys(device)
                }
            }
        }
        for count in 0..<keybag.text.count {
            #expect(throws: KeybagFailure.self) { try Keybag(text: Array(keybag.text[..<count]).span) }
        }
    }

    @Test("A retired set with presence keys is refused in a keybag without a passcode", arguments: [nil, "open"])
    func retiredPresence(passcode: String?) throws {
        let keys = try ClassKeys(generatingWithPasscode: passcode != nil)
        let bag = try Keybag.wrapping(
            keys, retired: [keys], uuid: ItemUUID(), generation: 2, deviceKey: device, passcode: secret(passcode),
            cost: #require(Self.cost))
        #expect(bag.retired.map(\.count) == [passcode == nil ? 240 : 320])
        var text = String(decoding: bag.text, as: UTF8.self)
        let set = Base64.encode(try #require(bag.retired.first))
        text.replace(
            "\"retired\":[\"\(set)\"]", with: "\"retired\":[\"\(Base64.encode([UInt8](repeating: 1, count: 320)))\"]")
        if passcode == nil {
            #expect(throws: KeybagFailure.self) { try Keybag(text: Array(text.utf8).span) }
        } else {
            #expect(try Keybag(text: Array(text.utf8).span).retired.map(\.count) == [320])
        }
    }

    @Test("A work factor outside the allowed range is refused before any work is done")
    func costs() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        func bag(_ logN: Int) throws -> Keybag {
            try Keybag.wrapping(
                keys, uuid: ItemUUID(), generation: 1, deviceKey: device, passcode: secret("open"),
                cost: try #require(ScryptCost(logN: logN)))
        }
        let passcode = SecretBytes(copying: "open".utf8)
        #expect(throws: KeybagFailure.damaged("the work factor of the keybag is out of range")) {
            _ = try bag(13).passcodeKeys(passcode, device, minimumCost: nil)
        }
        _ = try bag(1).passcodeKeys(passcode, device, minimumCost: Self.cost)
        _ = try bag(14).passcodeKeys(passcode, device, minimumCost: nil)
        // The high work factor is edited into the text, because deriving a key with it would take too long.
        let text = String(decoding: try bag(1).text, as: UTF8.self)
            .replacing("\"scrypt\":1,", with: "\"scrypt\":21,")
        let bomb = try Keybag(text: Array(text.utf8).span)
        #expect(throws: KeybagFailure.damaged("the work factor of the keybag is out of range")) {
            _ = try bomb.passcodeKeys(passcode, device, minimumCost: nil)
        }
    }

    @Test("Keys protected by a passcode open only with both this device and this passcode")
    func both() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let cost = try #require(Self.cost)
        let keybag = try Keybag.wrapping(
            keys, uuid: ItemUUID(), generation: 1, deviceKey: device, passcode: secret("open"), cost: cost)
        let stranger = try DeviceKey.generate()
        let passcode = SecretBytes(copying: "open".utf8)
        #expect(throws: KeybagFailure.otherDevice(device.id)) { _ = try keybag.deviceOnlyKeys(stranger) }
        #expect(throws: KeybagFailure.wrongPasscode) {
            _ = try keybag.passcodeKeys(passcode, stranger, minimumCost: cost)
        }
        let deviceOnly = try keybag.deviceOnlyKeys(device)
        #expect(Accessibility.allCases.filter { deviceOnly[$0] != nil } == [.always, .alwaysThisDeviceOnly])
        let opened = try keybag.passcodeKeys(passcode, device, minimumCost: cost)
        for accessibility in Accessibility.allCases where !accessibility.isReadableWithoutPasscode {
            let key = try #require(opened[accessibility])
            let original = try #require(keys[accessibility])
            #expect(key.secret.bytesForTest() == original.secret.bytesForTest())
        }
    }

    @Test("A memory spares the derivation for the passcode that it got, and opens nothing with another one")
    func memory() throws {
        let cost = try #require(Self.cost)
        let memory = PasscodeMemory()
        let right = SecretBytes(copying: "open".utf8)
        let wrong = SecretBytes(copying: "shut".utf8)
        let keybag = try keybag(passcode: "open")
        func open(_ keybag: Keybag, _ passcode: borrowing SecretBytes) throws -> [UInt8] {
            let keys = try keybag.passcodeKeys(passcode, device, minimumCost: cost, remembering: memory)
            let key = try #require(keys[.whenUnlocked])
            return key.secret.bytesForTest()
        }
        func knows(_ passcode: borrowing SecretBytes, of keybag: Keybag) -> Bool {
            memory.entry(for: passcode, salt: keybag.salt, cost) != nil
        }
        #expect(throws: KeybagFailure.wrongPasscode) { _ = try open(keybag, wrong) }
        let knowsWrong = knows(wrong, of: keybag)
        let key = try open(keybag, right)
        let knowsRight = knows(right, of: keybag)
        #expect(!knowsWrong && knowsRight)
        let again = try open(keybag, right)
        #expect(again == key)
        #expect(throws: KeybagFailure.wrongPasscode) { _ = try open(keybag, wrong) }
        // A keychain with another salt, as after a change of the passcode, takes nothing from it.
        let other = try self.keybag(passcode: "open")
        let otherKey = try open(other, right)
        let knowsFirst = knows(right, of: keybag)
        #expect(otherKey != key && !knowsFirst)
        // Which shows that it is not derived where the memory has it.
        memory.keep(SecretBytes(copying: [UInt8](repeating: 7, count: 32)), of: right, salt: other.salt, cost)
        #expect(throws: KeybagFailure.wrongPasscode) { _ = try open(other, right) }
    }

    @Test("Every class has its own key")
    func distinct() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let bytes = try Accessibility.allCases.map { try #require(keys[$0]).secret.bytesForTest() }
        #expect(Set(bytes).count == Accessibility.allCases.count)
    }
}
