import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCKernelKeyring
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Synchronization
import Testing

@testable import KCKeychainStore

/// Payloads of a session that are modified or planted by others.
@Suite struct SessionPayloadTests: SessionTesting {
    let bench: Bench
    let memory = MemoryRetention()
    let asleep = SleepClock()
    let session: KeychainSession

    init() throws {
        bench = try Bench()
        session = KeychainSession(retention: memory) { [asleep] in asleep.time }
    }

    @Test(
        "A modified payload is treated as locked and revoked",
        arguments: ["unlocked", "first-unlock"], [0, 1, 8, 9, 16, 48, 49, 88])
    func tampered(part: String, index: Int) throws {
        let items = try start()
        try unlock()
        memory.contents.withLock { contents in
            for name in contents.kept.keys where name.hasSuffix(":" + part) {
                contents.kept[name]?.payload[index] ^= 1
            }
        }
        let isFirst = part == "first-unlock"
        #expect(try readable(items) == (isFirst ? Readable.always : Readable.afterFirstUnlock))
        #expect(memory.parts == (isFirst ? [] : ["first-unlock"]))
    }

    @Test("A payload of another size, order, part or keychain is revoked")
    func planted() throws {
        let items = try start()
        let name = SessionPart.unlocked.name(try bench.open().storeID)
        let firstName = SessionPart.firstUnlock.name(try bench.open().storeID)
        let path = bench.folder.path("other.keychain")
        _ = try bench.create(passcode: "open", at: path)
        let other = try bench.open(at: path)
        try session.unlock(other, passcode: "open".secret, now: moment(10))
        let foreign = memory.contents.withLock { $0.kept[SessionPart.unlocked.name(other.storeID)]?.payload }
        try unlock()
        let genuine = try #require(memory.contents.withLock { $0.kept[name]?.payload })
        let swapped = Array(genuine[..<9] + genuine[49..<89] + genuine[9..<49] + genuine[89...])
        let first = try #require(memory.contents.withLock { $0.kept[firstName]?.payload })
        let payloads: [[UInt8]] = [
            [], [1], Array(genuine.dropLast()), genuine + [0], swapped, first, try #require(foreign),
        ]
        for payload in payloads {
            try unlock()
            memory.contents.withLock { $0.kept[name]?.payload = payload }
            #expect(try readable(items) == Readable.afterFirstUnlock)
            #expect(memory.contents.withLock { $0.kept[name] == nil })
        }
    }

    @Test("A process without the device key cannot use the payload")
    func otherDevice() throws {
        _ = try start()
        try unlock()
        let keychain = try bench.open()
        let stranger = try DeviceKey.generate()
        for part in SessionPart.allCases {
            let kept = try #require(memory.contents.withLock { $0.kept[part.name(keychain.storeID)]?.payload })
            let payload = SecretBytes(copying: kept)
            func opens(_ device: DeviceKey) throws -> Bool {
                try SessionPayload(part: part, storeID: keychain.storeID, keybag: keychain.keybag, deviceKey: device)
                    .open(payload) != nil
            }
            #expect(try opens(bench.device) && !opens(stranger))
        }
    }

    @Test("Without the payload for first unlock, the one for unlocked is not used")
    func unlockedAlone() throws {
        let items = try start()
        try unlock()
        try memory.revoke(SessionPart.firstUnlock.name(bench.open().storeID))
        #expect(try readable(items) == Readable.always && memory.parts == [])
    }

    @Test("After a file is restored, a payload for another passcode of the same generation is refused")
    func sameGeneration() throws {
        let items = try start()
        let file = try bench.folder.read("login.keychain")
        func change() throws {
            try session.setPasscode(
                bench.open(), current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(10))
        }
        try unlock()
        try change()
        #expect(try readable(items) == Readable.all)
        let kept = memory.contents.withLock { $0.kept }
        try Data(file).write(to: URL(filePath: bench.path))
        try change()
        #expect(try bench.open().keybag.generation == 2)
        memory.contents.withLock { $0.kept = kept }
        #expect(try readable(items) == Readable.always && memory.parts == [])
    }
}
