import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCLocalKeychains

@Suite("New keychains")
struct NewKeychainTests {
    private let temporary: TemporaryFolder
    private let folder: DataFolder
    private let device: LocalDevice

    init() throws {
        temporary = try TemporaryFolder()
        folder = DataFolder(path: temporary.path("data"))
        device = LocalDevice(folder, machineIDPath: temporary.path("none"))
    }

    private func new(_ name: String) throws -> NewKeychain {
        let local = try LocalKeychain(name, in: folder, workingFolder: temporary.path)
        return NewKeychain(local, in: folder, on: device, cost: ScryptCost(logN: 1), now: .reference)
    }

    @Test("The first keychain is made together with its folder and the device key, the second alone")
    func first() throws {
        let first = try new("work").make(passcode: nil)
        #expect(first.isFirstOfDevice)
        #expect(try first.device == device.key().id)
        let second = try new("home").make(passcode: nil)
        #expect(!second.isFirstOfDevice && second.device == first.device)
        #expect(try LocalKeychain.names(in: folder) == ["home", "work"])
    }

    @Test("A keychain in the data folder is added to a search list that the user has set; no other is")
    func searchList() throws {
        _ = try new("before").make(passcode: nil)
        #expect(try !Path.exists(folder.keychainLists))
        try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in lists.searchList = ["login"] }
        #expect(try new("work").make(passcode: nil).notListed == nil)
        #expect(try new("./elsewhere").make(passcode: nil).notListed == nil)
        #expect(try KeychainLists.load(from: folder).searchList == ["login", "work"])
        try Data("broken".utf8).write(to: URL(filePath: folder.keychainLists))
        #expect(try new("later").make(passcode: nil).notListed != nil)
        #expect(try LocalKeychain.names(in: folder).contains("later"))
    }

    @Test("A keychain that is filled gets its name after that, and none if filling fails")
    func filled() throws {
        struct Fault: Error {}
        #expect(throws: Fault.self) {
            try new("work").make(passcode: nil) { _ in
                #expect(try LocalKeychain.names(in: folder).isEmpty)
                throw Fault()
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.keychains).isEmpty)
        let (answer, _) = try new("work").make(passcode: nil) { keychain in
            try keychain.write { writer in
                _ = try writer.add(ItemDraft(itemClass: .genericPassword), secret: nil, now: .reference)
            }
            return 42
        }
        #expect(answer == 42)
        let keychain = try LocalKeychain("work", in: folder).open(on: device)
        #expect(try keychain.find(ItemQuery()).items.count == 1)
    }

    @Test("A file that takes the name during the filling is left alone")
    func taken() throws {
        #expect(throws: KeychainStoreError.self) {
            try new("work").make(passcode: nil) { _ in try new("work").make(passcode: nil) }
        }
        #expect(try LocalKeychain("work", in: folder).open(on: device).find(ItemQuery()).items.isEmpty)
        #expect(throws: KeychainStoreError.self) { try new("work").make(passcode: nil) }
    }
}
