internal import DeviceIdentity
internal import Foundation
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// The keychain that this process works on, and the program as which it does.
///
/// Without a call of `configure` it is the user's default keychain, and the program's groups are those of
/// `NAME.entitlements` beside the executable, or its own name where there is no such file.
public final class KeychainClient: @unchecked Sendable {
    // Everything below is touched while the lock is held: a keychain belongs to one thread at a time.
    private let lock = NSLock()
    private var configuration: Configuration
    private var opened: Opened?
    private var abandoned: [Opened] = []

    /// The client of the functions `SecItem…`.
    static let shared = KeychainClient(Configuration())

    /// What a client works on; what is nil is looked up at the first call.
    struct Configuration {
        /// A name, or a path with a `/`.
        var keychain: String?
        var groups: AccessGroups?
        var folder: DataFolder?
        var machineIDPath = "/etc/machine-id"
        /// The time of day.
        var clock: () -> Timestamp = { Timestamp(Date()) ?? .reference }
        /// Brings the class keys of a keychain in line with the session that the user has unlocked.
        var resume: (Keychain) throws -> Void = { try KeychainSession().resume($0) }
        /// Forgets them again: between calls no class key that takes a passcode is in this process.
        var release: (Keychain) -> Void = { keychain in
            if keychain.hasPasscode { keychain.lock(untilFirstUnlock: true) }
        }
    }

    private struct Opened {
        let keychain: Keychain
        let process: Int32
    }

    // Writers of several processes take turns, and the lock knows no order among them.
    private static let lockWait = Duration.seconds(60)

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Chooses keychain and entitlements for all later calls of this process; best done at its start.
    ///
    /// - Parameters:
    ///   - keychain: a name as `kcbackup keychain list` shows it, or a path with a `/`; nil for the user's default.
    ///   - entitlements: the path of a property list with `keychain-access-groups` or `application-identifier`; nil for
    ///     `NAME.entitlements` beside the executable.
    /// - Throws: `KeychainClientFailure`, with nothing changed.
    public static func configure(
        keychain: String? = nil, entitlements: String? = nil
    ) throws(KeychainClientFailure) {
        var configuration = Configuration()
        if let keychain {
            guard (try? LocalKeychain(keychain, in: DataFolder(path: "/"))) != nil else { throw .keychainName }
            // A later change of the working folder must not lead to another keychain.
            let isRelative = keychain.contains("/") && !keychain.hasPrefix("/")
            configuration.keychain =
                isRelative ? FileManager.default.currentDirectoryPath + "/" + keychain : keychain
        }
        if let entitlements { configuration.groups = try Entitlements(contentsOf: entitlements).accessGroups }
        shared.lock.withLock {
            shared.configuration = configuration
            shared.opened = nil
        }
    }

    /// Runs one call on the keychain, alone among the threads of this process.
    ///
    /// - Returns: `errSecSuccess`, or the status of what was thrown.
    func perform<Result>(_ body: (ItemCall) throws -> Result) -> (status: OSStatus, result: Result?) {
        lock.withLock {
            do {
                let groups = try accessGroups()
                let keychain = try keychain()
                try configuration.resume(keychain)
                defer { configuration.release(keychain) }
                return (
                    errSecSuccess, try body(ItemCall(keychain: keychain, groups: groups, now: configuration.clock()))
                )
            } catch {
                return (CallFailure(error).status, nil)
            }
        }
    }

    private func accessGroups() throws -> AccessGroups {
        if let groups = configuration.groups { return groups }
        do {
            let groups = try Entitlements.groups(ofExecutable: Entitlements.executable())
            configuration.groups = groups
            return groups
        } catch {
            // A list that is there and says nothing that can be read entitles to nothing.
            throw CallFailure(errSecMissingEntitlement)
        }
    }

    private func keychain() throws -> Keychain {
        let process = ProcessInfo.processInfo.processIdentifier
        if let opened {
            if opened.process != process {
                // A child must not use, nor close, the database connection of its parent (sqlite.org/howtocorrupt.html, 2.6).
                abandoned.append(opened)
            } else if try opened.keychain.isInPlace {
                return opened.keychain
            }
            self.opened = nil
        }
        let folder = configuration.folder ?? Self.folderOfThisUser
        try folder.requireOwn()
        let local = try LocalKeychain(configuration.keychain, in: folder)
        let device = LocalDevice(folder, machineIDPath: configuration.machineIDPath)
        do {
            let keychain = try Keychain.open(at: local.path, deviceKey: device.key(), lockWait: Self.lockWait)
            opened = Opened(keychain: keychain, process: process)
            return keychain
        } catch {
            switch error {
            case KeychainStoreError.notFound, DeviceKeyFailure.notFound:
                throw CallFailure(configuration.keychain == nil ? errSecNoDefaultKeychain : errSecNoSuchKeychain)
            default: throw error
            }
        }
    }

    private static var folderOfThisUser: DataFolder {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return DataFolder(environment: environment, home: home)
    }
}
