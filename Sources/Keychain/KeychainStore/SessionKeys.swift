internal import ByteStreams
internal import Cryptography
internal import DeviceIdentity
internal import KernelKeyring
internal import KeychainKeys
internal import KeychainModel

/// What a look at the kernel shows of a keychain's session.
struct SessionFinding {
    var state: LockState
    /// The class keys that are unlocked.
    var keys = ClassKeys()
    /// What is kept and must not be used.
    var invalid: [SessionPart] = []
    /// Why the kernel does not let anybody look; state and keys are then those of the object.
    var refusal: KeyRetentionFailure?
}

/// The payloads that are kept for a keychain, unjudged.
struct KeptPayloads: ~Copyable {
    let firstUnlock: SecretBytes?
    let unlocked: SecretBytes?

    init(_ retention: any KeyRetention, _ storeID: [UInt8]) throws(KeyRetentionFailure) {
        // Both before either is stored, since the value cannot be copied.
        let firstUnlock = try retention.read(SessionPart.firstUnlock.name(storeID))
        let unlocked = try retention.read(SessionPart.unlocked.name(storeID))
        self.firstUnlock = firstUnlock
        self.unlocked = unlocked
    }
}

/// How a session looks at the kernel and changes what is kept there.
extension KeychainSession {
    // The two clocks behind the suspended time are read one after the other; a machine that slept slept longer.
    private static let toleranceInMilliseconds: Int64 = 1000
    // People change settings; this many changes within a moment are no people's.
    private static let clockLimit = 16

    /// Judges what is kept for a keychain, by the keybag that the object knows; nothing is changed.
    ///
    /// - Parameter wrongPasscodes: how many were given in a row; from five on nothing that is kept counts.
    func find(_ keychain: Keychain, wrongPasscodes: Int) throws(KeychainStoreError) -> SessionFinding {
        guard keychain.hasPasscode else {
            let keys = try withKeys { () throws(KeybagFailure) in
                try keychain.keybag.deviceOnlyKeys(keychain.deviceKey)
            }
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
        // Without what is readable after the first unlock there was no unlock of ours.
        let isAlone = finding.state != .locked
        if try add(.unlocked, kept.unlocked, keychain, to: &finding, isBarred: isAlone) { finding.state = .unlocked }
        return finding
    }

    /// Adds the class keys of a payload to what was found; false when there is none or it must not be used.
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
                // Less is as odd as more: then it was not this machine, or not this run of it.
                let slept = (suspendedTime() - opened.suspended).magnitude
                guard slept <= Self.toleranceInMilliseconds else { return nil }
            }
            return opened.keys
        } catch {
            throw .cryptography(error)
        }
    }

    /// Keeps the class keys that the object has, in the place of what is kept; where the kernel refuses, nothing.
    func keep(_ part: SessionPart, _ keychain: Keychain) throws(KeychainStoreError) {
        let payload = try seal(part, keychain, keychain.classKeys, keychain.keybag)
        let seconds = part == .unlocked ? keychain.lockSettings.lockAfter : nil
        _ = try unlessRefused { () throws(KeyRetentionFailure) in
            try retention.keep(part.name(keychain.storeID), payload, expiresAfter: seconds)
        }
    }

    /// Puts other class keys, for another keybag or clock, in the place of what is kept, and only where something is:
    /// a keychain that is being locked at the same time stays locked.
    func replace(
        _ part: SessionPart, _ keychain: Keychain, _ keys: ClassKeys, _ keybag: Keybag, lockAfter: Int?
    ) throws(KeychainStoreError) {
        let payload = try seal(part, keychain, keys, keybag)
        let seconds = part == .unlocked ? lockAfter : nil
        _ = try unlessRefused { () throws(KeyRetentionFailure) in
            try retention.replace(part.name(keychain.storeID), payload, expiresAfter: seconds)
        }
    }

    /// Makes what is unlocked fit a new keybag that is about to become durable, or destroys it where it does not.
    func carry(_ keychain: Keychain, to keybag: Keybag, _ keys: ClassKeys) throws(KeychainStoreError) {
        // The passcode was right a moment ago, so that no count stands in the way.
        let found = try find(keychain, wrongPasscodes: 0)
        if found.refusal != nil { return }
        let isCarried = keychain.hasPasscode && keybag.hasPasscode
        for part in SessionPart.allCases {
            let isLive = part == .unlocked ? found.state == .unlocked : found.state != .lockedUntilFirstUnlock
            if isCarried, isLive {
                try replace(part, keychain, keys, keybag, lockAfter: keybag.lockSettings.lockAfter)
            } else {
                _ = try unlessRefused { () throws(KeyRetentionFailure) in
                    try retention.revoke(part.name(keychain.storeID))
                }
            }
        }
    }

    /// Starts the idle clock of an unlocked keychain anew, by the settings that are in the file.
    ///
    /// No lock is taken. Whoever sets the clock reads the settings afterwards, and whoever changes the settings sets the
    /// clock afterwards: the last to set it does so by the last settings.
    ///
    /// - Throws: `busy` also when the settings change again and again meanwhile.
    func restartClock(_ keychain: Keychain) throws(KeychainStoreError) {
        for _ in 0..<Self.clockLimit {
            let seconds = keychain.lockSettings.lockAfter
            _ = try unlessRefused { () throws(KeyRetentionFailure) in
                try retention.expire(SessionPart.unlocked.name(keychain.storeID), after: seconds)
            }
            try keychain.look { _ throws(KeychainStoreError) in }
            if keychain.lockSettings.lockAfter == seconds { return }
        }
        throw .busy
    }

    /// Destroys what is kept; a refusal is a failure too, since it leaves open whether something is kept.
    func revoke(_ part: SessionPart, _ keychain: Keychain) throws(KeychainStoreError) {
        do throws(KeyRetentionFailure) {
            try retention.revoke(part.name(keychain.storeID))
        } catch {
            throw KeychainStoreError.kernelKeys(error)
        }
    }

    /// Destroys everything that is kept when a passcode was wrong, or not heard, after several wrong ones.
    func revokeIfGuessed(_ error: KeychainStoreError, _ keychain: Keychain) throws(KeychainStoreError) {
        switch error {
        case .wrongPasscode, .tooManyAttempts: break
        default: return
        }
        // A count that cannot be read is taken for a high one.
        guard (try? keychain.wrongPasscodeCount()) ?? Attempts.free >= Attempts.free else { return }
        keychain.lock(untilFirstUnlock: true)
        for part in SessionPart.allCases {
            _ = try unlessRefused { () throws(KeyRetentionFailure) in
                try retention.revoke(part.name(keychain.storeID))
            }
        }
    }

    private func seal(
        _ part: SessionPart, _ keychain: Keychain, _ keys: ClassKeys, _ keybag: Keybag
    ) throws(KeychainStoreError) -> SecretBytes {
        do throws(CryptographyFailure) {
            return try SessionPayload(part, keychain, keybag).seal(keys, suspended: suspendedTime())
        } catch {
            throw .cryptography(error)
        }
    }

    /// What `body` returns; nil where the kernel refuses its key service, and so keeps nothing.
    private func unlessRefused<Result>(
        _ body: () throws(KeyRetentionFailure) -> Result
    ) throws(KeychainStoreError) -> Result? {
        do throws(KeyRetentionFailure) {
            return try body()
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
    /// What this object can read, whatever is kept for others.
    fileprivate var ownState: LockState {
        if isUnlocked { return .unlocked }
        return classKeys[.afterFirstUnlock] == nil ? .lockedUntilFirstUnlock : .locked
    }
}
