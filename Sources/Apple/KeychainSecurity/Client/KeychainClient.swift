internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
public import Foundation
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// Selects the keychain that this process uses, and its entitlements.
///
/// ```swift
/// try KeychainClient.configure(keychain: "work")
/// ```
///
/// The default is the user's default keychain. The default access groups are those in `NAME.entitlements` next to the
/// executable, or the program's own name if there is no such file.
public final class KeychainClient: @unchecked Sendable {
    // The lock guards everything below: a keychain is not thread-safe.
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
        /// The cost of one try of a new keychain's passcode.
        var cost: ScryptCost? = Keychain.defaultCost
        /// Updates the class keys of a keychain from the session; nil to use the session's own method.
        var resume: ((Keychain) throws -> Void)?
        /// Drops the class keys again: between calls, this process holds no class key that needs a passcode.
        var release: (Keychain) -> Void = { keychain in
            if keychain.hasPasscode { keychain.lock(untilFirstUnlock: true) }
        }
    }

    private struct Opened {
        let keychain: Keychain
        let process: Int32
        /// True if the kernel cannot keep the class keys, so that this process keeps them between calls.
        var holdsKeys = false
    }

    /// Returns the passcode of a locked keychain, or nil to leave it locked.
    public typealias PasscodeSource = @Sendable () -> Data?

    // Writers in different processes take turns, and the lock between them is not fair.
    private static let lockWait = Duration.seconds(60)

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Selects the keychain and the entitlements for all later calls in this process; call it at startup.
    ///
    /// ```swift
    /// try KeychainClient.configure(
    ///     keychain: "/home/ada/keys/work.keychain", entitlements: "/usr/share/mail/mail.entitlements")
    /// ```
    ///
    /// - Parameters:
    ///   - keychain: a name as shown by `kcbackup keychain list`, or a path that contains a `/`; nil for the user's
    ///     default keychain.
    ///   - entitlements: the path of a property list with `keychain-access-groups` or `application-identifier`; nil for
    ///     `NAME.entitlements` next to the executable.
    /// - Throws: `KeychainClientFailure`; the selection is then unchanged.
    public static func configure(
        keychain: String? = nil, entitlements: String? = nil
    ) throws(KeychainClientFailure) {
        var configuration = Configuration()
        if let keychain {
            guard (try? LocalKeychain(keychain, in: DataFolder(path: "/"))) != nil else { throw .keychainName }
            // Make the path absolute, so that a later change of the working directory does not select another keychain.
            let isRelative = keychain.exact.contains("/") && !keychain.exact.hasPrefix("/")
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
    /// This is for programs that run without a user to unlock the keychain, such as services in containers. If the
    /// function returns a passcode, it unlocks the keychain as `unlock(passcode:)` does, and the call continues. If it
    /// returns nil, the call fails with `errSecInteractionNotAllowed`; if the passcode is wrong, with
    /// `errSecAuthFailed`.
    ///
    /// ```swift
    /// KeychainClient.setPasscodeSource { try? Data(contentsOf: URL(filePath: "/run/credentials/mail/passcode")) }
    /// ```
    ///
    /// - Parameter source: called on any thread that makes a call, unless the call has `kSecUseAuthenticationUIFail` or
    ///   `…Skip`.
    public static func setPasscodeSource(_ source: PasscodeSource?) { shared.setPasscodeSource(source) }

    /// Runs one call that reads, excluding other threads of this process.
    ///
    /// If the call needs a locked item, the passcode source is asked, and the call is run again.
    ///
    /// - Parameter route: who is asked.
    /// - Returns: `errSecSuccess`, or the status of the error.
    func read<Result>(
        asking route: PasscodeRoute = PasscodeRoute(), _ body: (ItemCall) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        asking(route) { passcode in
            let groups = try lock.withLock { try accessGroups() }
            return try withKeychain { keychain, configuration, holdsKeys in
                if let passcode { try configuration.unlock(keychain, passcode: passcode, &holdsKeys) }
                return try body(ItemCall(keychain: keychain, groups: groups, now: configuration.clock()))
            }
        }
    }

    /// Runs one call that changes the keychain, under the same rules as `read`.
    ///
    /// The change is durable when this returns. `body` may run on another thread, in one transaction with other pending
    /// changes.
    func change<Result>(
        asking route: PasscodeRoute = PasscodeRoute(), _ body: (ItemCall, KeychainWriter) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        asking(route) { passcode in
            var result: Result?
            try withoutActuallyEscaping(body) { body in
                let change = PendingChange { call, writer in result = try body(call, writer) }
                if let passcode {
                    // Alone, since the passcode was given for no other change.
                    try lock.withLock {
                        commit([change], passcode: passcode)
                        try change.outcome?.get()
                    }
                } else {
                    changes.append(change)
                    try lock.withLock {
                        if change.outcome == nil { commit(changes.takeAll()) }
                        try change.outcome?.get()
                    }
                }
            }
            guard let result else { throw CallFailure(errSecInternal) }
            return result
        }
    }

    /// Makes changes in one transaction; called with the lock held.
    private func commit(_ waiting: [PendingChange], passcode: Data? = nil) {
        do {
            let groups = try accessGroups()
            try withOpenKeychain { keychain, configuration, holdsKeys in
                if let passcode { try configuration.unlock(keychain, passcode: passcode, &holdsKeys) }
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

    private func asking<Result>(
        _ route: PasscodeRoute, _ body: (_ passcode: Data?) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        func attempt(_ passcode: Data?) -> (status: OSStatus, result: Result?) {
            do {
                return (errSecSuccess, try body(passcode))
            } catch {
                return (CallFailure(error).status, nil)
            }
        }
        let outcome = attempt(nil)
        guard outcome.status == errSecInteractionNotAllowed else { return outcome }
        // The lock is not held here: who is asked may be slow, and may itself make keychain calls.
        if let context = route.context {
            do throws(AuthenticationRefusal) {
                return attempt(try context.passcode(mayAsk: route.mayAsk))
            } catch {
                return (error.status, nil)
            }
        }
        guard route.mayAsk, let source = currentPasscodeSource, let passcode = source() else { return outcome }
        return attempt(passcode)
    }

    /// Runs `body` on the keychain with the unlocked class keys, excluding other threads of this process.
    ///
    /// `body` may set `holdsKeys` to keep the class keys in this process between calls.
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
            // A later call asks for the passcode again.
            keychain.forgetPresence()
            if !holdsKeys { configuration.release(keychain) }
        }
        return try body(keychain, configuration, &holdsKeys)
    }

    /// Runs `body` with the location of the keychain, whether or not it exists, excluding other threads of this
    /// process.
    func withPlace<Result>(_ body: (LocalKeychain, DataFolder, Configuration) throws -> Result) throws -> Result {
        try lock.withLock {
            let folder = configuration.folder ?? Self.folderOfThisUser
            try folder.requireOwn()
            return try body(LocalKeychain(configuration.keychain, in: folder), folder, configuration)
        }
    }

    /// The number of changes that wait for their turn.
    var waitingChanges: Int { changes.count }

    /// Runs `body` while no call in this process makes progress.
    func whileLocked(_ body: () -> Void) { lock.withLock(body) }

    /// The passcode source; nil for none.
    var currentPasscodeSource: PasscodeSource? { lock.withLock { passcodeSource } }

    /// Sets the passcode source; nil for none.
    func setPasscodeSource(_ source: PasscodeSource?) { lock.withLock { passcodeSource = source } }

    private func accessGroups() throws -> AccessGroups {
        if let groups = configuration.groups { return groups }
        do {
            let groups = try Entitlements.groups(ofExecutable: Entitlements.executable())
            configuration.groups = groups
            return groups
        } catch {
            // A file that exists but is invalid grants no access groups.
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
        let home = environment["HOME"].flatMap { $0.exact.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return DataFolder(environment: environment, home: home)
    }
}
