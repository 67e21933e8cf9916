import ByteStreams
import Cryptography
import Foundation
import TestSupport
import Testing

@testable import DeviceIdentity

@Suite struct DeviceKeyFileTests {
    let folder: TemporaryFolder
    let provider: FileDeviceKeyProvider

    init() throws {
        folder = try TemporaryFolder()
        provider = FileDeviceKeyProvider(
            path: folder.path("data/device.key"), machineIDPath: folder.path("machine-id"))
        try setMachine("0123456789abcdef0123456789abcdef\n")
    }

    private func setMachine(_ text: String) throws {
        try folder.write("machine-id", Array(text.utf8), mode: 0o444)
    }

    private func replaceKeyFile(_ change: (String) -> String) throws {
        let text = String(decoding: try folder.read("data/device.key"), as: UTF8.self)
        try folder.write("data/device.key", Array(change(text).utf8))
    }

    @Test("a key that was made is loaded again, from a private file that shows no machine ID")
    func createAndLoad() throws {
        let made = try provider.create()
        #expect(try provider.load().id == made.id)
        #expect(try provider.status() == DeviceKeyStatus(id: made.id, match: .same))
        let mode = try FileManager.default.attributesOfItem(atPath: provider.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = String(decoding: try folder.read("data/device.key"), as: UTF8.self)
        #expect(!text.contains("0123456789abcdef"))
        #expect(try folder.list() == ["data", "data/device.key", "machine-id"])
    }

    @Test("a second key is never made in silence, a missing one neither")
    func neverRegenerated() throws {
        #expect(throws: DeviceKeyFailure.file(FileFailure(provider.path, .notFound))) { try provider.load() }
        let made = try provider.create()
        #expect(throws: DeviceKeyFailure.file(FileFailure(provider.path, .exists))) { try provider.create() }
        #expect(try provider.load().id == made.id)
    }

    @Test("a key file that others can read is refused", arguments: [0o640, 0o604, 0o644, 0o620])
    func exposed(_ mode: Int) throws {
        _ = try provider.create()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: provider.path)
        let expected = DeviceKeyFailure.file(FileFailure(provider.path, .exposed(mode: UInt32(mode))))
        #expect(throws: expected) { try provider.load() }
        #expect(throws: expected) { try provider.adopt() }
        #expect(throws: expected) { try provider.renew() }
    }

    @Test("on another machine nothing opens until the device is adopted")
    func adopt() throws {
        let made = try provider.create()
        try setMachine("ffffffffffffffffffffffffffffffff\n")
        #expect(throws: DeviceKeyFailure.otherMachine(made.id)) { try provider.load() }
        #expect(try provider.status() == DeviceKeyStatus(id: made.id, match: .different))
        #expect(try provider.adopt().id == made.id)
        #expect(try provider.load().id == made.id)
    }

    @Test("renewing makes another device and keeps the old key aside")
    func renew() throws {
        let made = try provider.create()
        let before = try folder.read("data/device.key")
        try setMachine("ffffffffffffffffffffffffffffffff\n")
        let renewed = try provider.renew()
        #expect(renewed.id != made.id)
        #expect(try provider.load().id == renewed.id)
        #expect(try folder.read("data/device.key.retired-\(made.id)") == before)
        let kept = provider.retiredPath(of: made.id)
        let mode = try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("a renewal that was interrupted after setting the key aside can be repeated")
    func renewAgain() throws {
        let made = try provider.create()
        let contents = try folder.read("data/device.key")
        try folder.write("data/device.key.retired-\(made.id)", contents)
        #expect(try provider.renew().id != made.id)
    }

    @Test("renewing never replaces a different key that was set aside before")
    func renewKeepsOthers() throws {
        let made = try provider.create()
        let other = DeviceKeyText.render(SecretBytes(copying: 0..<32), machine: nil).bytesForTest()
        try folder.write("data/device.key.retired-\(made.id)", other)
        #expect(throws: DeviceKeyFailure.retiredKeyDiffers(path: provider.retiredPath(of: made.id))) {
            try provider.renew()
        }
        #expect(try provider.load().id == made.id)
        #expect(try folder.read("data/device.key.retired-\(made.id)") == other)
    }

    @Test("without a machine ID, then or now, the key opens", arguments: ["uninitialized\n", "", "0123\n"])
    func noMachine(_ text: String) throws {
        let made = try provider.create()
        try setMachine(text)
        #expect(try provider.load().id == made.id)
        #expect(try provider.status().match == .unknown)
        let without = FileDeviceKeyProvider(path: folder.path("other.key"), machineIDPath: folder.path("machine-id"))
        _ = try without.create()
        try setMachine("0123456789abcdef0123456789abcdef\n")
        #expect(try without.status().match == .unknown)
        try FileManager.default.removeItem(atPath: folder.path("machine-id"))
        #expect(try provider.status().match == .unknown)
    }

    @Test("every changed character of the key line is noticed")
    func typos() throws {
        _ = try provider.create()
        let original = String(decoding: try folder.read("data/device.key"), as: UTF8.self)
        let start = try #require(original.range(of: "KCBACKUP-DEVICE-KEY-1"))
        let line = try #require(original[start.lowerBound...].split(separator: "\n").first)
        for index in line.indices {
            var wrong = String(line)
            let replacement: Character = line[index] == "Q" ? "P" : "Q"
            let offset = line.distance(from: line.startIndex, to: index)
            wrong.replaceSubrange(
                wrong.index(wrong.startIndex, offsetBy: offset)...wrong.index(wrong.startIndex, offsetBy: offset),
                with: [replacement])
            try folder.write("data/device.key", Array(original.replacing(line, with: wrong).utf8))
            #expect(throws: DeviceKeyFailure.self) { try provider.load() }
        }
    }

    @Test("a file cut anywhere is refused")
    func truncation() throws {
        _ = try provider.create()
        let original = try folder.read("data/device.key")
        // The last line feed may be missing: editors lose it, and nothing hangs on it.
        for count in 0..<original.count - 1 {
            try folder.write("data/device.key", Array(original.prefix(count)))
            #expect(throws: DeviceKeyFailure.self) { try provider.load() }
        }
    }

    @Test("doubled, missing and foreign lines are refused")
    func lines() throws {
        _ = try provider.create()
        let original = String(decoding: try folder.read("data/device.key"), as: UTF8.self)
        let key = try #require(original.split(separator: "\n").first { $0.hasPrefix("KCBACKUP") })
        let machine = try #require(original.split(separator: "\n").first { $0.hasPrefix("machine") })
        for change in [
            original + key + "\n", original + machine + "\n", original.replacing(key + "\n", with: ""),
            original.replacing(machine + "\n", with: ""), original + "machine: other\n", original + "more\n",
            original.replacing("\n", with: "\r\n"), original.replacing(key, with: " " + key),
            original.replacing("machine: ", with: "machine:"),
        ] {
            try folder.write("data/device.key", Array(change.utf8))
            #expect(throws: DeviceKeyFailure.self, "\(change)") { try provider.load() }
        }
        try folder.write("data/device.key", Array(("# a comment\n\n" + original).utf8))
        _ = try provider.load()
    }
}
