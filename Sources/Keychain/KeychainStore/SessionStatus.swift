package import KernelKeyring
package import KeychainKeys
package import KeychainModel

/// What of a keychain can be read.
package enum LockState: Hashable, Sendable {
    /// Everything; a keychain without a passcode is always in this state.
    case unlocked
    /// What is readable after the first unlock, and Always items.
    case locked
    /// Always items alone: nobody has unlocked the keychain since the machine was started.
    case lockedUntilFirstUnlock
}

/// What can be said about the lock of a keychain without the passcode.
package struct SessionStatus: Hashable, Sendable {
    /// What can be read now.
    package let state: LockState
    /// True when a passcode was set.
    package let hasPasscode: Bool
    /// Seconds until it locks by itself, rounded down as the kernel does, to minutes, hours, days or weeks.
    ///
    /// Nil when it is locked, does not lock by itself, or the kernel does not tell.
    package let secondsUntilLock: Int?
    /// When it locks by itself.
    package let settings: LockSettings
    /// Wrong passcodes in a row.
    package let wrongPasscodeCount: Int
    /// Seconds until the next passcode is heard; nil when it is heard now.
    package let secondsUntilNextTry: Int?
    /// Why nothing stays unlocked between commands here; nil when it does.
    package let refusal: KeyRetentionFailure?
}

extension KeychainSession {
    /// Says how it stands with the lock, and changes nothing: the clock of an unlocked keychain runs on.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`, `cryptography`, `kernelKeys` when the kernel fails for another reason than that
    ///   it refuses.
    package func status(_ keychain: Keychain, now: Timestamp) throws(KeychainStoreError) -> SessionStatus {
        let attempts = try keychain.look { database throws(KeychainStoreError) in try Attempts(database) }
        let found = try find(keychain, wrongPasscodes: attempts.failed)
        let isRunning = found.state == .unlocked && keychain.hasPasscode && found.refusal == nil
        return SessionStatus(
            state: found.state, hasPasscode: keychain.hasPasscode,
            secondsUntilLock: isRunning ? retention.remainingSeconds(SessionPart.unlocked.name(keychain.storeID)) : nil,
            settings: keychain.lockSettings,
            wrongPasscodeCount: attempts.failed, secondsUntilNextTry: attempts.wait(now), refusal: found.refusal)
    }
}
