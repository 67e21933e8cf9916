import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCLocalKeychains

@Suite("Keychains of a user")
struct LocalKeychainTests {
    private let temporary: TemporaryFolder
    private var folder: DataFolder { DataFolder(path: temporary.path("data")) }

    init() throws {
        temporary = try TemporaryFolder()
        try Path.makeFolder(temporary.path("data/keychains"))
    }

    @Test("The data folder follows XDG_DATA_HOME, unless that is relative")
    func dataFolder() {
        #expect(DataFolder(environment: [:], home: "/home/mia").path == "/home/mia/.local/share/kcbackup")
        #expect(DataFolder(environment: ["XDG_DATA_HOME": "/data"], home: "/home/mia").path == "/data/kcbackup")
        #expect(
            DataFolder(environment: ["XDG_DATA_HOME": "data"], home: "/home/mia").path
                == "/home/mia/.local/share/kcbackup")
    }

    @Test("Homes that share a data folder have states of their own; those in the data folder of a home move with it")
    func statesOfHomes() throws {
        for name in ["ann", "ben"] { try Path.makeFolder(temporary.path(name)) }
        let (ann, ben) = (temporary.path("ann"), temporary.path("ben"))
        let shared = Set([ann, ben].map { folder.keptStates(of: "home-files", below: $0) })
        #expect(shared.count == 2 && !shared.contains(folder.keptStates + "/home-files"))
        let own = DataFolder(environment: [:], home: ann)
        #expect(own.keptStates(of: "home-files", below: ann) == own.keptStates + "/home-files")
        #expect(own.keptStates(of: "home-files", below: ben) != own.keptStates + "/home-files")
    }

    @Test("A name is looked up in the data folder; a path is used unchanged")
    func namesAndPaths() throws {
        #expect(try LocalKeychain(nil, in: folder).path == folder.keychains + "/login.keychain")
        #expect(try LocalKeychain("Büro 2", in: folder).path == folder.keychains + "/Büro 2.keychain")
        #expect(try LocalKeychain("/x/y.keychain", in: folder).path == "/x/y.keychain")
        #expect(try LocalKeychain("./y.keychain", in: folder, workingFolder: "/w").path == "/w/./y.keychain")
        #expect(try !LocalKeychain("./y.keychain", in: folder).isNamed)
        #expect(throws: LocalKeychainFailure.emptyName) { try LocalKeychain("", in: folder) }
        for name in [".hidden", "-option", " space", "a\nb", "a\u{202e}b", String(repeating: "n", count: 65)] {
            #expect(throws: LocalKeychainFailure.invalidName) { try LocalKeychain(name, in: folder) }
        }
    }

    @Test("Only files with the extension and a valid name are listed")
    func names() throws {
        #expect(try LocalKeychain.names(in: DataFolder(path: temporary.path("nowhere"))) == [])
        for name in ["work.keychain", "login.keychain", "login.keychain.lock", ".x.keychain", "notes.txt"] {
            try temporary.write("data/keychains/" + name, [], mode: 0o600)
        }
        #expect(try LocalKeychain.names(in: folder) == ["login", "work"])
    }

    @Test("A keychain that another program deletes is not deleted again, nor is one that has got its name")
    func deletedMeanwhile() throws {
        let device = try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        let local = try LocalKeychain("work", in: folder)
        let now = try #require(Timestamp(microseconds: 0))
        func create() throws {
            _ = try Keychain.create(at: local.path, deviceKey: device, passcode: nil, now: now)
        }
        func open() throws -> Keychain { try Keychain.open(at: local.path, deviceKey: device) }
        func delete(_ keychain: Keychain) throws {
            _ = try local.delete(keychain, endingIn: KeychainSession(), lists: folder, now: now)
        }
        try create()
        let (one, other) = try (open(), open())
        try delete(one)
        #expect(throws: KeychainStoreError.notFound(local.path)) { try delete(other) }
        try create()
        #expect(throws: KeychainStoreError.notFound(local.path)) { try delete(other) }
        #expect(try LocalKeychain.names(in: folder) == ["work"])
    }

    @Test("The device key is made with the first keychain, and never again while keychains need the old one")
    func deviceKey() throws {
        let device = LocalDevice(folder, machineIDPath: temporary.path("machine-id"))
        #expect(try device.keyIfAny() == nil)
        #expect(try device.keyOrFirst().isNew)
        #expect(try !device.keyOrFirst().isNew)
        try Path.remove(folder.deviceKey)
        try temporary.write("data/keychains/login.keychain", [], mode: 0o600)
        #expect(throws: LocalKeychainFailure.deviceKeyMissing(keychains: 1)) { _ = try device.key() }
        #expect(throws: LocalKeychainFailure.deviceKeyMissing(keychains: 1)) { _ = try device.keyOrFirst() }
    }
}

@Suite("What killed processes leave in the data folder")
struct StaleDataTests {
    @Test("The lock of a keychain that is gone is removed, unless another process holds it")
    func locks() throws {
        let folder = try TemporaryFolder()
        for name in ["data", "data/keychains"] { try Path.makeFolder(folder.path(name)) }
        let stale = "data/keychains/gone.keychain.lock"
        let kept = ["login.keychain", "login.keychain.lock", "new.keychain.lock", "x.lock"].map {
            "data/keychains/" + $0
        }
        for name in kept + [stale] { try folder.write(name, [], mode: 0o600) }
        let lock = try FileLock(folder.path("data/keychains/new.keychain.lock"))
        withExtendedLifetime(lock) { DataFolder(path: folder.path("data")).removeStaleFiles() }
        for name in kept { #expect(try Path.exists(folder.path(name)), "\(name)") }
        #expect(try !Path.exists(folder.path(stale)))
    }

    @Test("Temporary files and folders are removed, wherever in the data folder they are, and nothing else")
    func removed() throws {
        let folder = try TemporaryFolder()
        let staging = "data/keychains/.restoring-1000000000000"
        for name in ["data", "data/keychains", staging, "data/undo"] {
            try Path.makeFolder(folder.path(name))
        }
        let kept = ["data/device.key", "data/keychains/login.keychain", "data/undo/x"]
        let stale = [
            "data/.kcbackup-1a00000000000.tmp", staging + "/login.keychain", "data/undo/.kcbackup-2b00000000000.tmp",
        ]
        for name in kept + stale { try folder.write(name, [1], mode: 0o600) }
        DataFolder(path: folder.path("data")).removeStaleFiles()
        for name in kept { #expect(try Path.exists(folder.path(name))) }
        for name in stale + [staging] {
            #expect(try !Path.exists(folder.path(name)), "\(name)")
        }
        DataFolder(path: folder.path("missing")).removeStaleFiles()
        #expect(try !Path.exists(folder.path("missing")))
    }

    @Test("Each start sweeps the folders of the user in which a killed run was at work, and 'doctor' knows the others")
    func foldersOfTheUser() throws {
        let folder = try TemporaryFolder()
        for name in ["data", "work"] { try Path.makeFolder(folder.path(name)) }
        let data = DataFolder(path: folder.path("data"))
        let list = try folder.write("data/unswept-1abc000000000", Array("\(folder.path("work"))\0".utf8))
        try folder.write("work/.kcbackup-1a00000000000.tmp", [1])
        data.removeStaleFiles()
        #expect(try folder.list() == ["data", "work"])
        try folder.write("data/unswept-1abc000000000", Array("\(folder.path("disk"))\0".utf8))
        data.removeStaleFiles()
        let left = try data.unsweptFolders()
        #expect(left.map(\.folder) == [folder.path("disk")] && left.map(\.list) == [list])
    }
}
