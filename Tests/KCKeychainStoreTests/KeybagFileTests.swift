import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("Keybags in keychain files") struct KeybagFileTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    @Test("A keybag changed in the file is refused when the keychain is opened")
    func tamperedFile() throws {
        _ = try bench.create(passcode: "open")
        try bench.alter("UPDATE keybag SET bag = replace(bag, '\"generation\":1', '\"generation\":2')")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
        try bench.alter("UPDATE keybag SET bag = replace(bag, '\"version\":1', '\"version\":5')")
        #expect(throws: KeychainStoreError.newerFormat(found: 5, known: 1)) { try bench.open() }
        try bench.alter("DELETE FROM keybag")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
    }

    @Test("The keybag of another keychain of this device is refused")
    func exchanged() throws {
        _ = try bench.create(passcode: "open")
        let other = try bench.create(passcode: "open", at: bench.folder.path("other.keychain")).keybag
        try bench.alter("UPDATE keybag SET bag = ?", [.text(String(decoding: other.text, as: UTF8.self))])
        #expect(throws: KeychainStoreError.self) { try bench.open() }
    }

    @Test("A new keychain with an adopted keybag opens stored secrets with the passcode of that keybag")
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
