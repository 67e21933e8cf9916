package import KCKernelKeyring
package import KCKeychainKeys
package import KCKeychainModel

/// Which items of a keychain can be read.
package enum LockState: Hashable, Sendable {
    /// Everything; a keychain without a passcode is always in this state.
    case unlocked
    /// Items that are readable after the first unlock, and Always items.
    case locked
    /// Only Always items: the keychain has not been unlocked since boot.
    case lockedUntilFirstUnlock
}

/// The lock status of a keychain; needs no passcode.
package struct SessionStatus: Hashable, Sendable {
    /// The items that can be read now.
    package let state: LockState
    /// True if a passcode was set.
    package let hasPasscode: Bool
    /// Seconds until it locks automatically, rounded down as the kernel does, to minutes, hours, days or weeks.
    ///
    /// Nil if it is locked or does not lock automatically, or if the kernel does not say.
    package let secondsUntilLock: Int?
    /// When it locks automatically.
    package let settings: LockSettings
    /// The number of wrong passcodes in a row.
    package let wrongPasscodeCount: Int
    /// Seconds until the next passcode attempt is allowed; nil if it is allowed now.
    package let secondsUntilNextTry: Int?
    /// Why this system keeps nothing unlocked between commands; nil if it does.
    package let refusal: KeyRetentionFailure?
}

extension KeychainSession {
    /// Reads the lock status without restarting the idle timeout.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`, `cryptography`, `kernelKeys` if the kernel fails other than by denying
    ///   access.
    package func status(_ keychain: Keychain, now: Timestamp) throws(KeychainStoreError) -> SessionStatus {
        let attempts = try keychain.withReadTransaction { database throws(KeychainStoreError) in try Attempts(database)
        }
        let found = try find(keychain, wrongPasscodes: attempts.failed)
        let isRunning = found.state == .unlocked && keychain.hasPasscode && found.refusal == nil
        return SessionStatus(
            state: found.state, hasPasscode: keychain.hasPasscode,
            secondsUntilLock: isRunning ? retention.remainingSeconds(SessionPart.unlocked.name(keychain.storeID)) : nil,
            settings: keychain.lockSettings,
            wrongPasscodeCount: attempts.failed, secondsUntilNextTry: attempts.wait(now), refusal: found.refusal)
    }
}
