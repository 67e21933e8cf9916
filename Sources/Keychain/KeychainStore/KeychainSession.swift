package import ByteStreams
package import Cryptography
package import KernelKeyring
package import KeychainKeys
package import KeychainModel

/// What stays unlocked of keychains between commands: class keys, wrapped, in the memory of the kernel.
///
/// Other processes may lock, unlock or change the passcode between any two calls. Whoever keeps or replaces keys in the
/// kernel holds the keychain's lock while doing so; locking waits for nobody. Where the kernel refuses its key service
/// (`SessionStatus.refusal`), nothing is kept, and a keychain is unlocked for as long as its object lives.
package struct KeychainSession: Sendable {
    let retention: any KeyRetention
    let suspendedTime: @Sendable () -> Int64

    /// Uses a place for keys and a clock.
    ///
    /// - Parameter suspendedTime: milliseconds that the machine has been suspended since it was started.
    package init(
        retention: any KeyRetention = KernelKeyring(),
        suspendedTime: @escaping @Sendable () -> Int64 = { SuspendedTime.milliseconds() }
    ) {
        self.retention = retention
        self.suspendedTime = suspendedTime
    }

    /// Gives a keychain exactly those class keys that are unlocked now, and starts its idle clock anew.
    ///
    /// Keys that the object holds and the session does not are dropped. What is kept but no longer valid (an older
    /// passcode, a sleep of the machine, too many wrong passcodes, the work of another program) is revoked. Where the
    /// kernel refuses, the object stays as it is.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`, `cryptography`, `kernelKeys` when the kernel fails for another reason than that
    ///   it refuses.
    @discardableResult
    package func resume(_ keychain: Keychain) throws(KeychainStoreError) -> LockState {
        let failed = try keychain.look { database throws(KeychainStoreError) in try Attempts(database).failed }
        var found = try find(keychain, wrongPasscodes: failed)
        if !found.invalid.isEmpty {
            // Somebody may have been about to change passcode and session: judged again, and alone.
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

    /// Opens all class keys and keeps them for later commands; where the kernel refuses, for this object alone.
    ///
    /// - Parameters:
    ///   - passcode: ignored, and nothing is kept, when the keychain has none.
    ///   - keepsSession: false for a single command that brings its passcode. Wrong ones count all the same: after five
    ///     in a row, what is kept is revoked.
    /// - Throws: as `Keychain.unlock`, `busy` when the passcode was changed meanwhile, `kernelKeys` when the kernel fails for
    ///   another reason than that it refuses; the object is then unlocked.
    package func unlock(
        _ keychain: Keychain, passcode: borrowing SecretBytes?, now: Timestamp, keepsSession: Bool = true
    ) throws(KeychainStoreError) {
        do throws(KeychainStoreError) {
            try keychain.unlock(passcode: passcode, now: now)
        } catch {
            try revokeIfGuessed(error, keychain)
            throw error
        }
        guard keepsSession, keychain.hasPasscode else { return }
        try keep(keychain, openedAs: keychain.keybag, now: now)
    }

    /// Keeps all class keys of an object, unless its keybag is no longer the one that a passcode opened.
    ///
    /// - Throws: `busy` when it is another one, and what `unlock` throws for the kernel.
    func keep(_ keychain: Keychain, openedAs keybag: Keybag, now: Timestamp) throws(KeychainStoreError) {
        try keychain.change { database throws(KeychainStoreError) in
            guard keychain.keybag.hasKeys(of: keybag) else { throw .busy }
            // The count stands for wrong passcodes since the last right one, and a high one ends sessions.
            if try Attempts(database).failed > 0 { try Attempts(failed: 0, last: now).write(database) }
            // In this order: nobody is to find 'unlocked' without the other.
            for part in [SessionPart.firstUnlock, .unlocked] { try keep(part, keychain) }
        }
    }

    /// Locks a keychain for every process, or with `untilFirstUnlock` as after a start of the machine.
    ///
    /// The object forgets its keys in any case. Keys that a running command has taken live as long as it does.
    ///
    /// - Throws: `kernelKeys` when the kernel does not revoke what is kept, or refuses to look: it may then still be there.
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

    /// Sets, changes or removes the passcode as `Keychain.setPasscode` does; what is unlocked stays so.
    ///
    /// A keychain that had no passcode is locked until its first unlock. Removing the passcode destroys the class key of
    /// WhenPasscodeSetThisDeviceOnly items in the kernel too.
    ///
    /// - Returns: as `Keychain.setPasscode`.
    /// - Throws: as `Keychain.setPasscode`, and `kernelKeys` when the kernel fails for another reason than that it refuses;
    ///   the passcode is then the old one.
    @discardableResult
    package func setPasscode(
        _ keychain: Keychain, current: borrowing SecretBytes?, new: borrowing SecretBytes?,
        cost: ScryptCost? = Keychain.defaultCost, now: Timestamp, step: () -> Void = {}
    ) throws(KeychainStoreError) -> PasscodeChange {
        do throws(KeychainStoreError) {
            return try keychain.setPasscode(current: current, new: new, cost: cost, now: now, step: step) {
                keybag, keys throws(KeychainStoreError) in
                try carry(keychain, to: keybag, keys)
            }
        } catch {
            try revokeIfGuessed(error, keychain)
            throw error
        }
    }

    /// Changes when a keychain locks by itself, as `Keychain.setLockSettings` does, for the running session at once.
    ///
    /// - Throws: as `Keychain.setLockSettings`, and `kernelKeys` when the kernel fails for another reason than that it refuses;
    ///   the settings are then the old ones, or the new ones where only the clock could not be started by them again.
    package func setLockSettings(_ settings: LockSettings, of keychain: Keychain) throws(KeychainStoreError) {
        var isRunning = false
        try keychain.setLockSettings(settings) { () throws(KeychainStoreError) in
            let found = try find(keychain, wrongPasscodes: 0)
            guard found.state == .unlocked, keychain.hasPasscode, found.refusal == nil else { return }
            // Sealed anew: a sleep while that did not matter is not to lock the keychain now.
            try replace(.unlocked, keychain, found.keys, keychain.keybag, lockAfter: settings.lockAfter)
            isRunning = true
        }
        // Whoever used the keychain before the commit may have set the clock once more by the old settings.
        if isRunning { try restartClock(keychain) }
    }
}
