import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCKernelKeyring
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

/// The device of these tests, which a second process can derive too.
private func device() throws -> DeviceKey { try DeviceKey(secret: SecretBytes(copying: 0..<32)) }

/// Sessions in the real kernel keyring, with each step also checked from a second process.
@Suite(.enabled(if: KernelKeyring.refusal == nil, "the kernel refuses keyrings here"))
struct KernelSessionTests {
    private let bench: Bench
    private let items: [Accessibility: Item]
    private let storeID: [UInt8]
    private let session = KeychainSession()

    init() throws {
        bench = try Bench(device: device())
        let keychain = try bench.create(passcode: "open")
        items = try keychain.fill()
        storeID = keychain.storeID
        // An hour. Waiting for other tests may exceed the default of five minutes.
        try keychain.setLockSettings(try #require(LockSettings(lockAfter: 3600, lockOnSuspend: true)))
    }

    // Called at the end of each test, because a deinit might run only after the process exits.
    private func clean() {
        for part in SessionPart.allCases { try? KernelKeyring().revoke(part.name(storeID)) }
    }

    /// Checks that a second process, and a second object in this process, can read exactly these classes.
    private func expect(
        _ expected: Set<Accessibility>, _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let keychain = try bench.open()
        try session.resume(keychain)
        #expect(keychain.readable(items) == expected, sourceLocation: sourceLocation)
        let path = bench.path
        let codes = expected.map(\.rawValue).sorted()
        await #expect(processExitsWith: .success, sourceLocation: sourceLocation) {
            [path = path as String, codes = codes as [String]] in
            let keychain = try Keychain.open(
                at: path, deviceKey: device(), lockWait: Bench.patience, minimumCost: Bench.cost)
            try KeychainSession().resume(keychain)
            let opened = try keychain.items().filter { (try? keychain.text(of: $0)) == $0.accessibility.rawValue }
            guard opened.map(\.accessibility.rawValue).sorted() == codes else { exit(1) }
        }
    }

    private func unlock(_ passcode: String = "open") throws {
        try session.unlock(bench.open(), passcode: passcode.secret, now: moment(100))
    }

    @Test("Each class is readable exactly when it should be, in every lock state")
    func states() async throws {
        defer { clean() }
        try await expect(Readable.always)
        try unlock()
        try await expect(Readable.all)
        try session.lock(bench.open())
        try await expect(Readable.afterFirstUnlock)
        try unlock()
        try session.lock(bench.open(), untilFirstUnlock: true)
        try await expect(Readable.always)
    }

    @Test("Unlocking and locking in one process applies to all")
    func otherProcess() async throws {
        defer { clean() }
        let path = bench.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let keychain = try Keychain.open(
                at: path, deviceKey: device(), lockWait: Bench.patience, minimumCost: Bench.cost)
            try KeychainSession().unlock(keychain, passcode: "open".secret, now: moment(100))
        }
        try await expect(Readable.all)
        let mine = try bench.open()
        try session.resume(mine)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let keychain = try Keychain.open(
                at: path, deviceKey: device(), lockWait: Bench.patience, minimumCost: Bench.cost)
            try KeychainSession().lock(keychain)
        }
        #expect(try session.resume(mine) == .locked)
        #expect(mine.readable(items) == Readable.afterFirstUnlock)
    }

    @Test("After the timeout the keychain locks, and items readable after first unlock stay readable")
    func timeout() async throws {
        defer { clean() }
        try unlock()
        let keychain = try bench.open()
        try session.resume(keychain)
        try session.setLockSettings(try #require(LockSettings(lockAfter: 1, lockOnSuspend: true)), of: keychain)
        let name = SessionPart.unlocked.name(storeID)
        let end = ContinuousClock.now + .seconds(60)
        var isKept = true
        while isKept, ContinuousClock.now < end {
            switch try KernelKeyring().read(name) {
            case .some: break
            case .none: isKept = false
            }
        }
        #expect(!isKept)
        try await expect(Readable.afterFirstUnlock)
    }

    @Test("A session survives a passcode change by another process, and ends when the passcode is removed")
    func passcode() async throws {
        defer { clean() }
        try unlock()
        let path = bench.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let keychain = try Keychain.open(
                at: path, deviceKey: device(), lockWait: Bench.patience, minimumCost: Bench.cost)
            try KeychainSession().setPasscode(
                keychain, current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(100))
        }
        try await expect(Readable.all)
        // A change without the session, after which the stored keys do not match.
        try bench.open().setPasscode(current: "new".secret, new: "newer".secret, cost: Bench.cost, now: moment(101))
        try await expect(Readable.always)
        try unlock("newer")
        try session.setPasscode(bench.open(), current: "newer".secret, new: nil, cost: Bench.cost, now: moment(102))
        for part in SessionPart.allCases { #expect(try isGone(part)) }
        try await expect(Readable.all.subtracting([.whenPasscodeSetThisDeviceOnly]))
    }

    @Test("Five wrong passcodes in a row revoke the session")
    func wrongPasscodes() async throws {
        defer { clean() }
        try unlock()
        for second in Int64(101)...105 {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try session.unlock(bench.open(), passcode: "bad".secret, now: moment(second))
            }
        }
        for part in SessionPart.allCases { #expect(try isGone(part)) }
        try await expect(Readable.always)
    }

    @Test("A payload modified in the kernel is treated as locked and revoked")
    func tampered() async throws {
        defer { clean() }
        try unlock()
        let name = SessionPart.unlocked.name(storeID)
        var payload: [UInt8] = []
        switch try KernelKeyring().read(name) {
        case .some(let kept): payload = kept.bytesForTest()
        case .none: Issue.record("nothing is kept")
        }
        payload[20] ^= 1
        #expect(try KernelKeyring().replace(name, SecretBytes(copying: payload), expiresAfter: 300))
        try await expect(Readable.afterFirstUnlock)
        #expect(try isGone(.unlocked) && !isGone(.firstUnlock))
    }

    @Test("The status shows the remaining time, and a running machine is not treated as suspended")
    func status() throws {
        defer { clean() }
        try unlock()
        let status = try session.status(bench.open(), now: moment(101))
        #expect(status.state == .unlocked)
        // Nil if the list of keys is hidden, as in containers.
        if let seconds = status.secondsUntilLock { #expect((0...3600).contains(seconds)) }
    }

    private func isGone(_ part: SessionPart) throws -> Bool {
        switch try KernelKeyring().read(part.name(storeID)) {
        case .some: false
        case .none: true
        }
    }
}
