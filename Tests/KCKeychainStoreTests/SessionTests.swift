import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKernelKeyring
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Synchronization
import Testing

@testable import KCKeychainStore

/// Sessions kept in memory, with faults, suspends, and actions of other processes between two calls.
@Suite struct SessionTests: SessionTesting {
    let bench: Bench
    let memory = MemoryRetention()
    let asleep = SleepClock()
    let session: KeychainSession

    init() throws {
        bench = try Bench()
        session = KeychainSession(retention: memory) { [asleep] in asleep.time }
    }

    @Test("Each class is readable in other processes exactly in the right lock states")
    func states() throws {
        let items = try start()
        #expect(try session.resume(bench.open()) == .lockedUntilFirstUnlock)
        #expect(try readable(items) == Readable.always)
        try unlock()
        #expect(try session.resume(bench.open()) == .unlocked)
        #expect(try readable(items) == Readable.all)
        try session.lock(bench.open())
        #expect(try session.resume(bench.open()) == .locked)
        #expect(try readable(items) == Readable.afterFirstUnlock)
        try session.lock(bench.open(), untilFirstUnlock: true)
        #expect(try session.resume(bench.open()) == .lockedUntilFirstUnlock)
        #expect(try readable(items) == Readable.always)
        #expect(memory.parts == [])
    }

    @Test("Resuming drops the keys that the session has lost")
    func drops() throws {
        let items = try start()
        let mine = try bench.open()
        try session.unlock(mine, passcode: "open".secret, now: moment(10))
        #expect(mine.readable(items) == Readable.all)
        try session.lock(bench.open())
        #expect(try session.resume(mine) == .locked)
        #expect(mine.readable(items) == Readable.afterFirstUnlock)
        try session.lock(mine, untilFirstUnlock: true)
        #expect(mine.readable(items) == Readable.always)
    }

    @Test("Locking never waits, not even for a process that is changing the keychain")
    func lockWhileBusy() throws {
        let items = try start()
        try unlock()
        let keychain = try bench.open(lockWait: .zero)
        let held = try ChangeLock(for: KeychainPath(bench.path), waitingAtMost: Bench.patience)
        try session.lock(keychain, untilFirstUnlock: true)
        withExtendedLifetime(held) {}
        #expect(try memory.parts == [] && readable(items) == Readable.always)
    }

    @Test("A keychain without a passcode is always unlocked and has no session")
    func withoutPasscode() throws {
        let items = try start(passcode: nil)
        try unlock("ignored")
        #expect(memory.parts == [])
        let keychain = try bench.open()
        keychain.lock(untilFirstUnlock: true)
        #expect(try session.resume(keychain) == .unlocked)
        #expect(keychain.readable(items).count == 6)
        #expect(try !session.status(keychain, now: moment(11)).hasPasscode)
    }

    @Test("Using a keychain restarts its timeout, and reading its status does not")
    func idleClock() throws {
        _ = try start()
        try unlock()
        _ = memory.takeCalls()
        _ = try session.status(bench.open(), now: moment(11))
        #expect(memory.takeCalls() == [])
        try session.resume(bench.open())
        #expect(memory.takeCalls() == ["expire unlocked"])
        try session.lock(bench.open())
        _ = memory.takeCalls()
        try session.resume(bench.open())
        #expect(memory.takeCalls() == [])
    }

    @Test("A single command with its own passcode creates no session")
    func singleCommand() throws {
        let items = try start()
        let keychain = try bench.open()
        try session.unlock(keychain, passcode: "open".secret, now: moment(10), keepsSession: false)
        #expect(keychain.readable(items) == Readable.all && memory.parts == [])
        #expect(try readable(items) == Readable.always)
    }

