import KCByteStreams

import Foundation
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("Device key file") struct FileDeviceKeyProviderTests {
    private let folder: TemporaryFolder
    private let provider: FileDeviceKeyProvider
    private var keyPath: String { provider.path }

    init() throws {
        folder = try TemporaryFolder()
        provider = FileDeviceKeyProvider(
            path: folder.path("share/kcbackup/device.key"), machineIDPath: folder.path("machine-id"))
        try setMachine("0123456789abcdef0123456789abcdef\n")
    }

    private func setMachine(_ text: String) throws {
        try folder.write("machine-id", Array(text.utf8), mode: 0o644)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func key() throws -> [UInt8] {
        try folder.read("share/kcbackup/device.key")
    }

    @Test("A created key can be loaded, and its file and folder are private")
    func createAndLoad() throws {
        let made = try provider.create()
        #expect(try provider.load().signingPublicKey == made.signingPublicKey)
        #expect(try mode(keyPath) == 0o600)
        #expect(try mode(folder.path("share/kcbackup")) == 0o700)
        let names = ["machine-id", "share", "share/kcbackup", "share/kcbackup/.lock", "share/kcbackup/device.key"]
        #expect(try folder.list() == names)
        #expect(try provider.status() == DeviceKeyStatus(device: made.id, machine: .same))
    }

    @Test("Two created devices differ")
    func random() throws {
        let other = FileDeviceKeyProvider(path: folder.path("other.key"), machineIDPath: folder.path("machine-id"))
        #expect(try provider.create().id != other.create().id)
    }

    @Test("Loading does not create a key, and a key is not created twice")
    func onlyOnce() throws {
        #expect(throws: DeviceKeyFailure.notFound(path: keyPath)) { try provider.load() }
        #expect(throws: DeviceKeyFailure.notFound(path: keyPath)) { try provider.status() }
        #expect(throws: DeviceKeyFailure.notFound(path: keyPath)) { try provider.adopt() }
        #expect(throws: DeviceKeyFailure.notFound(path: keyPath)) { try provider.renew() }
        _ = try provider.create()
        let before = try key()
        #expect(throws: DeviceKeyFailure.exists(path: keyPath)) { try provider.create() }
        #expect(try key() == before)
    }

    @Test("An exposed or damaged key file or a symbolic link is refused and left unchanged")
    func untrustworthy() throws {
        _ = try provider.create()
        let good = try key()
        try folder.write("share/kcbackup/device.key", good, mode: 0o640)
        let exposed = DeviceKeyFailure.file(FileFailure(keyPath, .exposed(mode: 0o640)))
        #expect(throws: exposed) { try provider.load() }
        #expect(throws: exposed) { try provider.adopt() }
        #expect(throws: exposed) { try provider.renew() }

        for damaged in [[], Array(good.dropLast(20)), good + good, [0xff] + good] {
            try folder.write("share/kcbackup/device.key", damaged)
            #expect { try provider.load() } throws: { error in
                if case DeviceKeyFailure.damaged(path: keyPath, rule: _) = error { true } else { false }
            }
            #expect(throws: DeviceKeyFailure.self) { try provider.adopt() }
            #expect(throws: DeviceKeyFailure.self) { try provider.renew() }
            #expect(throws: DeviceKeyFailure.exists(path: keyPath)) { try provider.create() }
            #expect(try key() == damaged)
        }

        try folder.write("elsewhere", good)
        try FileManager.default.removeItem(atPath: keyPath)
        try FileManager.default.createSymbolicLink(atPath: keyPath, withDestinationPath: folder.path("elsewhere"))
        #expect(throws: DeviceKeyFailure.file(FileFailure(keyPath, .notRegular))) { try provider.load() }
    }

    @Test("On another machine loading is refused until the key is adopted, which does not change it")
    func adopt() throws {
        let made = try provider.create()
        try setMachine("ffffffffffffffffffffffffffffffff\n")
        let refusal = DeviceKeyFailure.otherMachine(path: keyPath, device: made.id)
        #expect(throws: refusal) { try provider.load() }
        #expect(try provider.status() == DeviceKeyStatus(device: made.id, machine: .different))
        #expect(throws: refusal) { try provider.load() }

        #expect(try provider.adopt().signingPublicKey == made.signingPublicKey)
        #expect(try provider.load().signingPublicKey == made.signingPublicKey)
        #expect(try mode(keyPath) == 0o600)
        #expect(try provider.status().machine == .same)

        try setMachine("0123456789abcdef0123456789abcdef\n")
        #expect(throws: refusal) { try provider.load() }
    }

    @Test("Without a machine ID in the file or on the system, the key is loaded and the match is unknown")
    func unknownMachine() throws {
        let made = try provider.create()
        for text in ["", "uninitialized\n", String(repeating: "0", count: 4000)] {
            try setMachine(text)
            #expect(try provider.load().id == made.id)
            #expect(try provider.status().machine == .unknown)
        }
        try FileManager.default.removeItem(atPath: folder.path("machine-id"))
        #expect(try provider.status().machine == .unknown)
        _ = try provider.adopt()
        try setMachine("0123456789abcdef0123456789abcdef\n")
        #expect(try provider.status().machine == .unknown)
        #expect(try provider.load().id == made.id)
    }

    @Test("Renewing creates a new device and keeps the old key next to it")
    func renew() throws {
        let made = try provider.create()
        try setMachine("ffffffffffffffffffffffffffffffff\n")
        let renewal = try provider.renew()
        #expect(renewal.retired == made.id)
        #expect(renewal.device.id != made.id)
        #expect(renewal.retiredPath == "\(keyPath).retired-\(made.id)")
        #expect(try mode(renewal.retiredPath) == 0o600)
        #expect(try mode(keyPath) == 0o600)
        #expect(try provider.load().id == renewal.device.id)
        #expect(try provider.status().machine == .same)

        let retired = FileDeviceKeyProvider(path: renewal.retiredPath, machineIDPath: folder.path("none"))
        #expect(try retired.load().signingPublicKey == made.signingPublicKey)
    }

    @Test("The next renewal completes an interrupted one, and leaves a foreign file at the retired path alone")
    func renewAgain() throws {
        let made = try provider.create()
        let old = try key()
        let retiredName = "share/kcbackup/device.key.retired-\(made.id)"
        try folder.write(retiredName, Array("not this key".utf8))
        let first = try provider.renew()
        #expect(first.retiredPath == folder.path(retiredName + "-2"))
        #expect(try folder.read(retiredName) == Array("not this key".utf8))
        #expect(try folder.read(retiredName + "-2") == old)

        // A renewal that was killed after it had kept the old key.
        let new = try key()
        let second = "share/kcbackup/device.key.retired-\(first.device.id)"
        try folder.write(second, new)
        #expect(try provider.renew().retiredPath == folder.path(second))
        #expect(try folder.read(second) == new && key() != new)
    }
}
