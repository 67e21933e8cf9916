import Foundation
import KCByteStreams
import KCCryptography
import KCKernelKeyring
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Synchronization
import Testing

@testable import KeychainSecurity

/// A kernel that refuses key operations, as in many containers.
private struct RefusingKernel: KeyRetention {
    func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? { throw .refused(EPERM) }
    func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) { throw .refused(EPERM) }
    func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool { throw .refused(EPERM) }
    func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure) { throw .refused(EPERM) }
    func revoke(_ name: String) throws(KeyRetentionFailure) { throw .refused(EPERM) }
    func remainingSeconds(_ name: String) -> Int? { nil }
}

@Suite("A program that creates and unlocks its own keychain")
struct LifecycleTests {
    private let folder: TemporaryFolder
    private let passcode = Data("walnut".utf8)

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("machine-id", Array("0123456789abcdef0123456789abcdef\n".utf8), mode: 0o644)
    }

    /// A program in a new container.
    private func program(_ keychain: String? = nil) -> KeychainClient {
        var configuration = KeychainClient.Configuration()
        configuration.keychain = keychain
        configuration.folder = DataFolder(path: folder.path("kcbackup"))
        configuration.machineIDPath = folder.path("machine-id")
        configuration.groups = AccessGroups(ordered: ["test"])
        configuration.session = KeychainSession(retention: RefusingKernel())
        configuration.cost = ScryptCost(logN: 14)
        return KeychainClient(configuration)
    }

    private func text(_ program: KeychainClient, _ account: String, _ more: [CFString: Any] = [:]) -> String? {
        var result: AnyObject?
        let found = query(account, more.merging([kSecReturnData: true]) { $1 })
        guard program.copyMatching(found as CFDictionary, &result) == errSecSuccess, let data = result as? Data else {
            return nil
        }
        return String(decoding: data, as: UTF8.self)
    }

    @Test("It creates the keychain and the device key once and can use them immediately")
    func create() throws {
        let program = program()
        #expect(program.add(password("ann", "1") as CFDictionary, nil) == errSecNoDefaultKeychain)
        #expect(try program.status() == KeychainClientStatus(state: .missing, hasPasscode: false, isShared: false))
        try program.create(passcode: nil)
        #expect(try program.status().state == .unlocked)
        #expect(program.add(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
        #expect(throws: KeychainClientFailure.failed(errSecDuplicateKeychain)) { try program.create(passcode: nil) }
        #expect(text(self.program(), "ann") == "1")
        // Without a passcode, locking has no effect, and a given passcode is ignored.
        try program.lockKeychain()
        try program.unlock(passcode: passcode)
        #expect(text(program, "ann") == "1")
    }

    @Test(
        "With a passcode it stays unlocked until it locks, even without kernel keys, and others stay locked")
    func unlock() throws {
        let program = program("work")
        try program.create(passcode: passcode)
        #expect(try program.status() == KeychainClientStatus(state: .unlocked, hasPasscode: true, isShared: false))
        for (account, code) in [("ann", "aku"), ("bob", "ck"), ("eve", "dk"), ("ida", "akpu")] {
            #expect(
                program.add(password(account, account, [kSecAttrAccessible: code]) as CFDictionary, nil)
                    == errSecSuccess)
        }
        #expect(text(program, "ann") == "ann" && text(program, "ida") == "ida")
        let other = self.program("work")
        #expect(try other.status().state == .lockedUntilFirstUnlock)
        #expect(other.copyMatching(query("ann") as CFDictionary, nil) == errSecInteractionNotAllowed)
        #expect(text(other, "eve") == "eve")
        try program.lockKeychain()
        #expect(try program.status().state == .locked)
        #expect(program.copyMatching(query("ann") as CFDictionary, nil) == errSecInteractionNotAllowed)
        #expect(text(program, "bob") == "bob")
        #expect(throws: KeychainClientFailure.failed(errSecAuthFailed)) {
            try program.unlock(passcode: Data("acorn".utf8))
        }
        #expect(program.copyMatching(query("ann") as CFDictionary, nil) == errSecInteractionNotAllowed)
        try program.unlock(passcode: passcode)
        #expect(text(program, "ann") == "ann")
    }

    @Test("It opens or creates the keychain, and several concurrent attempts all succeed")
    func openOrCreate() async throws {
        try program().openOrCreate(passcode: passcode)
        let second = program()
        try second.openOrCreate(passcode: nil)
        #expect(try second.status().state == .lockedUntilFirstUnlock)
        try second.openOrCreate(passcode: passcode)
        #expect(second.add(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
        #expect(throws: KeychainClientFailure.failed(errSecAuthFailed)) {
            try program().openOrCreate(passcode: Data("acorn".utf8))
        }
        let programs = (0..<4).map { _ in program("other") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, program) in programs.enumerated() {
                group.addTask { [passcode] in
                    try program.openOrCreate(passcode: passcode)
                    #expect(program.add(password("user\(number)", "1") as CFDictionary, nil) == errSecSuccess)
                }
            }
            try await group.waitForAll()
        }
        #expect(text(programs[0], "user3") == "1")
    }

    @Test("Keys that the process keeps are for reads and changes alike, until another program sets a new passcode")
    func keptKeys() throws {
        let program = program()
        try program.create(passcode: passcode)
        #expect(program.add(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
        #expect(text(program, "ann") == "1")
        let device = LocalDevice(
            DataFolder(path: folder.path("kcbackup")), machineIDPath: folder.path("machine-id"))
        let other = try Keychain.open(
            at: folder.path("kcbackup/keychains/login.keychain"), deviceKey: device.key(), lockWait: .seconds(60))
        let new = Data("chestnut".utf8)
        try other.setPasscode(
            current: SecretBytes(copying: passcode), new: SecretBytes(copying: new), cost: ScryptCost(logN: 14),
            now: TestClient.start)
        for _ in 0..<2 {
            #expect(program.copyMatching(query("ann") as CFDictionary, nil) == errSecInteractionNotAllowed)
            #expect(program.add(password("bob", "2") as CFDictionary, nil) == errSecInteractionNotAllowed)
        }
        try program.unlock(passcode: new)
        #expect(text(program, "ann") == "1")
        #expect(program.add(password("bob", "2") as CFDictionary, nil) == errSecSuccess)
        #expect(text(program, "bob") == "2")
    }

    @Test("While threads work, nothing is read or added after the keychain has been locked")
    func lockedWhileThreadsWork() throws {
        let program = program()
        try program.create(passcode: passcode)
        #expect(program.add(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
        let isLocked = Mutex(false)
        let seen = Tally<String>()
        let done = DispatchGroup()
        for thread in 0..<12 {
            done.enter()
            Thread {
                var (number, wasLocked) = (0, false)
                while !wasLocked {
                    // A request after the locking must fail, and a request before it may.
                    wasLocked = isLocked.withLock { $0 }
                    let status =
                        thread.isMultiple(of: 2)
                        ? program.copyMatching(query("ann") as CFDictionary, nil)
                        : program.add(password("\(thread) \(number)") as CFDictionary, nil)
                    number += 1
                    let isExpected = status == errSecInteractionNotAllowed || status == errSecSuccess && !wasLocked
                    seen.count(isExpected ? "as expected" : "\(wasLocked) \(status)")
                }
                done.leave()
            }.start()
        }
        while seen.result["as expected"] ?? 0 < 100 { sched_yield() }
        try program.lockKeychain()
        isLocked.withLock { $0 = true }
        done.wait()
        #expect(Set(seen.result.keys) == ["as expected"])
        try program.unlock(passcode: passcode)
        #expect(text(program, "ann") == "1")
    }

    @Test("The passcode source is called only when a call needs locked keys")
    func passcodeSource() throws {
        let owner = program()
        try owner.create(passcode: passcode)
        #expect(owner.add(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
        #expect(owner.add(password("eve", "2", [kSecAttrAccessible: "dk"]) as CFDictionary, nil) == errSecSuccess)
        let program = program()
        let asked = Mutex(0)
        let answer = Mutex<Data?>(nil)
        program.setPasscodeSource {
            asked.withLock { $0 += 1 }
            return answer.withLock { $0 }
        }
        #expect(text(program, "eve") == "2")
        for ui in [kSecUseAuthenticationUIFail, kSecUseAuthenticationUISkip] {
            #expect(text(program, "ann", [kSecUseAuthenticationUI: ui]) == nil)
        }
        #expect(
            program.copyMatching(query("ann", [kSecUseNoAuthenticationUI: true]) as CFDictionary, nil)
                == errSecInteractionNotAllowed)
        #expect(asked.withLock { $0 } == 0)
        #expect(program.copyMatching(query("ann") as CFDictionary, nil) == errSecInteractionNotAllowed)
        answer.withLock { $0 = Data("acorn".utf8) }
        #expect(program.update(query("ann") as CFDictionary, [kSecAttrLabel: "x"]) == errSecAuthFailed)
        answer.withLock { $0 = passcode }
        #expect(text(program, "ann") == "1")
        #expect(asked.withLock { $0 } == 3)
        #expect(program.add(password("bob", "3") as CFDictionary, nil) == errSecSuccess)
        #expect(asked.withLock { $0 } == 3)
    }

    @Test("A passcode changed by another program locks this one until it is unlocked again")
    func changedPasscode() throws {
        let program = program()
        try program.create(passcode: passcode)
        #expect(program.add(password("ann", "1") as CFDictionary, nil) == errSecSuccess)
        let data = DataFolder(path: folder.path("kcbackup"))
        let keychain = try LocalKeychain(nil, in: data).open(
            on: LocalDevice(data, machineIDPath: folder.path("machine-id")))
        let old = SecretBytes(copying: passcode) as SecretBytes?
        let new = SecretBytes(copying: "acorn".utf8) as SecretBytes?
        try keychain.setPasscode(current: old, new: new, cost: ScryptCost(logN: 14), now: TestClient.start)
        #expect(program.copyMatching(query("ann") as CFDictionary, nil) == errSecInteractionNotAllowed)
        try program.unlock(passcode: Data("acorn".utf8))
        #expect(text(program, "ann") == "1")
    }
}

extension LifecycleTests {
    @Test("The public functions work in a new home")
    func publicCalls() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            setenv("XDG_DATA_HOME", folder.path, 1)
            #expect(try KeychainClient.status().state == .missing)
            try KeychainClient.createDefaultKeychain(passcode: nil)
            try KeychainClient.openOrCreate(passcode: nil)
            #expect(try KeychainClient.status().state == .unlocked)
            let item: NSDictionary = [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ann", kSecValueData: Data("1".utf8),
            ]
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            let found = NSMutableDictionary(dictionary: [kSecClass: kSecClassGenericPassword, kSecReturnData: true])
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(found, &result) == errSecSuccess && result as? Data == Data("1".utf8))
            found.removeObject(forKey: kSecReturnData)
            let changes: NSDictionary = [kSecAttrLabel: "x"]
            #expect(SecItemUpdate(found, changes) == errSecSuccess)
            #expect(SecItemDelete(found) == errSecSuccess)
            #expect(SecItemDelete(NSDictionary(object: 1, forKey: NSNumber(value: 1))) == errSecParam)
            KeychainClient.setPasscodeSource { nil }
            try KeychainClient.lock()
        }
    }
}
