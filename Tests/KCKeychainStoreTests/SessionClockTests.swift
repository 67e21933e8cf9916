import KCDeviceIdentity
import KCKernelKeyring
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

/// The idle timeout of a session while other processes change its settings.
@Suite struct SessionClockTests: SessionTesting {
    let bench: Bench
    let session: KeychainSession
    private let memory = MemoryRetention()

    init() throws {
        bench = try Bench()
        session = KeychainSession(retention: memory) { 0 }
        _ = try bench.create(passcode: "open")
        try unlock()
    }

    private var clock: Int? { get throws { try session.status(bench.open(), now: moment(11)).secondsUntilLock } }

    /// Runs `body` as another process would, at the given point of the next call.
    private func interrupt(_ point: String, _ body: @escaping @Sendable (Keychain, KeychainSession) throws -> Void) {
        let (path, device, session) = (bench.path, bench.device, session)
        memory.interrupt(point) {
            #expect(throws: Never.self) {
                let keychain = try Keychain.open(
                    at: path, deviceKey: device, lockWait: Bench.patience, minimumCost: Bench.cost)
                try body(keychain, session)
            }
        }
    }

    private func set(_ lockAfter: Int?) throws {
        let keychain = try bench.open()
        try session.resume(keychain)
        try session.setLockSettings(try #require(LockSettings(lockAfter: lockAfter, lockOnSuspend: true)), of: keychain)
    }

    @Test("Using a session with outdated settings does not leave their timeout in place", arguments: [nil, 300, 20])
    func changeWhileResuming(before: Int?) throws {
        try set(before)
        interrupt("expire") { keychain, session in
            try session.resume(keychain)
            try session.setLockSettings(
                try #require(LockSettings(lockAfter: 60, lockOnSuspend: true)), of: keychain)
        }
        let keychain = try bench.open()
        #expect(try session.resume(keychain) == .unlocked)
        #expect(try clock == 60 && keychain.lockSettings.lockAfter == 60)
    }

    @Test("Use between a change of the timeout and of the settings does not restore the old timeout")
    func resumeWhileChanging() throws {
        try set(nil)
        interrupt("after replace") { keychain, session in
            let state = try session.resume(keychain)
            #expect(state == .unlocked)
            #expect(keychain.lockSettings.lockAfter == nil)
        }
        try set(60)
        #expect(try clock == 60)
    }

    @Test("Changing the passcode during a timeout restart drops the key of akpu items from the object")
    func passcodeWhileResuming() throws {
        interrupt("expire") { keychain, session in
            for (current, new) in [("open", nil), (nil, "new")] as [(String?, String?)] {
                try session.setPasscode(
                    keychain, current: current.secret, new: new.secret, cost: Bench.cost, now: moment(12))
            }
        }
        let keychain = try bench.open()
        try session.resume(keychain)
        #expect(keychain.classKeys[.whenPasscodeSetThisDeviceOnly] == nil)
        #expect(memory.parts == [])
        #expect(try session.resume(keychain) == .lockedUntilFirstUnlock)
    }
}
