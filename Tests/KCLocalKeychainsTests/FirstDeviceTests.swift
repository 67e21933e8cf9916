import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCTestSupport
import Synchronization
import Testing

@testable import KCLocalKeychains

@Suite("The data folder, shared by programs")
struct FirstDeviceTests {
    private let folder: TemporaryFolder
    private let data: DataFolder

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        data = DataFolder(path: folder.path("data"))
    }

    @Test("Several first keychains made at the same time get the same device key")
    func firstKeys() throws {
        let data = data
        let machine = folder.path("none")
        let results = Mutex<[(id: DeviceID?, isNew: Bool)]>([])
        onThreads(8) { _ in
            let found = try? LocalDevice(data, machineIDPath: machine).keyOrFirst()
            results.withLock { $0.append((found?.key.id, found?.isNew == true)) }
        }
        let all = results.withLock { $0 }
        #expect(Set(all.map(\.id)).count == 1 && all.allSatisfy { $0.id != nil })
        #expect(all.filter(\.isNew).count == 1)
    }

    @Test("No keychain is lost when several are added to the search list at the same time")
    func lists() throws {
        let data = data
        let names = (0..<8).map { "k\($0)" }
        try KeychainLists.change(in: data) { lists throws(LocalKeychainFailure) in lists.searchList = [] }
        onThreads(8) { number in
            try? KeychainLists.change(in: data) { lists throws(LocalKeychainFailure) in
                lists.include(try LocalKeychain(names[number], in: data))
            }
        }
        #expect(try Set(KeychainLists.load(from: data).searchList ?? []) == Set(names))
    }

    @Test("A data folder in a folder that others can write to is refused, and nothing is created there")
    func sharedHome() throws {
        let home = folder.path("home")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: home)
        let data = DataFolder(environment: [:], home: home)
        let failure = FileFailure(home, .sharedFolder(mode: 0o777))
        #expect(throws: LocalKeychainFailure.file(failure)) { try data.requireOwn() }
        #expect(throws: failure) { try LocalKeychain.names(in: data) }
        #expect(throws: (any Error).self) {
            try LocalDevice(data, machineIDPath: folder.path("none")).keyOrFirst()
        }
        #expect(try folder.list() == ["home"])
    }

    @Test("A home folder of another user is refused", .enabled(if: geteuid() == 0, "only root can give folders away"))
    func foreignHome() throws {
        let home = folder.path("home")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try #require(unsafe chown(home, 65_534, 65_534) == 0)
        #expect(throws: LocalKeychainFailure.file(FileFailure(home, .foreignFolder(owner: 65_534)))) {
            try DataFolder(environment: [:], home: home).requireOwn()
        }
        try DataFolder(environment: ["XDG_DATA_HOME": folder.path], home: home).requireOwn()
    }
}
