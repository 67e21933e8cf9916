internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKernelKeyring
internal import KCKeychainKeys
internal import KCKeychainModel

/// The state of a keychain's session in the kernel.
struct SessionFinding {
    var state: LockState
    /// The unlocked class keys.
    var keys = ClassKeys()
    /// The stored payloads that must not be used.
    var invalid: [SessionPart] = []
    /// Why the kernel denies access; the state and the keys are then those of the object.
    var refusal: KeyRetentionFailure?
}

/// The stored payloads of a keychain, not yet checked.
struct KeptPayloads: ~Copyable {
    let firstUnlock: SecretBytes?
    let unlocked: SecretBytes?

    init(_ retention: any KeyRetention, _ storeID: [UInt8]) throws(KeyRetentionFailure) {
        // Both are read before either is stored, since the value cannot be copied.
        let firstUnlock = try retention.read(SessionPart.firstUnlock.name(storeID))
        let unlocked = try retention.read(SessionPart.unlocked.name(storeID))
        self.firstUnlock = firstUnlock
        self.unlocked = unlocked
    }
}

/// Reads and changes the stored keys of a session.
extension KeychainSession {
    // The two clocks behind the suspended time are read one after the other; real sleep is longer than this tolerance.
    private static let toleranceInMilliseconds: Int64 = 1000
    // More often than anyone changes the settings in such a short time.
    private static let clockLimit = 16

    /// Checks the stored keys of a keychain against the keybag that the object knows, without changing anything.
    ///
    /// - Parameter wrongPasscodes: wrong passcodes in a row; from five on, stored keys are invalid.
    func find(_ keychain: Keychain, wrongPasscodes: Int) throws(KeychainStoreError) -> SessionFinding {
        guard keychain.hasPasscode else {
            // The object's own keys belong to the keybag that it knows.
            if keychain.isUnlocked { return SessionFinding(state: .unlocked, keys: keychain.classKeys) }
            let keys = try withKeys(keychain.keybag.deviceOnlyKeys(keychain.deviceKey))
            return SessionFinding(state: .unlocked, keys: keys)
        }
        let kept: KeptPayloads
        do throws(KeyRetentionFailure) {
            kept = try KeptPayloads(retention, keychain.storeID)
        } catch {
            guard case .refused = error else { throw KeychainStoreError.kernelKeys(error) }
            return SessionFinding(state: keychain.ownState, keys: keychain.classKeys, refusal: error)
        }
        var finding = SessionFinding(state: .lockedUntilFirstUnlock)
        let isBarred = wrongPasscodes >= Attempts.free
        if try add(.firstUnlock, kept.firstUnlock, keychain, to: &finding, isBarred: isBarred) {
            finding.state = .locked
        }
        // An unlock stores the first-unlock key as well; a key without it was not stored by this program.
        let isAlone = finding.state != .locked
        if try add(.unlocked, kept.unlocked, keychain, to: &finding, isBarred: isAlone) { finding.state = .unlocked }
        return finding
    }

    /// Adds the class keys of a payload to the finding; false if there is none or it must not be used.
    private func add(
        _ part: SessionPart, _ payload: borrowing SecretBytes?, _ keychain: Keychain,
        to finding: inout SessionFinding, isBarred: Bool
    ) throws(KeychainStoreError) -> Bool {
        switch payload {
        case .none: return false
        case .some(let payload):
            if !isBarred, let opened = try open(part, payload, keychain) {
                finding.keys.merge(opened)
                return true
            }
            finding.invalid.append(part)
            return false
        }
    }

    private func open(
        _ part: SessionPart, _ payload: borrowing SecretBytes, _ keychain: Keychain
    ) throws(KeychainStoreError) -> ClassKeys? {
        do throws(CryptographyFailure) {
            guard let opened = try SessionPayload(part, keychain, keychain.keybag).open(payload) else { return nil }
            if part == .unlocked, keychain.lockSettings.lockOnSuspend {
                // A shorter time is as suspicious as a longer one: the payload is from another machine or boot.
                let slept = (suspendedTime() - opened.suspended).magnitude
                guard slept <= Self.toleranceInMilliseconds else { return nil }
            }
            return opened.keys
        } catch {
            throw .cryptography(error)
        }
    }

    /// Stores the class keys of the object, replacing any others; does nothing if the kernel denies access.
    func keep(_ part: SessionPart, _ keychain: Keychain) throws(KeychainStoreError) {
        let payload = try seal(part, keychain, keychain.classKeys, keychain.keybag)
        let seconds = part == .unlocked ? keychain.lockSettings.lockAfter : nil
        _ = try unlessRefused(retention.keep(part.name(keychain.storeID), payload, expiresAfter: seconds))
    }

