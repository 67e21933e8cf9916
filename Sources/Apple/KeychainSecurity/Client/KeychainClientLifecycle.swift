internal import ByteStreams
public import Foundation
internal import KeychainStore
internal import LocalKeychains

// What a program does for a user who does not run `kcbackup keychain`: in a fresh container, as a service.
extension KeychainClient {
    /// Makes the keychain that the calls of this process use, which is the user's default one unless `configure` has
    /// named another, and with the first keychain the key of this device.
    ///
    /// With a passcode it is unlocked afterwards, as by `unlock(passcode:)`.
    ///
    /// ```swift
    /// if try KeychainClient.status().state == .missing {
    ///     try KeychainClient.createDefaultKeychain(passcode: nil)
    /// }
    /// ```
    ///
    /// - Parameter passcode: the UTF-8 bytes of a passcode; nil for no passcode: anybody with access to the account can
    ///   then read every secret, and WhenPasscodeSetThisDeviceOnly items are refused.
    /// - Throws: `KeychainClientFailure.failed`, with `errSecDuplicateKeychain` if it is there already.
    public static func createDefaultKeychain(passcode: Data?) throws(KeychainClientFailure) {
        try shared.create(passcode: passcode)
    }

    /// Makes the keychain if it is not there, and unlocks it if it is locked and a passcode is given.
    ///
    /// ```swift
    /// try KeychainClient.openOrCreate(passcode: Data("correct horse battery staple".utf8))
    /// ```
    ///
    /// - Parameter passcode: as for `createDefaultKeychain(passcode:)` and `unlock(passcode:)`; with nil, a keychain that
    ///   is locked stays so.
    /// - Throws: `KeychainClientFailure.failed`, with `errSecAuthFailed` for a wrong passcode.
    public static func openOrCreate(passcode: Data?) throws(KeychainClientFailure) {
        try shared.openOrCreate(passcode: passcode)
    }

    /// Unlocks the keychain for all programs of the user, until it locks by itself or is locked, as
    /// `kcbackup keychain unlock` does.
    ///
    /// Where the kernel refuses its key service, as in many containers, it is unlocked for this process alone, until
    /// `lock()` or the end of the process; the class keys are then in memory of the process that is locked and wiped.
    ///
    /// ```swift
    /// do {
    ///     try KeychainClient.unlock(passcode: Data("correct horse battery staple".utf8))
    /// } catch KeychainClientFailure.failed(errSecAuthFailed) {
    ///     print("wrong passcode")
    /// }
    /// ```
    ///
    /// - Parameter passcode: the UTF-8 bytes; ignored if the keychain has no passcode.
    /// - Throws: `KeychainClientFailure.failed`, with `errSecAuthFailed` for a wrong passcode, and after several wrong
    ///   ones for a time for any.
    public static func unlock(passcode: Data) throws(KeychainClientFailure) {
        try shared.unlock(passcode: passcode)
    }

    /// Locks the keychain for all programs of the user, as `kcbackup keychain lock` does; one without a passcode stays
    /// unlocked.
    ///
    /// ```swift
    /// try KeychainClient.lock()
    /// ```
    ///
    /// - Throws: `KeychainClientFailure.failed`.
    public static func lock() throws(KeychainClientFailure) {
        try shared.lockKeychain()
    }

    /// What of the keychain can be used now.
    ///
    /// ```swift
    /// let status = try KeychainClient.status()
    /// if status.state == .lockedUntilFirstUnlock { print("unlock the keychain first") }
    /// ```
    ///
    /// - Throws: `KeychainClientFailure.failed`.
    public static func status() throws(KeychainClientFailure) -> KeychainClientStatus {
        try shared.status()
    }
}

extension KeychainClient {
    func create(passcode: Data?) throws(KeychainClientFailure) {
        try failing {
            try withPlace { local, folder, configuration in
                let device = LocalDevice(folder, machineIDPath: configuration.machineIDPath)
                let new = NewKeychain(
                    local, in: folder, on: device, cost: configuration.cost, now: configuration.clock())
                _ = try new.make(passcode: Self.secret(passcode))
            }
        }
        if let passcode { try unlock(passcode: passcode) }
    }

    func openOrCreate(passcode: Data?) throws(KeychainClientFailure) {
        var found = try status()
        if found.state == .missing {
            do throws(KeychainClientFailure) {
                return try create(passcode: passcode)
            } catch {
                // Another program has made it since.
                guard error == .failed(errSecDuplicateKeychain) else { throw error }
                found = try status()
            }
        }
        if found.state != .unlocked, let passcode { try unlock(passcode: passcode) }
    }

    func unlock(passcode: Data) throws(KeychainClientFailure) {
        try failing {
            try withKeychain { keychain, configuration, holdsKeys in
                let (session, now) = (configuration.session, configuration.clock())
                try session.unlock(keychain, passcode: Self.secret(passcode), now: now)
                holdsKeys = try keychain.hasPasscode && session.status(keychain, now: now).refusal != nil
            }
        }
    }

    func lockKeychain() throws(KeychainClientFailure) {
        try failing {
            try withKeychain { keychain, configuration, _ in
                guard keychain.hasPasscode else { return }
                // Where the kernel refuses, it has nothing either; the keys of this process go in any case.
                keychain.lock()
                if try configuration.session.status(keychain, now: configuration.clock()).refusal != nil { return }
                try configuration.session.lock(keychain)
            }
        }
    }

    func status() throws(KeychainClientFailure) -> KeychainClientStatus {
        try failing {
            let isMissing = try withPlace { local, _, _ in try !Path.exists(local.path) }
            if isMissing { return KeychainClientStatus(state: .missing, hasPasscode: false, isShared: false) }
            return try withKeychain { keychain, configuration, _ in
                let found = try configuration.session.status(keychain, now: configuration.clock())
                let state: KeychainClientStatus.State =
                    switch found.state {
                    case .unlocked: .unlocked
                    case .locked: .locked
                    case .lockedUntilFirstUnlock: .lockedUntilFirstUnlock
                    }
                return KeychainClientStatus(
                    state: state, hasPasscode: found.hasPasscode, isShared: found.refusal == nil)
            }
        }
    }

    private static func secret(_ passcode: Data?) -> SecretBytes? {
        guard let passcode else { return nil }
        return SecretBytes(copying: passcode)
    }

    private func failing<Result>(_ body: () throws -> Result) throws(KeychainClientFailure) -> Result {
        do {
            return try body()
        } catch {
            throw .failed(CallFailure(error).status)
        }
    }
}
