import KCByteStreams
import KCDeviceIdentity
import KCKernelKeyring
import KCKeychainModel
import KCTestSupport
import Synchronization
import Testing

@testable import KCKeychainStore

/// The classes that are readable in each lock state.
enum Readable {
    static let always: Set<Accessibility> = [.always, .alwaysThisDeviceOnly]
    static let afterFirstUnlock = always.union([.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly])
    static let all = Set(Accessibility.allCases)
}

/// A simulated clock of the time that the machine was suspended.
final class SleepClock: Sendable {
    private let milliseconds = Mutex<Int64>(5_000)

    var time: Int64 { milliseconds.withLock { $0 } }

    func sleep(_ time: Int64) { milliseconds.withLock { $0 += time } }
}

/// A suite whose sessions are kept in the test's memory, on a machine that can be suspended at will.
protocol SessionTesting {
    var bench: Bench { get }
    var session: KeychainSession { get }
}

extension SessionTesting {
    /// Creates a keychain with an item of each class, to be opened by new processes.
    func start(passcode: String? = "open") throws -> [Accessibility: Item] {
        try bench.create(passcode: passcode).fill()
    }

    /// The classes that a new process can read.
    func readable(_ items: [Accessibility: Item]) throws -> Set<Accessibility> {
        let keychain = try bench.open()
        try session.resume(keychain)
        return keychain.readable(items)
    }

    /// Unlocks as a new process would.
    func unlock(_ passcode: String = "open", keepsSession: Bool = true, at second: Int64 = 10) throws {
        try session.unlock(bench.open(), passcode: passcode.secret, now: moment(second), keepsSession: keepsSession)
    }
}
