import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCLocalKeychains

@Suite("Kept states of a keychain that was moved or replaced")
struct MovedKeychainStatesTests {
    private let folder: TemporaryFolder
    private let data: DataFolder
    private let keychain: Keychain

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(path: folder.path)
        let device = try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        keychain = try Keychain.create(
            at: folder.path("login.keychain"), deviceKey: device, passcode: nil, cost: ScryptCost(logN: 1),
            now: moment(0))
    }

    @Test("The states from before a keychain was moved are listed and removed with those from after it")
    func movedFile() throws {
        let before = try KeptStates(of: keychain, in: data).keep(before: .restore, now: moment(1))
        let path = folder.path("moved.keychain")
        try FileManager.default.moveItem(atPath: keychain.path, toPath: path)
        // Another keychain in its old place is no copy of it.
        _ = try Keychain.create(
            at: keychain.path, deviceKey: keychain.deviceKey, passcode: nil, cost: ScryptCost(logN: 1), now: moment(2))
        let moved = try Keychain.open(at: path, deviceKey: keychain.deviceKey, minimumCost: ScryptCost(logN: 1))
        let states = KeptStates(of: moved, in: data)
        let after = try states.keep(before: .import, now: moment(3))
        #expect(try states.list() == [after])
        #expect(try states.listEverywhere() == [after, before])
        let removed = try states.removeAll()
        #expect(removed.count == 2 && removed.kept.isEmpty)
        #expect(try states.listEverywhere().isEmpty && !Path.exists(before.path))
    }

    @Test("The states of a file that does not open, in the place where a keychain was, stay, which is told")
    func damagedCopy() throws {
        let state = try KeptStates(of: keychain, in: data).keep(before: .restore, now: moment(1))
        let path = folder.path("moved.keychain")
        try FileManager.default.copyItem(atPath: keychain.path, toPath: path)
        try folder.write("login.keychain", Array("damaged".utf8), mode: 0o600)
        let copy = try Keychain.open(at: path, deviceKey: keychain.deviceKey, minimumCost: ScryptCost(logN: 1))
        let removed = try KeptStates(of: copy, in: data).removeAll()
        #expect(removed.count == 0)
        #expect(removed.kept.map { [$0.place, "\($0.count)"] } == [[keychain.path, "1"]])
        #expect(removed.kept.allSatisfy { state.path.hasPrefix($0.folder + "/") })
        #expect(try Path.exists(state.path))
    }
}

private func moment(_ seconds: Int) -> Timestamp {
    Timestamp.reference.advanced(byMicroseconds: Int64(seconds) * 1_000_000)
}
