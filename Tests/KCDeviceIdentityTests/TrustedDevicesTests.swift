import KCByteStreams
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("Trusted devices") struct TrustedDevicesTests {
    private let folder: TemporaryFolder
    private let device: DeviceKey
    private let trusted: TrustedDevices
    private let fileName: String
    private let laptop = DeviceID(publicKey: [1])
    private let server = DeviceID(publicKey: [2])

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey(secret: SecretBytes(copying: 0..<32))
        trusted = TrustedDevices(besideKeyAt: folder.path("device.key"), of: device)
        fileName = "trusted-devices-\(device.id)"
    }

    @Test("Without a list no device is trusted, and reading does not create one")
    func empty() throws {
        #expect(try trusted.list().isEmpty)
        #expect(try !trusted.contains(laptop))
        #expect(try folder.list().isEmpty)
        #expect(try !trusted.untrust(laptop))
        #expect(try folder.list() == [".lock"])
    }

    @Test("Trusted devices keep their names until they are untrusted")
    func story() throws {
        try trusted.trust(laptop, name: "my laptop")
        try trusted.trust(server, name: "\u{301}été # mac")
        try trusted.trust(laptop, name: "old laptop")
        #expect(try trusted.list() == [laptop: "old laptop", server: "\u{301}été # mac"])
        #expect(try trusted.contains(server))
        #expect(try folder.list() == [".lock", fileName])
        #expect(try trusted.untrust(server))
        #expect(try !trusted.untrust(server))
        #expect(try trusted.list() == [laptop: "old laptop"])
        #expect(try trusted.untrust(laptop))
        #expect(try trusted.list().isEmpty)
    }

    @Test("A changed byte, an added or missing line, and the list of another device are detected")
    func altered() throws {
        try trusted.trust(laptop, name: "laptop")
        try trusted.trust(server, name: "server")
        let good = try folder.read(fileName)
        let lines = good.split(separator: 10, omittingEmptySubsequences: false)
        var bad = [[], good + [10], Array(good.dropLast()), good + good, Array(lines[1...].joined(separator: [10]))]
        bad.append(Array((lines[..<1] + lines[2...]).joined(separator: [10])))
        bad.append(Array((lines[..<2] + lines[1...]).joined(separator: [10])))
        bad.append(Array("\(laptop) laptop\n".utf8))
        for index in good.indices {
            var changed = good
            changed[index] ^= 1
            bad.append(changed)
        }
        let other = TrustedDevices(
            besideKeyAt: folder.path("device.key"), of: try DeviceKey(secret: SecretBytes(copying: 1..<33)))
        try other.trust(laptop, name: "laptop")
        bad.append(try folder.read("trusted-devices-\(try DeviceKey(secret: SecretBytes(copying: 1..<33)).id)"))

        for bytes in bad {
            try folder.write(fileName, bytes)
            let failure = TrustedDevicesFailure.altered(path: trusted.path)
            #expect(throws: failure) { try trusted.list() }
            #expect(throws: failure) { try trusted.contains(laptop) }
            #expect(throws: failure) { try trusted.trust(server, name: "server") }
            #expect(throws: failure) { try trusted.untrust(laptop) }
            #expect(try folder.read(fileName) == bytes)
        }
        try folder.write(fileName, good)
        #expect(try trusted.list().count == 2)
    }

    @Test("A list that others can read is refused")
    func exposed() throws {
        try trusted.trust(laptop, name: "laptop")
        try folder.write(fileName, try folder.read(fileName), mode: 0o644)
        #expect(throws: TrustedDevicesFailure.file(FileFailure(trusted.path, .exposed(mode: 0o644)))) {
            try trusted.list()
        }
    }

    @Test(
        "A name that would not be displayed as a single visible line is refused",
        arguments: [
            "", " ", " laptop", "laptop ", "lap\ntop", "lap\u{1b}top", "lap\u{202e}top", "lap\u{2028}top", "\u{a0}",
            String(repeating: "é", count: 51),
        ])
    func names(name: String) throws {
        #expect(throws: TrustedDevicesFailure.nameNotAllowed) { try trusted.trust(laptop, name: name) }
        #expect(try folder.list().isEmpty)
    }

    @Test("The largest list can be written and read, and one entry more is refused")
    func full() throws {
        let name = String(repeating: "n", count: TrustedDevices.nameLimit)
        let ids = (0..<TrustedDevices.countLimit).map { DeviceID(publicKey: [UInt8($0 / 256), UInt8($0 % 256)]) }
        try trusted.change { names throws(TrustedDevicesFailure) in
            for id in ids.dropLast() { names[id] = name }
        }
        try trusted.trust(ids[ids.count - 1], name: name)
        #expect(throws: TrustedDevicesFailure.full(allowed: TrustedDevices.countLimit)) {
            try trusted.trust(laptop, name: name)
        }
        #expect(try trusted.list().count == TrustedDevices.countLimit)
    }
}
