import Foundation
import KCByteStreams
import KCKernelKeyring
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

/// How a session behaves when the kernel fails.
@Suite struct SessionFailureTests {
    private let bench: Bench
    private let memory = MemoryRetention()
    private let session: KeychainSession

    init() throws {
        bench = try Bench()
        session = KeychainSession(retention: memory) { 0 }
    }

    private func failure(_ code: Int32, _ doing: String = "") -> KeychainStoreError {
        switch code {
        case EACCES: .kernelKeys(.refused(code))
        case EDQUOT, ENOMEM: .kernelKeys(.full(code))
        default: .kernelKeys(.system(code, doing: doing))
        }
    }

    @Test("If the kernel refuses keys, each object is unlocked on its own, and the status gives the reason")
    func refused() throws {
        let items = try bench.create(passcode: "open").fill()
        memory.fail("*", .refused(EPERM))
        let keychain = try bench.open()
        #expect(try session.resume(keychain) == .lockedUntilFirstUnlock)
        try session.unlock(keychain, passcode: "open".secret, now: moment(10))
        #expect(try session.resume(keychain) == .unlocked)
        #expect(keychain.readable(items) == Readable.all)
        let status = try session.status(keychain, now: moment(11))
        #expect(status.refusal == .refused(EPERM) && status.state == .unlocked && status.secondsUntilLock == nil)
        #expect(try session.resume(bench.open()) == .lockedUntilFirstUnlock)
        try session.setLockSettings(try #require(LockSettings(lockAfter: 5, lockOnSuspend: true)), of: keychain)
        try session.setPasscode(
            keychain, current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(12))
        #expect(keychain.readable(items) == Readable.all)
        for second in Int64(13)...17 {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try session.unlock(keychain, passcode: "bad".secret, now: moment(second))
            }
        }
        #expect(try session.resume(keychain) == .lockedUntilFirstUnlock)
    }

    @Test("A failed lock in the kernel is an error, but the object is locked anyway")
    func lockFails() throws {
        let items = try bench.create(passcode: "open").fill()
        let keychain = try bench.open()
        try session.unlock(keychain, passcode: "open".secret, now: moment(10))
        memory.fail("revoke", .system(EIO, doing: "revoking a key"))
        #expect(throws: failure(EIO, "revoking a key")) { try session.lock(keychain, untilFirstUnlock: true) }
        #expect(keychain.readable(items) == Readable.always)
        #expect(memory.takeCalls().suffix(2) == ["revoke unlocked", "revoke first-unlock"])
        memory.fail("revoke", .refused(EACCES))
        #expect(throws: failure(EACCES)) { try session.lock(keychain) }
    }

    @Test("A failure to store keys is reported, and a failure to read them is not mistaken for a lock")
    func otherFailures() throws {
        let items = try bench.create(passcode: "open").fill()
        let keychain = try bench.open()
        memory.fail("keep", .full(EDQUOT))
        #expect(throws: failure(EDQUOT)) {
            try session.unlock(keychain, passcode: "open".secret, now: moment(10))
        }
        #expect(keychain.readable(items) == Readable.all && memory.parts == [])
        memory.fail("read", .system(EIO, doing: "reading a key"))
        #expect(throws: failure(EIO, "reading a key")) { try session.resume(keychain) }
        #expect(throws: failure(EIO, "reading a key")) { _ = try session.status(keychain, now: moment(11)) }
    }

    @Test("If the session cannot be updated, the passcode is not changed", arguments: ["replace", "revoke"])
    func setPasscodeFails(verb: String) throws {
        let items = try bench.create(passcode: "open").fill()
        try session.unlock(bench.open(), passcode: "open".secret, now: moment(10))
        memory.fail(verb, .system(EIO, doing: "trying"))
        let keychain = try bench.open()
        #expect(throws: failure(EIO, "trying")) {
            try session.setPasscode(
                keychain, current: "open".secret, new: verb == "replace" ? "new".secret : nil, cost: Bench.cost,
                now: moment(11))
        }
        #expect(keychain.hasPasscode && keychain.keybag.generation == 1)
        let again = try bench.open()
        try again.unlock(passcode: "open".secret, now: moment(12))
        #expect(again.readable(items) == Readable.all)
    }

    @Test("If the session cannot be updated, the settings are not changed")
    func setLockSettingsFails() throws {
        _ = try bench.create(passcode: "open")
        let keychain = try bench.open()
        try session.unlock(keychain, passcode: "open".secret, now: moment(10))
        memory.fail("replace", .full(ENOMEM))
        let settings = try #require(LockSettings(lockAfter: 5, lockOnSuspend: false))
        #expect(throws: failure(ENOMEM)) { try session.setLockSettings(settings, of: keychain) }
        #expect(try keychain.lockSettings == .default && bench.open().lockSettings == .default)
    }

    @Test("A failed revocation after five wrong passcodes is reported, and the session is not used")
    func revokeAfterGuesses() throws {
        let items = try bench.create(passcode: "open").fill()
        let keychain = try bench.open()
        try session.unlock(keychain, passcode: "open".secret, now: moment(10))
        memory.fail("revoke", .system(EIO, doing: "revoking a key"))
        for second in Int64(11)...14 {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try session.unlock(keychain, passcode: "bad".secret, now: moment(second))
            }
        }
        #expect(throws: failure(EIO, "revoking a key")) {
            try session.unlock(keychain, passcode: "bad".secret, now: moment(15))
        }
        #expect(keychain.readable(items) == Readable.always)
        #expect(throws: failure(EIO, "revoking a key")) { try session.resume(bench.open()) }
    }

    @Test("The status shows the number of wrong passcodes and the delay")
    func status() throws {
        _ = try bench.create(passcode: "open")
        for second in Int64(1)...5 {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try session.unlock(bench.open(), passcode: "bad".secret, now: moment(second))
            }
        }
        let status = try session.status(bench.open(), now: moment(6))
        #expect(status.wrongPasscodeCount == 5 && status.secondsUntilNextTry == 1 && status.refusal == nil)
        #expect(try session.status(bench.open(), now: moment(7)).secondsUntilNextTry == nil)
        #expect(status.state == .lockedUntilFirstUnlock && status.hasPasscode && status.settings == .default)
    }
}
