import ByteStreams
import DeviceIdentity
import KernelKeyring
import KeychainModel
import Synchronization
import TestSupport
import Testing

@testable import KeychainStore

/// The classes that are readable in each state.
enum Readable {
    static let always: Set<Accessibility> = [.always, .alwaysThisDeviceOnly]
    static let afterFirstUnlock = always.union([.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly])
    static let all = Set(Accessibility.allCases)
}

/// The time that a made-up machine was suspended.
final class SleepClock: Sendable {
    private let milliseconds = Mutex<Int64>(5_000)

    var time: Int64 { milliseconds.withLock { $0 } }

    func sleep(_ time: Int64) { milliseconds.withLock { $0 += time } }
}

/// A suite whose sessions are kept in memory of the test, on a machine that sleeps on demand.
protocol SessionTesting {
    var bench: Bench { get }
    var session: KeychainSession { get }
}

extension SessionTesting {
    /// Makes a keychain with an item of each class, which no process has opened yet.
    func start(passcode: String? = "open") throws -> [Accessibility: Item] {
        try bench.create(passcode: passcode).fill()
    }

    /// What a new process reads.
    func readable(_ items: [Accessibility: Item]) throws -> Set<Accessibility> {
        let keychain = try bench.open()
        try session.resume(keychain)
        return keychain.readable(items)
    }

    /// Unlocks as a new process does.
    func unlock(_ passcode: String = "open", keepsSession: Bool = true, at second: Int64 = 10) throws {
        try session.unlock(bench.open(), passcode: passcode.secret, now: moment(second), keepsSession: keepsSession)
    }
}
