internal import Cryptography
internal import DeviceIdentity
public import Foundation
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
    private let lock = FairLock()
    private var configuration: Configuration
    private var opened: Opened?
    private var abandoned: [Opened] = []
    private var passcodeSource: PasscodeSource?
    private let changes = ChangeQueue()

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
        /// What the user has unlocked.
        var session = KeychainSession()
        /// The work that one try of the passcode of a new keychain takes.
        var cost: ScryptCost? = Keychain.defaultCost
        /// Updates the class keys of a keychain from the session; nil for the session's own way.
        var resume: ((Keychain) throws -> Void)?
        /// Drops them again: between calls this process has no class key that needs a passcode.
        var release: (Keychain) -> Void = { keychain in
            if keychain.hasPasscode { keychain.lock(untilFirstUnlock: true) }
        }
    }

    private struct Opened {
        let keychain: Keychain
        let process: Int32
        /// True where the kernel keeps no class keys, and this process does between its calls.
        var holdsKeys = false
    }

    /// Gives the passcode of a keychain that is locked; nil to leave it so.
    public typealias PasscodeSource = @Sendable () -> Data?

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

    /// Sets the function that provides the passcode when a call needs a locked item; nil, the default, sets none.
    ///
    /// For programs without a user who unlocks the keychain, such as services in containers. A passcode that it
    /// gives unlocks the keychain as `unlock(passcode:)` does, and the call goes on; with nil the call fails with
    /// `errSecInteractionNotAllowed`, with a wrong passcode with `errSecAuthFailed`.
    ///
    /// ```swift
    /// KeychainClient.setPasscodeSource { try? Data(contentsOf: URL(filePath: "/run/credentials/mail/passcode")) }
    /// ```
    ///
    /// - Parameter source: called by any thread that makes a call, without `kSecUseAuthenticationUIFail` or `…Skip`.
    public static func setPasscodeSource(_ source: PasscodeSource?) { shared.setPasscodeSource(source) }

    /// Runs one call that reads, excluding other threads of this process; if it needs what is locked, the passcode source
    /// is asked, and the call is run again.
    ///
    /// - Parameter mayAsk: false to leave what is locked so.
    /// - Returns: `errSecSuccess`, or the status of the error.
    func read<Result>(
        mayAsk: Bool = true, _ body: (ItemCall) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        asking(mayAsk) {
            let groups = try lock.withLock { try accessGroups() }
            return try withKeychain { keychain, configuration, _ in
                try body(ItemCall(keychain: keychain, groups: groups, now: configuration.clock()))
            }
        }
    }

    /// Runs one call that changes the keychain, likewise; it is durable when this returns.
    ///
    /// `body` may run on another thread, together with the changes of that one and of others that wait.
    func change<Result>(
        mayAsk: Bool = true, _ body: (ItemCall, KeychainWriter) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        asking(mayAsk) {
            var result: Result?
            try withoutActuallyEscaping(body) { body in
                let change = PendingChange { call, writer in result = try body(call, writer) }
                changes.append(change)
                try lock.withLock {
                    if change.outcome == nil { commitChanges() }
                    try change.outcome?.get()
                }
            }
            guard let result else { throw CallFailure(errSecInternal) }
            return result
        }
    }

    /// Makes all changes that wait, in one transaction; called under the lock.
    private func commitChanges() {
        let waiting = changes.takeAll()
        do {
            let groups = try accessGroups()
            try withOpenKeychain { keychain, configuration, _ in
                try keychain.writeBatch { batch in
                    for change in waiting {
                        change.run(
                            ItemCall(keychain: keychain, groups: groups, now: configuration.clock()), in: batch)
                    }
                }
            }
        } catch {
            for change in waiting { change.fail(error) }
        }
    }

    private func asking<Result>(_ mayAsk: Bool, _ body: () throws -> Result) -> (status: OSStatus, result: Result?) {
        func attempt() -> (status: OSStatus, result: Result?) {
            do {
                return (errSecSuccess, try body())
            } catch {
                return (CallFailure(error).status, nil)
            }
        }
        let outcome = attempt()
        // Asked without the lock: the source may take its time, and may itself use the keychain's other calls.
        guard outcome.status == errSecInteractionNotAllowed, mayAsk, let source = lock.withLock({ passcodeSource }),
            let passcode = source()
        else { return outcome }
        do throws(KeychainClientFailure) {
            try unlock(passcode: passcode)
        } catch {
            return (error.status ?? errSecInternal, nil)
        }
        return attempt()
    }

    /// Runs `body` on the keychain with the class keys that are unlocked, excluding other threads of this process.
    ///
    /// `body` may say that this process is to hold the class keys between calls.
    func withKeychain<Result>(
        _ body: (Keychain, Configuration, _ holdsKeys: inout Bool) throws -> Result
    ) throws -> Result {
        try lock.withLock { try withOpenKeychain(body) }
    }

    private func withOpenKeychain<Result>(
        _ body: (Keychain, Configuration, _ holdsKeys: inout Bool) throws -> Result
    ) throws -> Result {
        let keychain = try keychain()
        try configuration.resume?(keychain) ?? { _ = try configuration.session.resume(keychain) }()
        var holdsKeys = opened?.holdsKeys ?? false
        defer {
            opened?.holdsKeys = holdsKeys
            if !holdsKeys { configuration.release(keychain) }
        }
        return try body(keychain, configuration, &holdsKeys)
    }

    /// Runs `body` with the place of the keychain, whether it is there or not, excluding other threads of this process.
    func withPlace<Result>(_ body: (LocalKeychain, DataFolder, Configuration) throws -> Result) throws -> Result {
        try lock.withLock {
            let folder = configuration.folder ?? Self.folderOfThisUser
            try folder.requireOwn()
            return try body(LocalKeychain(configuration.keychain, in: folder), folder, configuration)
        }
    }

    /// How many changes wait for their turn.
    var waitingChanges: Int { changes.count }

    /// Runs `body` while no call of this process makes progress.
    func whileLocked(_ body: () -> Void) { lock.withLock(body) }

    /// Sets what is asked for the passcode; nil to ask nothing.
    func setPasscodeSource(_ source: PasscodeSource?) { lock.withLock { passcodeSource = source } }

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