    /// Replaces stored class keys for another keybag or timeout, but only if there are any.
    ///
    /// So a keychain that is being locked concurrently stays locked.
    func replace(
        _ part: SessionPart, _ keychain: Keychain, _ keys: ClassKeys, _ keybag: Keybag, lockAfter: Int?
    ) throws(KeychainStoreError) {
        let payload = try seal(part, keychain, keys, keybag)
        let seconds = part == .unlocked ? lockAfter : nil
        _ = try unlessRefused(retention.replace(part.name(keychain.storeID), payload, expiresAfter: seconds))
    }

    /// Rewraps the stored keys for a new keybag that is about to be committed, or destroys those that no longer apply.
    func rewrapSession(_ keychain: Keychain, to keybag: Keybag, _ keys: ClassKeys) throws(KeychainStoreError) {
        // The passcode was right a moment ago, so the count of wrong passcodes does not matter.
        let found = try find(keychain, wrongPasscodes: 0)
        if found.refusal != nil { return }
        let isCarried = keychain.hasPasscode && keybag.hasPasscode
        for part in SessionPart.allCases {
            let isLive = part == .unlocked ? found.state == .unlocked : found.state != .lockedUntilFirstUnlock
            if isCarried, isLive {
                try replace(part, keychain, keys, keybag, lockAfter: keybag.lockSettings.lockAfter)
            } else {
                _ = try unlessRefused(retention.revoke(part.name(keychain.storeID)))
            }
        }
    }

    /// Restarts the idle timeout of an unlocked keychain with the settings in the file.
    ///
    /// This needs no lock. The function sets the timeout and then reads the settings again; a settings change sets the
    /// timeout after the commit. So whichever of them sets it last uses the latest settings.
    ///
    /// - Throws: `busy` also if the settings keep changing.
    func restartClock(_ keychain: Keychain) throws(KeychainStoreError) {
        for _ in 0..<Self.clockLimit {
            let seconds = keychain.lockSettings.lockAfter
            _ = try unlessRefused(retention.expire(SessionPart.unlocked.name(keychain.storeID), after: seconds))
            try keychain.withReadTransaction { _ throws(KeychainStoreError) in }
            if keychain.lockSettings.lockAfter == seconds { return }
        }
        throw .busy
    }

    /// Destroys stored keys; denied access is an error here, since keys may still be stored.
    func revoke(_ part: SessionPart, _ keychain: Keychain) throws(KeychainStoreError) {
        try failing(as: KeychainStoreError.kernelKeys, retention.revoke(part.name(keychain.storeID)))
    }

    /// Destroys all stored keys if a passcode was wrong, or not accepted, after several wrong ones.
    func revokeIfGuessed(_ error: KeychainStoreError, _ keychain: Keychain) throws(KeychainStoreError) {
        switch error {
        case .wrongPasscode, .tooManyAttempts: break
        default: return
        }
        // If the count cannot be read, it is assumed to be high.
        guard (try? keychain.wrongPasscodeCount()) ?? Attempts.free >= Attempts.free else { return }
        keychain.lock(untilFirstUnlock: true)
        for part in SessionPart.allCases {
            _ = try unlessRefused(retention.revoke(part.name(keychain.storeID)))
        }
    }

    private func seal(
        _ part: SessionPart, _ keychain: Keychain, _ keys: ClassKeys, _ keybag: Keybag
    ) throws(KeychainStoreError) -> SecretBytes {
        try sealing(SessionPayload(part, keychain, keybag).seal(keys, suspended: suspendedTime()))
    }

    /// The result of `body`; nil if the kernel denies its key service and therefore stores nothing.
    private func unlessRefused<Result>(
        _ call: @autoclosure () throws(KeyRetentionFailure) -> Result
    ) throws(KeychainStoreError) -> Result? {
        do throws(KeyRetentionFailure) {
            return try call()
        } catch {
            guard case .refused = error else { throw KeychainStoreError.kernelKeys(error) }
            return nil
        }
    }
}

extension SessionPayload {
    init(_ part: SessionPart, _ keychain: Keychain, _ keybag: Keybag) {
        self.init(part: part, storeID: keychain.storeID, keybag: keybag, deviceKey: keychain.deviceKey)
    }
}

extension Keychain {
    /// The items that this object can read, regardless of stored keys.
    fileprivate var ownState: LockState {
        if isUnlocked { return .unlocked }
        return classKeys[.afterFirstUnlock] == nil ? .lockedUntilFirstUnlock : .locked
    }
}
