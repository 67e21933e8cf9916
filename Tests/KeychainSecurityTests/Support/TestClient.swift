import Foundation
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Synchronization

@testable import KeychainSecurity

/// A program with access groups and its own keychain, which the test can lock.
///
/// The clock does not advance unless the test does it.
final class TestClient: Sendable {
    static let passcode = UserData.passcode
    static let start = Timestamp("2026-03-01T09:30:00.000000Z") ?? .reference

    let user: UserData
    let client: KeychainClient
    private let shared: SharedState

    /// The lock state of the user's session.
    enum LockedFor: Sendable {
        case nobody
        case locked
        case beforeFirstUnlock
    }

    /// Creates an unlocked keychain, or shares that of another program.
    init(groups: [String] = ["test"], hasPasscode: Bool = false, sharing other: TestClient? = nil) throws {
        user = try other?.user ?? UserData()
        if other == nil { try user.makeKeychain(hasPasscode: hasPasscode, now: Self.start) }
        let shared = SharedState()
        var configuration = KeychainClient.Configuration()
        configuration.folder = user.data
        configuration.machineIDPath = user.machineIDPath
        configuration.groups = AccessGroups(ordered: groups)
        configuration.session = KeychainSession(retention: MemoryRetention(), suspendedTime: { 0 })
        configuration.clock = { shared.now.withLock { $0 } }
        configuration.resume = { keychain in
            // Notices a new passcode first, as a session does.
            _ = try keychain.wrongPasscodeCount()
            let passcode = SecretBytes(copying: Self.passcode.utf8) as SecretBytes?
            switch shared.lockedFor.withLock({ $0 }) {
            case .nobody:
                if !keychain.isUnlocked { try keychain.unlock(passcode: passcode, now: Self.start) }
                keychain.forgetPresence()
            case .locked:
                if !keychain.canOpen(Protection(.afterFirstUnlock)) {
                    try keychain.unlock(passcode: passcode, now: Self.start)
                }
                keychain.lock()
            case .beforeFirstUnlock: keychain.lock(untilFirstUnlock: true)
            }
        }
        // Keeps the keys between calls, because unlocking again would need a key derivation.
        configuration.release = { _ in }
        client = KeychainClient(configuration)
        self.shared = shared
    }

    private final class SharedState: Sendable {
        let now = Mutex(TestClient.start)
        let lockedFor = Mutex(LockedFor.nobody)
    }

    /// Advances the clock.
    func advance(seconds: Int64) {
        shared.now.withLock { $0 = $0.advanced(byMicroseconds: seconds * 1_000_000) }
    }

    /// Locks or unlocks the keychain.
    func lock(_ lockedFor: LockedFor) { shared.lockedFor.withLock { $0 = lockedFor } }

    /// The number of commits to the keychain file, as counted by SQLite (sqlite.org/fileformat2.html, 1.3.7).
    func commits() throws -> UInt32 {
        let header = try Data(contentsOf: URL(filePath: user.keychainPath)).prefix(28)
        return header.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Calls

    func add(_ attributes: [CFString: Any]) -> OSStatus { client.add(attributes as CFDictionary, nil) }

    /// Adds an item and returns the status and result.
    func adding(_ attributes: [CFString: Any]) -> (OSStatus, AnyObject?) {
        var result: AnyObject?
        return (client.add(attributes as CFDictionary, &result), result)
    }

    /// Finds items and returns the status and result.
    func find(_ query: [CFString: Any]) -> (OSStatus, AnyObject?) {
        var result: AnyObject?
        return (client.copyMatching(query as CFDictionary, &result), result)
    }

    /// Finds items without a result pointer.
    func status(_ query: [CFString: Any]) -> OSStatus { client.copyMatching(query as CFDictionary, nil) }

    func update(_ query: [CFString: Any], _ changes: [CFString: Any]) -> OSStatus {
        client.update(query as CFDictionary, changes as CFDictionary)
    }

    func delete(_ query: [CFString: Any]) -> OSStatus { client.delete(query as CFDictionary) }
}

/// Returns the dictionary of a call; test arguments must be Sendable, which string objects are not.
func keyed(_ entries: [String: any Sendable]) -> [CFString: Any] {
    Dictionary(uniqueKeysWithValues: entries.map { ($0 as CFString, $1) })
}

/// A query or item of class genp.
func generic(_ more: [CFString: Any] = [:]) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword].merging(more) { $1 }
}

/// A query or item of class inet.
func internet(_ more: [CFString: Any] = [:]) -> [CFString: Any] {
    [kSecClass: kSecClassInternetPassword].merging(more) { $1 }
}
