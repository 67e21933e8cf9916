import ByteStreams
import Cryptography
import Foundation
import TestSupport
import Testing

@testable import DeviceIdentity

@Suite struct TrustedDevicesTests {
    let folder: TemporaryFolder
    let path: String
    let device: DeviceKey

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("trusted")
        device = try sampleDevice()
    }

    @Test("trusted devices are kept, renamed and removed")
    func lifecycle() throws {
        let laptop = try sampleDevice(first: 1).id
        let desktop = try sampleDevice(first: 2).id
        var list = try TrustedDevices(path: path, key: device)
        #expect(list.devices.isEmpty)
        try list.trust(laptop, name: "Läptop of Zoë 💻")
        try list.trust(desktop, name: "desktop")
        try list.trust(laptop, name: "old laptop")
        let read = try TrustedDevices(path: path, key: device)
        #expect(read.devices == list.devices)
        #expect(read.devices.map(\.name) == ["old laptop", "desktop"])
        #expect(read.contains(laptop))
        #expect(try list.untrust(laptop))
        #expect(try !list.untrust(laptop))
        #expect(try !TrustedDevices(path: path, key: device).contains(laptop))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try folder.list() == ["trusted"])
    }

    @Test("every altered byte and every cut is noticed, and another device's list is not ours")
    func tampering() throws {
        var list = try TrustedDevices(path: path, key: device)
        try list.trust(sampleDevice(first: 1).id, name: "laptop")
        let original = try folder.read("trusted")
        for index in original.indices {
            var wrong = original
            wrong[index] ^= 1 << (index % 8)
            try folder.write("trusted", wrong)
            #expect(throws: DeviceKeyFailure.alteredTrustList(path: path)) {
                try TrustedDevices(path: path, key: device)
            }
        }
        for count in 0..<original.count {
            try folder.write("trusted", Array(original.prefix(count)))
            #expect(throws: DeviceKeyFailure.alteredTrustList(path: path)) {
                try TrustedDevices(path: path, key: device)
            }
        }
        try folder.write("trusted", original)
        #expect(throws: DeviceKeyFailure.alteredTrustList(path: path)) {
            try TrustedDevices(path: path, key: sampleDevice(first: 3))
        }
    }

    @Test(
        "names that would break a line or a terminal are refused",
        arguments: [
            "", "a\nb", "a\u{1b}[2J", "\u{0}", "\u{85}", String(repeating: "x", count: 129),
        ])
    func names(_ name: String) throws {
        var list = try TrustedDevices(path: path, key: device)
        let id = try sampleDevice(first: 1).id
        #expect(throws: DeviceKeyFailure.unusableName) { try list.trust(id, name: name) }
        #expect(list.devices.isEmpty)
        #expect(try folder.list().isEmpty)
    }

    @Test("names with blanks survive", arguments: [" ", "  two  blanks  ", "-", "#"])
    func oddNames(_ name: String) throws {
        var list = try TrustedDevices(path: path, key: device)
        try list.trust(sampleDevice(first: 1).id, name: name)
        #expect(try TrustedDevices(path: path, key: device).devices.map(\.name) == [name])
    }
}
