public import Foundation
internal import KCByteStreams
internal import KCCryptography
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
    private let settingsLock = NSLock()
    private var settings: ClientSettings
    /// For calls that only read; they see all changes that were answered before.
    private let reading = ClientConnection()
    /// For calls that change something.
    private let writing = ClientConnection()
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
        /// The keychains that the user has unlocked.
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

    /// Returns the passcode of a locked keychain, or nil to leave it locked.
    public typealias PasscodeSource = @Sendable () -> Data?

    init(_ configuration: Configuration) {
        settings = ClientSettings(configuration)
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
        shared.withSettings { $0.select(configuration) }
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

    /// Runs one call that reads; it does not wait for calls that change something.
    ///
    /// If the call needs a locked item, the passcode source is asked, and the call is run again.
    ///
    /// - Parameter route: who is asked.
    /// - Returns: `errSecSuccess`, or the status of the error.
    func read<Result>(
        asking route: PasscodeRoute = PasscodeRoute(), _ body: (ItemCall) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        asking(route) { passcode in
            try reading.withLock {
                let (settings, groups) = try settingsWithGroups()
                return try reading.use(settings) { keychain in
                    if let passcode { try unlock(keychain, passcode: passcode, settings.configuration) }
                    return try body(
                        ItemCall(keychain: keychain, groups: groups, now: settings.configuration.clock()))
                }
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
            // The compiler keeps the length of the file's path for its check at run time: builds elsewhere would differ.
            #sourceLocation(file:"KeychainClient",line:1)
            try withoutActuallyEscaping(body) { body in
                let change = PendingChange { call, writer in result = try body(call, writer) }
                if let passcode {
                    // Alone, since the passcode was given for no other change.
                    try writing.withLock { try commit(change, passcode: passcode) }
                } else {
                    changes.append(change)
                    try writing.withLock {
                        if change.outcome == nil { commitAll() }
                        try change.outcome?.get()
                    }
                }
            }
            #sourceLocation()
            guard let result else { throw CallFailure(errSecInternal) }
            return result
        }
    }

    /// Makes all pending changes in one transaction; called with the lock for changes held.
    private func commitAll() {
        // If there is no transaction, these fail.
        var taken = changes.takeAll()
        do {
            try writing.change({ try settingsWithGroups().settings }) { batch, keychain, settings in
                let groups = try settingsWithGroups().groups
                // Changes that came while other processes had their turn need not wait for the next transaction.
                taken += changes.takeAll()
                for change in taken {
                    let now = settings.configuration.clock()
                    change.run(ItemCall(keychain: keychain, groups: groups, now: now), in: batch)
                }
            }
        } catch {
            for change in taken { change.fail(error) }
        }
    }

    /// Makes one change, for which the user gave the passcode; called with the lock for changes held.
    private func commit(_ change: PendingChange, passcode: GivenPasscode) throws {
        let (settings, groups) = try settingsWithGroups()
        try writing.use(settings) { keychain in
            try unlock(keychain, passcode: passcode, settings.configuration)
            try keychain.writeBatch { batch in
                change.run(ItemCall(keychain: keychain, groups: groups, now: settings.configuration.clock()), in: batch)
            }
        }
        try change.outcome?.get()
    }

    private func asking<Result>(
        _ route: PasscodeRoute, _ body: (_ passcode: GivenPasscode?) throws -> Result
    ) -> (status: OSStatus, result: Result?) {
        func attempt(_ passcode: GivenPasscode?) -> (status: OSStatus, result: Result?) {
            do {
                return (errSecSuccess, try body(passcode))
            } catch {
                return (CallFailure(error).status, nil)
            }
        }
        func attempt(with context: any AuthenticationContext, mayAsk: Bool) -> (status: OSStatus, result: Result?) {
            do throws(AuthenticationRefusal) {
                let passcode = try context.passcode(mayAsk: mayAsk)
                let outcome = attempt(passcode)
                if outcome.status == errSecAuthFailed { context.forget(passcode) }
                return outcome
            } catch {
                return (error.status, nil)
            }
        }
        // A call that skips locked items does not fail because of one, but what the context opens is not locked.
        if let context = route.context, route.skipsLocked {
            let outcome = attempt(with: context, mayAsk: false)
            if outcome.status != errSecInteractionNotAllowed { return outcome }
        }
        let outcome = attempt(nil)
        guard outcome.status == errSecInteractionNotAllowed else { return outcome }
        // No lock is held here: who is asked may be slow, and may itself make keychain calls.
        if let context = route.context { return attempt(with: context, mayAsk: route.mayAsk) }
        guard route.mayAsk, let source = currentPasscodeSource, let passcode = source() else { return outcome }
        return attempt(GivenPasscode(SecretBytes(copying: passcode)))
    }

    /// Runs `body` on the keychain with the unlocked class keys.
    ///
    /// - Parameter isChange: false to run it beside changes in progress.
    func withKeychain<Result>(
        isChange: Bool, _ body: (Keychain, Configuration) throws -> Result
    ) throws -> Result {
        let connection = isChange ? writing : reading
        return try connection.withLock {
            let settings = withSettings { $0 }
            return try connection.use(settings) { keychain in try body(keychain, settings.configuration) }
        }
    }

    /// Runs `body` with the location of the keychain, whether or not it exists, while no thread changes it.
    func withPlace<Result>(_ body: (LocalKeychain, DataFolder, Configuration) throws -> Result) throws -> Result {
        try writing.withLock {
            let configuration = withSettings { $0.configuration }
            let folder = configuration.dataFolder
            try folder.requireOwn()
            return try body(LocalKeychain(configuration.keychain, in: folder), folder, configuration)
        }
    }

    /// Unlocks the keychain of a call, for other programs too unless the kernel refuses.
    func unlock(_ keychain: Keychain, passcode: GivenPasscode, _ configuration: Configuration) throws {
        let now = configuration.clock()
        try configuration.session.unlock(
            keychain, passcode: passcode.bytes.copy(), now: now, remembering: passcode.memory)
        let isRefused = try keychain.hasPasscode && configuration.session.status(keychain, now: now).refusal != nil
        let held = isRefused ? try keychain.heldKeys() : nil
        withSettings { $0.hold(held) }
    }

    /// Replaces the class keys that this process keeps, if it keeps any, by those that `keychain` still has; called while
    /// the keychain is being locked.
    func holdRemainingKeys(of keychain: Keychain) throws {
        guard withSettings({ $0.heldKeys }) != nil else { return }
        let held = try keychain.heldKeys()
        withSettings { $0.hold(held) }
    }

    /// Waits for the reads in progress, which may have keys that are no longer to be used.
    func dropKeysOfReads() { reading.dropKeys() }

    /// How many changes threads have asked for, those that still wait included.
    var queuedChanges: Int { changes.total }

    /// Runs `body` while no change in this process makes progress.
    func whileChangesWait(_ body: () throws -> Void) rethrows { try writing.withLock(body) }

    /// The passcode source; nil for none.
    var currentPasscodeSource: PasscodeSource? { withSettings { $0.passcodeSource } }

    /// Sets the passcode source; nil for none.
    func setPasscodeSource(_ source: PasscodeSource?) { withSettings { $0.passcodeSource = source } }

    private func withSettings<Result>(_ body: (inout ClientSettings) throws -> Result) rethrows -> Result {
        try settingsLock.withLock { try body(&settings) }
    }

    private func settingsWithGroups() throws -> (settings: ClientSettings, groups: AccessGroups) {
        try withSettings { settings in
            if let groups = settings.configuration.groups { return (settings, groups) }
            do {
                let groups = try Entitlements.groups(ofExecutable: Entitlements.executable())
                settings.configuration.groups = groups
                return (settings, groups)
            } catch {
                // A file that exists but is invalid grants no access groups.
                throw CallFailure(errSecMissingEntitlement)
            }
        }
    }
}

extension KeychainClient.Configuration {
    /// The folder of the user's keychains.
    var dataFolder: DataFolder {
        if let folder { return folder }
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].flatMap { $0.exact.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return DataFolder(environment: environment, home: home)
    }
}
