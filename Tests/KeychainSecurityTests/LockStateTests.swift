import Foundation
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("A locked keychain")
struct LockStateTests {
    private let program: TestClient

    init() throws {
        program = try TestClient(hasPasscode: true)
    }

    private static let states: [TestClient.LockedFor] = [.nobody, .locked, .beforeFirstUnlock]

    /// Whether Apple's keychain opens the accessibility in each state.
    private static func opens(_ accessibility: Accessibility, _ state: TestClient.LockedFor) -> Bool {
        switch accessibility {
        case .always, .alwaysThisDeviceOnly: true
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: state != .beforeFirstUnlock
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: state == .nobody
        }
    }

    @Test("An item can be found, added and updated when its accessibility allows it", arguments: Accessibility.allCases)
    func accessibility(_ accessibility: Accessibility) throws {
        let more: [CFString: Any] = [kSecAttrAccessible: accessibility.rawValue]
        #expect(program.add(password("ann", "old", more)) == errSecSuccess)
        for state in [.locked, .beforeFirstUnlock, .nobody] as [TestClient.LockedFor] {
            program.lock(state)
            let expected = Self.opens(accessibility, state) ? errSecSuccess : errSecInteractionNotAllowed
            for key in [kSecReturnData, kSecReturnAttributes, kSecReturnPersistentRef, kSecReturnRef] {
                let (status, result) = program.find(query("ann", [key: true]))
                #expect(status == expected, "\(key) while \(state)")
                #expect(status == errSecSuccess || result == nil)
            }
            #expect(program.status(query("ann")) == expected)
            #expect(program.update(query("ann"), [kSecValueData: Data("\(state)".utf8)]) == expected)
            #expect(program.update(query("ann"), [kSecAttrLabel: "\(state)"]) == expected)
            #expect(program.add(password("\(state)", "1", more)) == expected)
            // A caller that cannot access the item is not told that it exists.
            let again = program.add(password("ann", "1", more))
            #expect(again == (expected == errSecSuccess ? errSecDuplicateItem : expected))
        }
        #expect(program.text(query("ann")) == "nobody")
        #expect(program.count(generic()) == 1 + Self.states.filter { Self.opens(accessibility, $0) }.count)
    }

