public import Foundation
internal import KCByteStreams
internal import KCKeychainStore
internal import KCLocalKeychains

// For programs whose users do not run `kcbackup keychain`, such as services and programs in fresh containers.
extension KeychainClient {
    /// Creates the keychain that this process's calls use: the user's default keychain, unless `configure` has selected
    /// another one.
    ///
    /// The device key is created along with the first keychain. A keychain with a passcode is left unlocked, as after
    /// `unlock(passcode:)`.
    ///
    /// ```swift
    /// if try KeychainClient.status().state == .missing {
    ///     try KeychainClient.createDefaultKeychain(passcode: nil)
    /// }
    /// ```
    ///
    /// - Parameter passcode: the UTF-8 bytes of a passcode, or nil for none. Without a passcode, anyone with access to
    ///   the account can read every secret, and WhenPasscodeSetThisDeviceOnly items are refused.
    /// - Throws: `KeychainClientFailure.failed`, with `errSecDuplicateKeychain` if the keychain already exists.
    public static func createDefaultKeychain(passcode: Data?) throws(KeychainClientFailure) {
        try shared.create(passcode: passcode)
    }

    /// Creates the keychain if it does not exist, and unlocks it if it is locked and a passcode is given.
    ///
    /// ```swift
    /// try KeychainClient.openOrCreate(passcode: Data("correct horse battery staple".utf8))
    /// ```
    ///
    /// - Parameter passcode: as for `createDefaultKeychain(passcode:)` and `unlock(passcode:)`; with nil, a locked
    ///   keychain stays locked.
    /// - Throws: `KeychainClientFailure.failed`, with `errSecAuthFailed` for a wrong passcode.
    public static func openOrCreate(passcode: Data?) throws(KeychainClientFailure) {
        try shared.openOrCreate(passcode: passcode)
    }

    /// Unlocks the keychain for all programs of the user until it is locked or locks automatically, as `kcbackup
    /// keychain unlock` does.
    ///
    /// If the kernel refuses its key service, as in many containers, the keychain is unlocked for this process alone,
    /// until `lock()` is called or the process ends. The class keys are then kept in locked memory of this process and
    /// wiped afterwards.
    ///
    /// ```swift
    /// do {
    ///     try KeychainClient.unlock(passcode: Data("correct horse battery staple".utf8))
    /// } catch KeychainClientFailure.failed(errSecAuthFailed) {
    ///     print("wrong passcode")
    /// }
    /// ```
    ///
    /// - Parameter passcode: the UTF-8 bytes of the passcode; ignored if the keychain has none.
    /// - Throws: `KeychainClientFailure.failed`, with `errSecAuthFailed` for a wrong passcode; after several wrong
    ///   ones, for a time, every passcode fails.
    public static func unlock(passcode: Data) throws(KeychainClientFailure) {
        try shared.unlock(passcode: passcode)
    }

    /// Locks the keychain for all programs of the user, as `kcbackup keychain lock` does; a keychain without a passcode
    /// stays unlocked.
    ///
    /// ```swift
    /// try KeychainClient.lock()
    /// ```
    public static func lock() throws(KeychainClientFailure) {
        try shared.lockKeychain()
    }

    /// Returns which items of the keychain can be used now.
    ///
    /// ```swift
    /// let status = try KeychainClient.status()
    /// if status.state == .lockedUntilFirstUnlock { print("unlock the keychain first") }
    /// ```
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
                // Another program has created it in the meantime.
                guard error == .failed(errSecDuplicateKeychain) else { throw error }
                found = try status()
            }
        }
        if found.state != .unlocked, let passcode { try unlock(passcode: passcode) }
    }

    func unlock(passcode: Data) throws(KeychainClientFailure) {
        let passcode = GivenPasscode(SecretBytes(copying: passcode))
        try failing {
            try withKeychain(isChange: true) { keychain, configuration in
                try unlock(keychain, passcode: passcode, configuration)
            }
        }
    }

    /// The path of the keychain, whether or not it exists.
    func keychainPath() throws(KeychainClientFailure) -> String {
        try failing { try withPlace { local, _, _ in local.path } }
    }

    func check(passcode: GivenPasscode) throws(KeychainClientFailure) {
        try failing {
            try withKeychain(isChange: true) { keychain, configuration in
                let isUnlocked = keychain.isUnlocked
                // A keychain that this passcode opens is locked again, except for other calls of this process.
                try keychain.unlock(
                    passcode: passcode.bytes.copy(), now: configuration.clock(), remembering: passcode.memory)
                if !isUnlocked { keychain.lock() }
            }
        }
    }

    func lockKeychain() throws(KeychainClientFailure) {
        try failing {
            defer { dropKeysOfReads() }
            try withKeychain(isChange: true) { keychain, configuration in
                guard keychain.hasPasscode else { return }
                // If the kernel refuses, it holds no keys either; drop the keys of this process in any case.
                keychain.lock()
                try holdRemainingKeys(of: keychain)
                if try configuration.session.status(keychain, now: configuration.clock()).refusal != nil { return }
                try configuration.session.lock(keychain)
            }
        }
    }

    func status() throws(KeychainClientFailure) -> KeychainClientStatus {
        try failing {
            let isMissing = try withPlace { local, _, _ in try !Path.exists(local.path) }
            if isMissing { return KeychainClientStatus(state: .missing, hasPasscode: false, isShared: false) }
            return try withKeychain(isChange: false) { keychain, configuration in
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

    fileprivate static func secret(_ passcode: Data?) -> SecretBytes? {
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
