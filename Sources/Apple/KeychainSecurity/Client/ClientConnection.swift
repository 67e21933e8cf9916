internal import Foundation
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainStore
internal import KCLocalKeychains

/// A client's connection to its keychain, which threads use in order of arrival.
///
/// A client has one for calls that read and one for calls that change something, so that reads do not wait until changes
/// are durable.
final class ClientConnection: @unchecked Sendable {
    // The lock guards everything below: a keychain is not thread-safe.
    private let lock = FairLock()
    private var opened: Opened?
    private var abandoned: [Opened] = []

    private struct Opened {
        let keychain: Keychain
        let process: Int32
        let selection: Int
        /// Which of the keys that the process holds the keychain has.
        var holding = 0
    }

    // Writers in different processes take turns, and each of them needs as long as the disk does.
    private static let lockWait = Duration.seconds(60)

    /// Runs `body` while no other thread uses the connection.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try lock.withLock(body) }

    /// Runs `body` on the keychain with the unlocked class keys; called with the lock held.
    ///
    /// - Throws: `CallFailure` if there is no keychain, `KeychainStoreError`, and what `body` throws.
    func use<Result>(_ settings: ClientSettings, _ body: (Keychain) throws -> Result) throws -> Result {
        try use(keychain(settings), settings, body)
    }

    /// Makes the changes of `body` in one transaction; called with the lock held.
    ///
    /// Whether the keychain is still the same one, and unlocked, is found out after the wait for other processes.
    ///
    /// - Parameter settings: called after the wait, too.
    /// - Throws: as `use`; nothing is then changed.
    func change(
        _ settings: () throws -> ClientSettings, _ body: (KeychainBatch, Keychain, ClientSettings) throws -> Void
    ) throws {
        var isDone = false
        while !isDone {
            let keychain = try keychain(settings())
            do {
                try keychain.writeBatch { batch in
                    let current = try settings()
                    let isSelected = opened?.selection == current.selection
                    guard try isSelected && keychain.isInPlace else { throw OtherKeychain() }
                    try use(keychain, current) { keychain in try body(batch, keychain, current) }
                }
                isDone = true
            } catch is OtherKeychain {}
        }
    }

    /// The keychain was replaced, or another one was selected, during a wait.
    private struct OtherKeychain: Error {}

    /// Drops the class keys that this connection has, after the call in progress.
    func dropKeys() {
        lock.withLock {
            opened?.keychain.lock(untilFirstUnlock: true)
            opened?.holding = 0
        }
    }

    private func use<Result>(
        _ keychain: Keychain, _ settings: ClientSettings, _ body: (Keychain) throws -> Result
    ) throws -> Result {
        let configuration = settings.configuration
        if let held = settings.heldKeys, opened?.holding != held.number {
            try keychain.take(held.keys)
            opened?.holding = held.number
        }
        defer {
            // A later call asks for the passcode again.
            keychain.forgetPresence()
            if settings.heldKeys == nil { configuration.release(keychain) }
        }
        try configuration.resume?(keychain) ?? { _ = try configuration.session.resume(keychain) }()
        return try body(keychain)
    }

    private func keychain(_ settings: ClientSettings) throws -> Keychain {
        let process = ProcessInfo.processInfo.processIdentifier
        if let opened {
            if opened.process != process {
                // A child process must neither use nor close its parent's database connection
                // (sqlite.org/howtocorrupt.html, 2.6).
                abandoned.append(opened)
            } else if try opened.selection == settings.selection && opened.keychain.isInPlace {
                return opened.keychain
            }
            self.opened = nil
        }
        let configuration = settings.configuration
        let folder = configuration.dataFolder
        try folder.requireOwn()
        let local = try LocalKeychain(configuration.keychain, in: folder)
        let device = LocalDevice(folder, machineIDPath: configuration.machineIDPath)
        do {
            let keychain = try Keychain.open(at: local.path, deviceKey: device.key(), lockWait: Self.lockWait)
            opened = Opened(keychain: keychain, process: process, selection: settings.selection)
            return keychain
        } catch {
            switch error {
            case KeychainStoreError.notFound, DeviceKeyFailure.notFound:
                throw CallFailure(configuration.keychain == nil ? errSecNoDefaultKeychain : errSecNoSuchKeychain)
            default: throw error
            }
        }
    }
}