    @Test("An add refused while locked leaves nothing after unlocking")
    func addLocked() {
        program.lock(.locked)
        #expect(program.add(password("ann")) == errSecInteractionNotAllowed)
        program.lock(.nobody)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.add(password("ann")) == errSecSuccess)
        program.lock(.locked)
        #expect(program.add(password("ann")) == errSecInteractionNotAllowed)
        #expect(program.status(query("ann")) == errSecInteractionNotAllowed)
        program.lock(.nobody)
        #expect(program.add(password("ann")) == errSecDuplicateItem)
    }

    @Test("A missing item is not found, locked or not")
    func notThere() {
        #expect(program.add(password("ann")) == errSecSuccess)
        for state in Self.states {
            program.lock(state)
            #expect(program.status(query("bob")) == errSecItemNotFound)
            #expect(program.update(query("bob"), [kSecAttrLabel: "x"]) == errSecItemNotFound)
            #expect(program.delete(query("bob")) == errSecItemNotFound)
        }
    }

    @Test("A query for all items fails if one is locked, unless locked items are skipped")
    func mixed() {
        for (account, code) in [("a", "dk"), ("b", "ak"), ("c", "dk"), ("d", "ck")] {
            #expect(program.add(password(account, account, [kSecAttrAccessible: code])) == errSecSuccess)
        }
        let all: [CFString: Any] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]
        let skip = all.merging([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) { $1 }
        func texts(_ more: [CFString: Any]) -> [String]? {
            (program.find(generic(more)).1 as? [Data])?.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(texts(all) == ["a", "b", "c", "d"] && texts(skip) == ["a", "b", "c", "d"])
        program.lock(.locked)
        #expect(program.find(generic(all)).0 == errSecInteractionNotAllowed)
        #expect(texts(skip) == ["a", "c", "d"])
        program.lock(.beforeFirstUnlock)
        #expect(texts(skip) == ["a", "c"])
        #expect(program.find(query("b", skip)).0 == errSecItemNotFound)
        for mode in [kSecUseAuthenticationUIAllow, kSecUseAuthenticationUIFail] {
            #expect(program.status(query("b", [kSecUseAuthenticationUI: mode])) == errSecInteractionNotAllowed)
        }
    }

    @Test("An update that matches a locked item changes nothing")
    func updateMixed() {
        #expect(program.add(password("a", "1", [kSecAttrAccessible: "dk"])) == errSecSuccess)
        #expect(program.add(password("b", "2")) == errSecSuccess)
        program.lock(.locked)
        let mail = generic([kSecAttrService: "mail"])
        #expect(program.update(mail, [kSecAttrComment: "x"]) == errSecInteractionNotAllowed)
        #expect(program.update(query("a"), [kSecAttrAccessible: "ak"]) == errSecInteractionNotAllowed)
        #expect(program.text(query("a", [kSecAttrAccessible: "dk"])) == "1")
        program.lock(.nobody)
        #expect(program.count(generic([kSecAttrComment: "x"])) == 0)
    }

    @Test("Deleting requires no key", arguments: Accessibility.allCases)
    func delete(_ accessibility: Accessibility) {
        #expect(program.add(password("ann", "1", [kSecAttrAccessible: accessibility.rawValue])) == errSecSuccess)
        program.lock(.beforeFirstUnlock)
        #expect(program.delete(query("ann")) == errSecSuccess)
        program.lock(.nobody)
        #expect(program.status(query("ann")) == errSecItemNotFound)
    }

    @Test("Ten threads that query a locked keychain repeatedly always get the same status")
    func threadsWhileLocked() {
        #expect(program.add(password("ann")) == errSecSuccess)
        program.lock(.locked)
        let tally = Tally<OSStatus>()
        onThreads(10) { _ in
            for _ in 0..<20 { tally.count(program.find(query("ann", [kSecReturnAttributes: true])).0) }
        }
        #expect(tally.result == [errSecInteractionNotAllowed: 200])
        program.lock(.nobody)
        #expect(program.text(query("ann")) == "secret")
    }

    @Test("A locked keychain file shows the attributes of all classes, but no secret except certificates")
    func storeWhileLocked() throws {
        let items: [[CFString: Any]] = [
            password("ann"), internet([kSecAttrServer: "example.org", kSecValueData: Data([1])]),
            [kSecClass: kSecClassCertificate, kSecValueData: Data([2]), kSecAttrLabel: "public"],
        ]
        let keys = [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate, kSecAttrKeyClassSymmetric].map {
            [kSecClass: kSecClassKey, kSecAttrKeyClass: $0, kSecValueData: Data([3])] as [CFString: Any]
        }
        for item in items + keys { #expect(program.add(item) == errSecSuccess) }
        let store = try openStore(program)
        #expect(store.found.map(\.itemClass.rawValue) == ["genp", "inet", "cert", "keys", "keys", "keys"])
        #expect(store.locked == ["genp", "inet", "keys", "keys", "keys"])
    }

    private func openStore(_ program: TestClient) throws -> (found: [Item], locked: [String]) {
        let keychain = try program.openStore()
        #expect(!keychain.isUnlocked)
        let found = try keychain.find(.init()).items
        var locked: [String] = []
        for item in found {
            do {
                _ = try keychain.secret(of: item)
            } catch {
                #expect(error == .locked(.whenUnlocked))
                locked.append(item.itemClass.rawValue)
            }
        }
        return (found, locked)
    }
}

@Suite("A session shared by all programs")
struct SessionTests {
    private let owner: TestClient
    private let session = KeychainSession(retention: MemoryRetention(), suspendedTime: { 0 })

    init() throws {
        owner = try TestClient(hasPasscode: true)
        for code in ["ak", "ck", "dk"] {
            #expect(owner.add(password(code, code, [kSecAttrAccessible: code])) == errSecSuccess)
        }
    }

    /// Another program, which does not know the passcode.
    private func program(_ session: KeychainSession) -> KeychainClient {
        var configuration = KeychainClient.Configuration()
        configuration.folder = owner.user.data
        configuration.machineIDPath = owner.user.machineIDPath
        configuration.groups = AccessGroups(ordered: ["test"])
        configuration.resume = { try session.resume($0) }
        return KeychainClient(configuration)
    }

    private func readable(_ program: KeychainClient) -> [String] {
        ["ak", "ck", "dk"].filter { code in
            let status = program.copyMatching(query(code) as CFDictionary, nil)
            #expect([errSecSuccess, errSecInteractionNotAllowed].contains(status))
            return status == errSecSuccess
        }
    }

    @Test("A program follows the user's session from one call to the next")
    func follows() throws {
        let program = program(session)
        #expect(readable(program) == ["dk"])
        let passcode = SecretBytes(copying: TestClient.passcode.utf8) as SecretBytes?
        try session.unlock(owner.openStore(), passcode: passcode, now: TestClient.start)
        #expect(readable(program) == ["ak", "ck", "dk"])
        try session.lock(owner.openStore())
        #expect(readable(program) == ["ck", "dk"])
        #expect(program.add(password("new") as CFDictionary, nil) == errSecInteractionNotAllowed)
        try session.lock(owner.openStore(), untilFirstUnlock: true)
        #expect(readable(program) == ["dk"])
        #expect(program.delete(query("ak") as CFDictionary) == errSecSuccess)
    }

    @Test("If the kernel refuses keys, only items that are always readable can be read")
    func refused() throws {
        let refusing = MemoryRetention()
        refusing.fail("*", .refused(1))
        let session = KeychainSession(retention: refusing, suspendedTime: { 0 })
        #expect(readable(program(session)) == ["dk"])
    }
}

@Suite("Items that require a passcode")
struct PasscodeItemTests {
    private let bound: [CFString: Any] = [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly]

    @Test("Without a passcode such an item can be neither added nor created by an update")
    func withoutPasscode() throws {
        let program = try TestClient()
        #expect(program.add(password("ann", "1", bound)) == errSecAuthFailed)
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        #expect(program.update(query("ann"), bound) == errSecAuthFailed)
        #expect(program.attributes(query("ann"))?[kSecAttrAccessible] as? String == "ak")
    }

    @Test("Such items are removed with the passcode, and can be added again after a new one is set")
    func removal() throws {
        let program = try TestClient(hasPasscode: true)
        #expect(program.add(password("ann", "1", bound)) == errSecSuccess)
        #expect(program.add(password("bob", "2")) == errSecSuccess)
        #expect(program.text(query("ann")) == "1")
        try program.setPasscode(false)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.add(password("ann", "1", bound)) == errSecAuthFailed)
        #expect(program.text(query("bob")) == "2")
        try program.setPasscode(true)
        program.lock(.locked)
        #expect(program.add(password("ann", "3", bound)) == errSecInteractionNotAllowed)
        program.lock(.nobody)
        #expect(program.add(password("ann", "3", bound)) == errSecSuccess)
        #expect(program.text(query("ann")) == "3" && program.text(query("bob")) == "2")
    }
}