    @Test("Five wrong passcodes in a row end the session, whoever enters them", arguments: [true, false])
    func wrongPasscodes(keepsSession: Bool) throws {
        let items = try start()
        try unlock()
        for attempt in 1...5 {
            #expect(try readable(items) == Readable.all, "\(attempt)")
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try unlock("bad", keepsSession: keepsSession, at: 10 + Int64(attempt))
            }
        }
        #expect(memory.parts == [])
        #expect(try readable(items) == Readable.always)
        #expect(throws: KeychainStoreError.tooManyAttempts(retryAfter: 2)) { try unlock(at: 15) }
        try unlock(at: 100)
        #expect(try readable(items) == Readable.all)
        #expect(try bench.open().wrongPasscodeCount() == 0)
    }

    @Test("Creating a session clears a high count of wrong passcodes, even if the unlock did not")
    func countIsCleared() throws {
        let items = try start()
        let keychain = try bench.open()
        try keychain.unlock(passcode: "open".secret, now: moment(10))
        try bench.alter("UPDATE attempts SET failed = 5")
        try session.keep(keychain, openedAs: keychain.keybag, now: moment(10))
        #expect(try readable(items) == Readable.all && bench.open().wrongPasscodeCount() == 0)
    }

    @Test("Five wrong passcodes given without a session also end it")
    func foreignWrongPasscodes() throws {
        let items = try start()
        try unlock()
        for attempt in 1...5 {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try bench.open().unlock(passcode: "bad".secret, now: moment(10 + Int64(attempt)))
            }
        }
        #expect(try session.status(bench.open(), now: moment(15)).state == .lockedUntilFirstUnlock)
        #expect(try readable(items) == Readable.always && memory.parts == [])
    }

    @Test("Five wrong current passcodes in a passcode change end the session")
    func wrongCurrent() throws {
        let items = try start()
        try unlock()
        let keychain = try bench.open()
        for attempt in 1...5 {
            #expect(throws: KeychainStoreError.wrongPasscode) {
                try session.setPasscode(
                    keychain, current: "bad".secret, new: "new".secret, cost: Bench.cost,
                    now: moment(10 + Int64(attempt)))
            }
        }
        #expect(try memory.parts == [] && readable(items) == Readable.always)
    }

    @Test("Suspending the machine locks the keychain if the settings say so", arguments: [true, false])
    func suspend(lockOnSuspend: Bool) throws {
        let items = try start()
        try unlock()
        let settings = try #require(LockSettings(lockAfter: 300, lockOnSuspend: lockOnSuspend))
        let keychain = try bench.open()
        try session.resume(keychain)
        try session.setLockSettings(settings, of: keychain)
        asleep.sleep(1000)
        #expect(try readable(items) == Readable.all)
        asleep.sleep(1)
        #expect(
            try session.status(bench.open(), now: moment(11)).state == (lockOnSuspend ? .locked : .unlocked))
        #expect(try readable(items) == (lockOnSuspend ? Readable.afterFirstUnlock : Readable.all))
        #expect(memory.parts == (lockOnSuspend ? ["first-unlock"] : ["unlocked", "first-unlock"]))
    }

    @Test("A keychain locks if the time of suspension is shorter than before, as after a boot or on another machine")
    func suspendSetBack() throws {
        let items = try start()
        try unlock()
        asleep.sleep(-1_000)
        #expect(try readable(items) == Readable.all)
        asleep.sleep(-1)
        #expect(try session.status(bench.open(), now: moment(11)).state == .locked)
        #expect(try readable(items) == Readable.afterFirstUnlock)
        // The time coming back does not unlock it again.
        asleep.sleep(1_001)
        #expect(try readable(items) == Readable.afterFirstUnlock && memory.parts == ["first-unlock"])
    }

    @Test("An earlier suspend does not lock the keychain when locking on suspend is turned on")
    func suspendLater() throws {
        let items = try start()
        try unlock()
        let keychain = try bench.open()
        try session.resume(keychain)
        try session.setLockSettings(try #require(LockSettings(lockAfter: 300, lockOnSuspend: false)), of: keychain)
        asleep.sleep(60_000)
        try session.setLockSettings(.default, of: keychain)
        #expect(try readable(items) == Readable.all)
    }

    @Test("The timeout of a session follows the settings, immediately or at the next use")
    func settings() throws {
        _ = try start()
        try unlock()
        func clock() throws -> Int? { try session.status(bench.open(), now: moment(11)).secondsUntilLock }
        #expect(try clock() == 300)
        let keychain = try bench.open()
        try session.resume(keychain)
        try session.setLockSettings(try #require(LockSettings(lockAfter: 60, lockOnSuspend: true)), of: keychain)
        #expect(try clock() == 60)
        try keychain.setLockSettings(try #require(LockSettings(lockAfter: nil, lockOnSuspend: true)))
        #expect(try session.resume(bench.open()) == .unlocked)
        #expect(try clock() == nil)
        keychain.lock()
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) {
            try session.setLockSettings(.default, of: keychain)
        }
    }

    @Test("A passcode change keeps unlocked classes unlocked, and keys of the old passcode are refused")
    func changePasscode() throws {
        let items = try start()
        try unlock()
        let before = memory.contents.withLock { $0.kept.mapValues(\.payload) }
        let keychain = try bench.open()
        try session.setPasscode(
            keychain, current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(11))
        #expect(try readable(items) == Readable.all)
        // Payloads saved under the old passcode open nothing.
        memory.contents.withLock { contents in
            for (name, payload) in before { contents.kept[name]?.payload = payload }
        }
        #expect(try readable(items) == Readable.always && memory.parts == [])
    }

    @Test("A passcode change does not unlock what was locked, even by a suspend")
    func changeWhileLocked() throws {
        let items = try start()
        let keychain = try bench.open()
        func change(_ current: String, _ new: String) throws {
            try session.setPasscode(
                keychain, current: current.secret, new: new.secret, cost: Bench.cost, now: moment(11))
        }
        try change("open", "a")
        #expect(try memory.parts == [] && readable(items) == Readable.always)
        try unlock("a")
        try session.lock(bench.open())
        try change("a", "b")
        #expect(try readable(items) == Readable.afterFirstUnlock)
        try unlock("b")
        asleep.sleep(60_000)
        try change("b", "c")
        #expect(try readable(items) == Readable.afterFirstUnlock)
    }

    @Test("Removing the passcode ends the session, and setting one again does not start a new one")
    func removePasscode() throws {
        let items = try start()
        try unlock()
        let keychain = try bench.open()
        try session.setPasscode(keychain, current: "open".secret, new: nil, cost: Bench.cost, now: moment(11))
        #expect(memory.parts == [])
        #expect(try readable(items) == Readable.all.subtracting([.whenPasscodeSetThisDeviceOnly]))
        try session.setPasscode(keychain, current: nil, new: "new".secret, cost: Bench.cost, now: moment(12))
        #expect(try memory.parts == [] && readable(items) == Readable.always)
    }

    @Test("Locking during a passcode change is not undone by it")
    func lockWhileChanging() throws {
        let items = try start()
        try unlock()
        let other = try bench.open()
        let storeID = other.storeID
        memory.interrupt("replace") { [memory] in
            for part in SessionPart.allCases { try? memory.revoke(part.name(storeID)) }
        }
        try session.setPasscode(
            bench.open(), current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(11))
        #expect(try memory.parts == [] && readable(items) == Readable.always)
    }

    @Test("An unlock whose passcode is changed concurrently keeps nothing in the session")
    func changeWhileUnlocking() throws {
        _ = try start()
        let keychain = try bench.open()
        try keychain.unlock(passcode: "open".secret, now: moment(10))
        let other = try bench.open()
        try other.setPasscode(current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(11))
        let opened = keychain.keybag
        #expect(throws: KeychainStoreError.busy) { try session.keep(keychain, openedAs: opened, now: moment(12)) }
        #expect(memory.parts == [])
    }

    @Test("A session with keys of an older passcode is revoked at the next use")
    func olderPasscode() throws {
        let items = try start()
        let keychain = try bench.open()
        try keychain.unlock(passcode: "open".secret, now: moment(10))
        try bench.open().setPasscode(current: "open".secret, new: "new".secret, cost: Bench.cost, now: moment(11))
        try session.keep(.firstUnlock, keychain)
        try session.keep(.unlocked, keychain)
        #expect(try readable(items) == Readable.always && memory.parts == [])
    }
}
