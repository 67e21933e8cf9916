package import KCByteStreams
package import KCCryptography
package import KCKernelKeyring
package import KCKeychainKeys
package import KCKeychainModel

/// Keeps keychains unlocked between commands, by storing wrapped class keys in kernel memory.
///
/// Other processes may lock, unlock or change the passcode between any two calls. Storing or replacing keys in the
/// kernel happens under the keychain's lock; locking needs no lock. If the kernel denies its key service
/// (`SessionStatus.refusal`), nothing is stored, and a keychain is unlocked only while its object lives.
package struct KeychainSession: Sendable {
    let retention: any KeyRetention
    let suspendedTime: @Sendable () -> Int64

    /// Uses this key store and clock.
    ///
    /// - Parameter suspendedTime: milliseconds that the machine has been suspended since boot.
    package init(
        retention: any KeyRetention = KernelKeyring(),
        suspendedTime: @escaping @Sendable () -> Int64 = { SuspendedTime.milliseconds() }
    ) {
        self.retention = retention
        self.suspendedTime = suspendedTime
    }

    /// Gives a keychain exactly the class keys that are unlocked now, and restarts its idle timeout.
    ///
    /// Keys that the object has and the session does not are dropped. Stored keys that are no longer valid (an older
    /// passcode, a suspended machine, too many wrong passcodes, another program's data) are revoked. If the kernel
    /// denies access, the object is unchanged.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`, `cryptography`, `kernelKeys` if the kernel fails other than by denying
    ///   access.
    @discardableResult
    package func resume(_ keychain: Keychain) throws(KeychainStoreError) -> LockState {
        let failed = try keychain.withReadTransaction { database throws(KeychainStoreError) in
            try Attempts(database).failed
        }
        var found = try find(keychain, wrongPasscodes: failed)
        if !found.invalid.isEmpty {
            // Another process may be changing the passcode and session, so check again under the lock.
            found = try keychain.change { database throws(KeychainStoreError) in
                let found = try find(keychain, wrongPasscodes: Attempts(database).failed)
                for part in found.invalid { try revoke(part, keychain) }
                return found
            }
        }
        if found.refusal != nil { return found.state }
        keychain.lock(untilFirstUnlock: true)
        keychain.classKeys.merge(found.keys)
        if found.state == .unlocked, keychain.hasPasscode {
            try restartClock(keychain)
        }
        return found.state
    }

    /// Gives a keychain the class keys that are unlocked now, without restarting its idle timeout: to look at it is not to
    /// use it.
    ///
    /// Stored keys that are no longer valid are passed over, and left for `resume` to revoke.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`, `cryptography`, `kernelKeys` if the kernel fails other than by denying access.
    package func peek(_ keychain: Keychain) throws(KeychainStoreError) {
        let failed = try keychain.withReadTransaction { database throws(KeychainStoreError) in
            try Attempts(database).failed
        }
        let found = try find(keychain, wrongPasscodes: failed)
        if found.refusal == nil { keychain.classKeys.merge(found.keys) }
    }

    /// Opens all class keys and stores them for later commands; if the kernel denies access, for this object only.
    ///
    /// - Parameters:
    ///   - passcode: ignored, and nothing is stored, if the keychain has none.
    ///   - keepsSession: false for a single command that brings its passcode. Wrong ones count in any case: after five
    ///     in a row, stored keys are revoked.
    ///   - memory: as for `Keychain.unlock`.
    /// - Throws: as `Keychain.unlock`, `busy` if the passcode was changed in between, `kernelKeys` if the kernel fails
    ///   other than by denying access; the object is then unlocked.
    package func unlock(
        _ keychain: Keychain, passcode: borrowing SecretBytes?, now: Timestamp, keepsSession: Bool = true,
        remembering memory: PasscodeMemory? = nil
    ) throws(KeychainStoreError) {
        do throws(KeychainStoreError) {
            try keychain.unlock(passcode: passcode, now: now, remembering: memory)
        } catch {
            try revokeIfGuessed(error, keychain)
            throw error
        }
        guard keepsSession, keychain.hasPasscode else { return }
        try keep(keychain, openedAs: keychain.keybag, now: now)
    }

    /// Stores all class keys of an object, unless its keybag has changed since it was opened with the passcode.
    ///
    /// - Throws: `busy` if it has, and as `unlock` for the kernel.
    func keep(_ keychain: Keychain, openedAs keybag: Keybag, now: Timestamp) throws(KeychainStoreError) {
        try keychain.change { database throws(KeychainStoreError) in
            guard keychain.keybag.hasKeys(of: keybag) else { throw .busy }
            // The count of wrong passcodes must be reset first, since a high one ends sessions.
            if try Attempts(database).failed > 0 { try Attempts(failed: 0, last: now).write(database) }
            // This order, so that no process finds 'unlocked' without the other.
            for part in [SessionPart.firstUnlock, .unlocked] { try keep(part, keychain) }
        }
    }

    /// Locks a keychain for every process, or with `untilFirstUnlock` as after a boot.
    ///
    /// The object drops its keys in any case. Keys that a running command has already read live as long as it does.
    ///
    /// - Throws: `kernelKeys` if the kernel does not revoke the stored keys, or denies access: they may then still
    ///   exist.
    package func lock(_ keychain: Keychain, untilFirstUnlock: Bool = false) throws(KeychainStoreError) {
        keychain.lock(untilFirstUnlock: untilFirstUnlock)
        var failure: KeychainStoreError?
        for part in untilFirstUnlock ? [SessionPart.unlocked, .firstUnlock] : [.unlocked] {
            do throws(KeychainStoreError) {
                try revoke(part, keychain)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Sets, changes or removes the passcode as `Keychain.setPasscode` does; the keychain stays unlocked.
    ///
    /// A keychain that had no passcode is locked until its first unlock. Removing the passcode also destroys the class
    /// key of WhenPasscodeSetThisDeviceOnly items in the kernel.
    ///
    /// - Returns: as `Keychain.setPasscode`.
    /// - Throws: as `Keychain.setPasscode`, and `kernelKeys` if the kernel fails other than by denying access; the
    ///   passcode is then unchanged.
    @discardableResult
    package func setPasscode(
        _ keychain: Keychain, current: borrowing SecretBytes?, new: borrowing SecretBytes?,
        countedBy counter: PasscodeCounter? = nil, cost: ScryptCost? = Keychain.defaultCost, now: Timestamp,
        step: () -> Void = {}
    ) throws(KeychainStoreError) -> PasscodeChange {
        do throws(KeychainStoreError) {
            return try keychain.setPasscode(
                current: current, new: new, countedBy: counter, cost: cost, now: now, step: step
            ) {
                keybag, keys throws(KeychainStoreError) in
                try rewrapSession(keychain, to: keybag, keys)
            }
        } catch {
            try revokeIfGuessed(error, keychain)
            throw error
        }
    }

    /// Changes when a keychain locks automatically, as `Keychain.setLockSettings` does, including the running session.
    ///
    /// - Throws: as `Keychain.setLockSettings`, and `kernelKeys` if the kernel fails other than by denying access; the
    ///   settings are then unchanged, or changed if only restarting the timeout failed.
    package func setLockSettings(_ settings: LockSettings, of keychain: Keychain) throws(KeychainStoreError) {
        var isRunning = false
        try keychain.setLockSettings(settings) { () throws(KeychainStoreError) in
            let found = try find(keychain, wrongPasscodes: 0)
            guard found.state == .unlocked, keychain.hasPasscode, found.refusal == nil else { return }
            // Rewrapped because, if sleep did not lock the keychain before, an earlier sleep must not lock it now.
            try replace(.unlocked, keychain, found.keys, keychain.keybag, lockAfter: settings.lockAfter)
            isRunning = true
        }
        // Another process may have restarted the timeout with the old settings before the commit.
        if isRunning { try restartClock(keychain) }
    }
}
