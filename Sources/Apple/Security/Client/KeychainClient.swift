internal import DeviceIdentity
internal import Foundation
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// Selects the keychain that this process uses, and its entitlements.
///
/// ```swift
/// try KeychainClient.configure(keychain: "work")
/// ```
///
/// By default it is the user's default keychain, and the program's access groups are those of `NAME.entitlements` next
/// to the executable, or its own name if there is no such file.
public final class KeychainClient: @unchecked Sendable {
    // Everything below is accessed under the lock: a keychain is not thread-safe.
    private let lock = NSLock()
    private var configuration: Configuration
    private var opened: Opened?
    private var abandoned: [Opened] = []

    /// The client used by the `SecItem…` functions.
    static let shared = KeychainClient(Configuration())

    /// The configuration of a client; nil values are looked up at the first call.
    struct Configuration {
        /// A name, or a path that contains a `/`.
        var keychain: String?
        var groups: AccessGroups?
        var folder: DataFolder?
        var machineIDPath = "/etc/machine-id"
        /// The time of day.
        var clock: () -> Timestamp = { Timestamp(Date()) ?? .reference }
        /// Updates the class keys of a keychain from the session that the user has unlocked.
        var resume: (Keychain) throws -> Void = { try KeychainSession().resume($0) }
        /// Drops them again: between calls this process has no class key that needs a passcode.
        var release: (Keychain) -> Void = { keychain in
            if keychain.hasPasscode { keychain.lock(untilFirstUnlock: true) }
        }
    }

    private struct Opened {
        let keychain: Keychain
        let process: Int32
    }

    // Writers in several processes take turns, and the lock is not fair.
    private static let lockWait = Duration.seconds(60)

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Selects keychain and entitlements for all later calls of this process; best called at its start.
    ///
    /// ```swift
    /// try KeychainClient.configure(
    ///     keychain: "/home/ada/keys/work.keychain", entitlements: "/usr/share/mail/mail.entitlements")
    /// ```
    ///
    /// - Parameters:
    ///   - keychain: a name as `kcbackup keychain list` shows it, or a path that contains a `/`; nil for the user's
    ///     default.
    ///   - entitlements: the path of a property list with `keychain-access-groups` or `application-identifier`; nil for
    ///     `NAME.entitlements` next to the executable.
    /// - Throws: `KeychainClientFailure`; nothing is changed then.
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

    /// Runs one call on the keychain, excluding other threads of this process.
    ///
    /// - Returns: `errSecSuccess`, or the status of the error.
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
            // A list that exists but cannot be understood grants nothing.
            throw CallFailure(errSecMissingEntitlement)
        }
    }

    private func keychain() throws -> Keychain {
        let process = ProcessInfo.processInfo.processIdentifier
        if let opened {
            if opened.process != process {
                // A child process must neither use nor close its parent's database connection
                // (sqlite.org/howtocorrupt.html, 2.6).
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
