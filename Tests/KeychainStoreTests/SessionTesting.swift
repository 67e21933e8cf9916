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

/// The suspended time of a simulated machine.
final class SleepClock: Sendable {
    private let milliseconds = Mutex<Int64>(5_000)

    var time: Int64 { milliseconds.withLock { $0 } }

    func sleep(_ time: Int64) { milliseconds.withLock { $0 += time } }
}

/// A suite whose sessions are kept in the memory of the test, on a machine that is suspended on demand.
protocol SessionTesting {
    var bench: Bench { get }
    var session: KeychainSession { get }
}

extension SessionTesting {
    /// Creates a keychain with an item of each class, not yet unlocked by any process.
    func start(passcode: String? = "open") throws -> [Accessibility: Item] {
        try bench.create(passcode: passcode).fill()
    }

    /// The items that a new process can read.
    func readable(_ items: [Accessibility: Item]) throws -> Set<Accessibility> {
        let keychain = try bench.open()
        try session.resume(keychain)
        return keychain.readable(items)
    }

    /// Unlocks like a new process.
    func unlock(_ passcode: String = "open", keepsSession: Bool = true, at second: Int64 = 10) throws {
        try session.unlock(bench.open(), passcode: passcode.secret, now: moment(second), keepsSession: keepsSession)
    }
}
