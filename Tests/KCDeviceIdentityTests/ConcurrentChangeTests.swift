import Foundation
import KCByteStreams
import KCTestSupport
import Synchronization
import Testing

@testable import KCDeviceIdentity

@Suite("Concurrent changes to a data folder")
struct ConcurrentChangeTests {
    private let folder: TemporaryFolder
    private static let count = 8

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
    }

    /// Runs `body` on several threads concurrently and throws the first error.
    private func sideBySide(_ body: @Sendable @escaping (Int) throws -> Void) throws {
        let failures = Mutex<[any Error]>([])
        onThreads(Self.count) { number in
            do { try body(number) } catch { failures.withLock { $0.append(error) } }
        }
        if let failure = failures.withLock({ $0.first }) { throw failure }
    }

    @Test("Trusted devices are kept while others are trusted or untrusted concurrently")
    func trust() throws {
        let device = try DeviceKey.generate()
        let path = folder.path("device.key")
        let ids = (0..<Self.count).map { DeviceID(publicKey: [UInt8($0)]) }
        let gone = DeviceID(publicKey: [255])
        try TrustedDevices(besideKeyAt: path, of: device).trust(gone, name: "gone")
        try sideBySide { number in
            let trusted = TrustedDevices(besideKeyAt: path, of: device)
            if number == 0 { try trusted.untrust(gone) }
            for _ in 0..<3 { try trusted.trust(ids[number], name: "number \(number)") }
        }
        let list = try TrustedDevices(besideKeyAt: path, of: device).list()
        #expect(Set(list.keys) == Set(ids))
    }

    @Test("Every former key is kept when a device is renewed several times concurrently")
    func renew() throws {
        let provider = FileDeviceKeyProvider(path: folder.path("device.key"), machineIDPath: folder.path("none"))
        let first = try provider.create().id
        let seen = Mutex<Set<DeviceID>>([first])
        try sideBySide { _ in
            let renewed = try provider.renew().device.id
            _ = seen.withLock { $0.insert(renewed) }
        }
        let current = try provider.load().id
        let retired = seen.withLock { $0 }.subtracting([current])
        #expect(retired.count == Self.count)
        for id in retired { #expect(try Path.exists(folder.path("device.key.retired-\(id)"))) }
    }

    @Test("Of several concurrent first keys only one is created, and it is not replaced")
    func create() throws {
        let provider = FileDeviceKeyProvider(path: folder.path("device.key"), machineIDPath: folder.path("none"))
        let made = Mutex<[DeviceID]>([])
        try sideBySide { _ in
            do {
                let id = try provider.create().id
                made.withLock { $0.append(id) }
            } catch DeviceKeyFailure.exists {}
        }
        #expect(try made.withLock { $0 } == [provider.load().id])
    }
}
