import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("The keychain file behind the calls")
struct KeychainFileTests {
    private let program: TestClient
    private let manager = FileManager.default

    init() throws {
        program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
    }

    /// Another program of the same user, which has not opened anything yet.
    private func other() throws -> TestClient { try TestClient(sharing: program) }

    /// A program that uses the keychain with this name or path.
    private func program(on keychain: String?, folder: String = "kcbackup") -> KeychainClient {
        var configuration = KeychainClient.Configuration()
        configuration.keychain = keychain
        configuration.folder = DataFolder(path: program.user.folder.path(folder))
        configuration.machineIDPath = program.user.machineIDPath
        configuration.groups = AccessGroups(ordered: ["test"])
        return KeychainClient(configuration)
    }

    @Test("A missing default keychain and a missing named one have different statuses")
    func missing() {
        for folder in ["kcbackup", "empty"] {
            #expect(
                program(on: "work", folder: folder).copyMatching(query("ann") as CFDictionary, nil)
                    == errSecNoSuchKeychain)
            #expect(
                program(on: "/nowhere/x", folder: folder).delete(query("ann") as CFDictionary) == errSecNoSuchKeychain)
        }
        let nobody = program(on: nil, folder: "empty")
        #expect(nobody.add(password("ann") as CFDictionary, nil) == errSecNoDefaultKeychain)
        #expect(nobody.copyMatching(query("ann") as CFDictionary, nil) == errSecNoDefaultKeychain)
        #expect(nobody.update(query("ann") as CFDictionary, [kSecAttrLabel: "x"]) == errSecNoDefaultKeychain)
        #expect(nobody.delete(query("ann") as CFDictionary) == errSecNoDefaultKeychain)
        #expect(!manager.fileExists(atPath: program.user.folder.path("empty")))
    }

    @Test("A keychain can be given by name or by path")
    func named() {
        for name in [nil, "login", program.keychainPath] {
            #expect(program(on: name).copyMatching(query("ann") as CFDictionary, nil) == errSecSuccess)
        }
        #expect(
            program(on: "no such/../../name").copyMatching(query("ann") as CFDictionary, nil) == errSecNoSuchKeychain)
        #expect(program(on: "").copyMatching(query("ann") as CFDictionary, nil) == errSecNoSuchKeychain)
    }

    @Test("The default keychain is the one the user has set, and if it is damaged or missing there is none")
    func defaultKeychain() throws {
        let data = program.user.data
        var lists = KeychainLists()
        lists.defaultKeychain = "work"
        try lists.set(in: data)
        #expect(program(on: nil).copyMatching(query("ann") as CFDictionary, nil) == errSecNoDefaultKeychain)
        try manager.moveItem(atPath: program.keychainPath, toPath: data.keychains + "/work.keychain")
        #expect(program(on: nil).copyMatching(query("ann") as CFDictionary, nil) == errSecSuccess)
        #expect(program(on: "login").copyMatching(query("ann") as CFDictionary, nil) == errSecNoSuchKeychain)
        try program.user.folder.write("kcbackup/keychain-lists", Array("damaged".utf8))
        #expect(program(on: nil).copyMatching(query("ann") as CFDictionary, nil) == errSecNoDefaultKeychain)
        #expect(program(on: "work").copyMatching(query("ann") as CFDictionary, nil) == errSecSuccess)
    }

    @Test("A file that is not a keychain is refused and left unchanged", arguments: [0, 1, 100, 5_000])
    func garbage(count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = random.bytes(count)
        try manager.removeItem(atPath: program.keychainPath)
        try Data(bytes).write(to: URL(filePath: program.keychainPath))
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: program.keychainPath)
        for client in [program, try other()] {
            #expect(client.statusesOfAllCalls(password("bob")).allSatisfy { $0 == errSecInvalidKeychain })
        }
        #expect(try Data(contentsOf: URL(filePath: program.keychainPath)) == Data(bytes))
    }

    @Test("Another program's database, extra tables and a newer version are refused with their status")
    func foreign() throws {
        try program.alter("CREATE TABLE more(x)")
        #expect(try other().status(query("ann")) == errSecInvalidKeychain)
        try program.alter("DROP TABLE more; PRAGMA user_version = 2")
        #expect(try other().status(query("ann")) == errSecWrongSecVersion)
        try program.alter("PRAGMA application_id = 1")
        #expect(try other().status(query("ann")) == errSecInvalidKeychain)
    }

    @Test("An exposed keychain, or one of another device, is not available")
    func unavailable() throws {
        try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: program.keychainPath)
        #expect(try other().status(query("ann")) == errSecNotAvailable)
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: program.keychainPath)
        let stranger = try TestClient()
        try manager.removeItem(atPath: stranger.keychainPath)
        try manager.copyItem(atPath: program.keychainPath, toPath: stranger.keychainPath)
        #expect(stranger.status(query("ann")) == errSecNotAvailable)
    }

    @Test(
        "On another machine or without the device key a keychain is unavailable until this is resolved")
    func otherMachine() throws {
        try program.user.folder.write("machine-id", Array("fedcba9876543210fedcba9876543210\n".utf8), mode: 0o644)
        #expect(try other().status(query("ann")) == errSecNotAvailable)
        let data = program.user.data
        _ = try program.user.device.provider.adopt()
        #expect(try other().status(query("ann")) == errSecSuccess)
        try manager.removeItem(atPath: data.deviceKey)
        #expect(try other().status(query("ann")) == errSecNotAvailable)
        #expect(!manager.fileExists(atPath: data.deviceKey))
    }

    @Test("A deleted keychain is gone immediately, and a new file in its place is a different keychain")
    func replaced() throws {
        try manager.removeItem(atPath: program.keychainPath)
        #expect(program.status(query("ann")) == errSecNoDefaultKeychain)
        _ = try Keychain.create(
            at: program.keychainPath, deviceKey: program.user.device.key(), passcode: nil, now: TestClient.start)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.add(password("ann", "2")) == errSecSuccess)
        #expect(program.text(query("ann")) == "2")
    }

    @Test("Two programs with twenty threads add to one keychain, and nothing is lost or duplicated")
    func concurrentAdds() throws {
        let second = try other()
        let tally = Tally<OSStatus>()
        onThreads(20) { [program] thread in
            let client = thread.isMultiple(of: 2) ? program : second
            for index in 0..<10 {
                tally.count(client.add(password("own \(thread) \(index)")))
                tally.count(client.add(password("shared \(index)")))
            }
        }
        #expect(tally.result == [errSecSuccess: 210, errSecDuplicateItem: 190])
        #expect(program.count(generic()) == 211 && second.count(generic()) == 211)
    }

    @Test("A query concurrent with updates sees all of an update or none of it")
    func consistentReads() throws {
        for index in 0..<5 { #expect(program.add(password("user\(index)", "0")) == errSecSuccess) }
        let second = try other()
        let tally = Tally<Int>()
        onThreads(4) { [program] thread in
            for round in 0..<20 {
                if thread == 0 {
                    _ = program.update(generic(), [kSecValueData: Data("\(round)".utf8)])
                } else {
                    let all = generic([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
                    let found = second.find(all).1 as? [Data] ?? []
                    tally.count(found.count == 6 ? Set(found).count : -1)
                }
            }
        }
        // After the last update, whenever it was, all secrets are equal.
        let all = generic([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
        tally.count(Set(second.find(all).1 as? [Data] ?? []).count)
        // Before the first update, Ann's secret differs from the others.
        #expect(Set(tally.result.keys).isSubset(of: [1, 2]) && tally.result[1, default: 0] > 0)
        #expect(program.count(generic()) == 6)
    }
}

/// Each test runs in its own process, because the calls use the configuration of the process.
@Suite("The public calls")
struct PublicCallTests {
    /// Creates a data folder with the default keychain and points this process to it.
    private static func makeKeychain(_ name: String? = nil) throws -> UserData {
        let user = try UserData(isThisMachine: true)
        setenv("XDG_DATA_HOME", user.folder.path, 1)
        try user.makeKeychain(name, now: TestClient.start)
        return user
    }

    private static func attributes(_ query: [CFString: Any]) -> [CFString: Any]? {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query.merging([kSecReturnAttributes: true]) { $1 } as CFDictionary, &result)
        return status == errSecSuccess ? result as? [CFString: Any] : nil
    }

    @Test("By default a program uses the user's default keychain, a group with its own name, and the current time")
    func defaults() async {
        await #expect(processExitsWith: .success) {
            let user = try Self.makeKeychain()
            defer { withExtendedLifetime(user) {} }
            let before = Date()
            #expect(SecItemAdd(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
            let attributes = try #require(Self.attributes(query("ann")))
            let executable = try #require(
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            #expect(attributes[kSecAttrAccessGroup] as? String == URL(filePath: executable).lastPathComponent)
            let created = try #require(attributes[kSecAttrCreationDate] as? Date)
            #expect(created >= before.addingTimeInterval(-0.001) && created <= Date().addingTimeInterval(0.001))
            #expect(SecItemUpdate(query("ann") as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary) == errSecSuccess)
            #expect(Self.attributes(query("ann"))?[kSecAttrLabel] as? String == "x")
            #expect(SecItemDelete(query("ann") as CFDictionary) == errSecSuccess)
            #expect(SecItemCopyMatching(query("ann") as CFDictionary, nil) == errSecItemNotFound)
        }
    }

    @Test("A program can choose its keychain and entitlements, and an invalid choice changes nothing")
    func configured() async {
        await #expect(processExitsWith: .success) {
            let folder = try Self.makeKeychain("work").folder
            #expect(SecItemCopyMatching(query("ann") as CFDictionary, nil) == errSecNoDefaultKeychain)
            let list = try PropertyListSerialization.data(
                fromPropertyList: ["application-identifier": "org.example"], format: .binary, options: 0)
            try folder.write("list", Array(list))
            try KeychainClient.configure(keychain: "work", entitlements: folder.path("list"))
            #expect(SecItemAdd(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
            #expect(Self.attributes(query("ann"))?[kSecAttrAccessGroup] as? String == "org.example")
            #expect(throws: KeychainClientFailure.keychainName) { try KeychainClient.configure(keychain: "") }
            #expect(throws: KeychainClientFailure.keychainName) { try KeychainClient.configure(keychain: ".hidden") }
            #expect(throws: KeychainClientFailure.entitlementsUnreadable(path: "/nowhere")) {
                try KeychainClient.configure(entitlements: "/nowhere")
            }
            #expect(Self.attributes(query("ann")) != nil)
            try KeychainClient.configure(keychain: "other")
            #expect(SecItemCopyMatching(query("ann") as CFDictionary, nil) == errSecNoSuchKeychain)
        }
    }

    @Test("Without a keychain the calls report this and do not create one")
    func nothing() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            setenv("XDG_DATA_HOME", folder.path, 1)
            #expect(SecItemAdd(password("ann", "1") as CFDictionary, nil) == errSecNoDefaultKeychain)
            #expect(try folder.list() == [])
        }
    }
}

extension KeychainLists {
    /// Replaces the lists in `folder` with these.
    fileprivate func set(in folder: DataFolder) throws {
        try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in lists = self }
    }
}
