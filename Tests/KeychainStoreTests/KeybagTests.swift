import ByteStreams
import Cryptography
import DeviceIdentity
import KeychainModel
import TestSupport
import Testing

@testable import KeychainStore

@Suite struct KeybagTests {
    // Lives as long as the test, and its folder with it.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    @Test("a keybag is read as it was written", arguments: [nil, "open"] as [String?])
    func roundTrip(passcode: String?) throws {
        let keybag = try bench.create(passcode: passcode).keybag
        #expect(try Keybag(text: keybag.text.span) == keybag)
        #expect(keybag.hasPasscode == (passcode != nil))
        #expect(keybag.wrappedKeys.count == (passcode == nil ? 6 : 7))
        #expect(keybag.device == bench.device.id)
        let text = String(decoding: keybag.text, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "{\"version\":1,\"uuid\":\"\(keybag.uuid)\",\"device\":\"\(bench.device.id)\",\"generation\":1,"))
    }

    @Test("a keybag changed in any byte is refused before a passcode is tried")
    func tampered() throws {
        let keybag = try bench.create(passcode: "open").keybag
        for index in keybag.text.indices {
            for flip: UInt8 in [0x01, 0x04, 0x20] {
                var text = keybag.text
                text[index] ^= flip
                #expect(throws: KeychainStoreError.self, "byte \(index)") {
                    _ = try Keybag(text: text.span).deviceOnlyKeys(bench.device)
                }
            }
        }
        for count in 0..<keybag.text.count {
            #expect(throws: KeychainStoreError.self) { try Keybag(text: Array(keybag.text[..<count]).span) }
        }
    }

    @Test("a keybag changed in the file is refused when the keychain is opened")
    func tamperedFile() throws {
        _ = try bench.create(passcode: "open")
        try bench.alter("UPDATE keybag SET bag = replace(bag, '\"generation\":1', '\"generation\":2')")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
        try bench.alter("UPDATE keybag SET bag = replace(bag, '\"version\":1', '\"version\":4')")
        #expect(throws: KeychainStoreError.newerFormat(found: 4, known: 3)) { try bench.open() }
        try bench.alter("DELETE FROM keybag")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
    }

    @Test("a keybag of another keychain of this device does not fit into the file")
    func exchanged() throws {
        _ = try bench.create(passcode: "open")
        let other = try bench.create(passcode: "open", at: bench.folder.path("other.keychain")).keybag
        try bench.alter("UPDATE keybag SET bag = ?", [.text(String(decoding: other.text, as: UTF8.self))])
        #expect(throws: KeychainStoreError.self) { try bench.open() }
    }

    @Test("a work factor outside the range is refused before any work")
    func costs() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        func bag(_ logN: Int) throws -> Keybag {
            try Keybag.wrapping(
                keys, uuid: ItemUUID(), generation: 1, deviceKey: bench.device, passcode: "open".secret,
                cost: try #require(ScryptCost(logN: logN)))
        }
        let passcode = SecretBytes(copying: "open".utf8)
        #expect(throws: KeychainStoreError.damaged("the work factor of the keybag is too low")) {
            _ = try bag(13).passcodeKeys(passcode, bench.device, minimumCost: nil)
        }
        _ = try bag(1).passcodeKeys(passcode, bench.device, minimumCost: Bench.cost)
        _ = try bag(14).passcodeKeys(passcode, bench.device, minimumCost: nil)
        // The bomb is made by hand: nobody wants to wait for a real one.
        let text = String(decoding: try bag(1).text, as: UTF8.self)
            .replacing("\"scrypt\":1,", with: "\"scrypt\":21,")
        let bomb = try Keybag(text: Array(text.utf8).span)
        #expect(throws: KeychainStoreError.limit("work factor of the keybag", found: 21, allowed: 20)) {
            _ = try bomb.passcodeKeys(passcode, bench.device, minimumCost: nil)
        }
    }

    @Test("only this device and this passcode together open what a passcode protects")
    func both() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let cost = try #require(Bench.cost)
        let keybag = try Keybag.wrapping(
            keys, uuid: ItemUUID(), generation: 1, deviceKey: bench.device, passcode: "open".secret, cost: cost)
        let stranger = try DeviceKey.generate()
        let passcode = SecretBytes(copying: "open".utf8)
        #expect(throws: KeychainStoreError.otherDevice(bench.device.id)) { _ = try keybag.deviceOnlyKeys(stranger) }
        #expect(throws: KeychainStoreError.wrongPasscode) {
            _ = try keybag.passcodeKeys(passcode, stranger, minimumCost: cost)
        }
        let deviceOnly = try keybag.deviceOnlyKeys(bench.device)
        #expect(Accessibility.allCases.filter { deviceOnly[$0] != nil } == [.always, .alwaysThisDeviceOnly])
        let opened = try keybag.passcodeKeys(passcode, bench.device, minimumCost: cost)
        for accessibility in Accessibility.allCases where !accessibility.isReadableWithoutPasscode {
            let key = try #require(opened[accessibility])
            let original = try #require(keys[accessibility])
            #expect(key.secret.bytesForTest() == original.secret.bytesForTest())
        }
    }

    @Test("each class has a key of its own")
    func distinct() throws {
        let keys = try ClassKeys(generatingWithPasscode: true)
        let bytes = try Accessibility.allCases.map { try #require(keys[$0]).secret.bytesForTest() }
        #expect(Set(bytes).count == Accessibility.allCases.count)
    }

    @Test("an adopted keybag opens stored secrets in a new keychain, with the passcode of its time")
    func adopted() throws {
        let source = try bench.create(passcode: "then")
        let item = try source.add(password("ann"), secret: "tulip".secret, now: moment(1))
        let keybag = source.keybag
        let stored = try source.visit(.stored)
        try source.setPasscode(current: "then".secret, new: "now".secret, cost: Bench.cost, now: moment(2))
        let path = bench.folder.path("new.keychain")
        let target = try Keychain.create(
            at: path, adopting: keybag, deviceKey: bench.device, now: moment(3), minimumCost: Bench.cost)
        #expect(target.keybag.uuid == source.keybag.uuid && target.storeID != source.storeID)
        try copy(stored, .stored, to: target)
        try target.unlock(passcode: "then".secret, now: moment(4))
        #expect(try target.text(of: item) == "tulip")
        #expect(throws: KeychainStoreError.otherDevice(bench.device.id)) {
            try Keychain.create(
                at: bench.folder.path("x"), adopting: keybag, deviceKey: DeviceKey.generate(), now: moment(3))
        }
    }
}
