package import KCAsking
internal import KCByteStreams
package import KCItemStores
package import KCKernelKeyring
package import KCKeychainKeys
package import KCKeychainModel
package import KCKeychainStore
package import KCLocalKeychains
package import KCSecurityTokens

/// An event while a keychain is opened.
package enum KeychainEvent: TaskEvent {
    /// The keychain has no passcode, and the given one is not read.
    ///
    /// No error, since one nightly script may handle several keychains, and no warning, which would be mailed every night.
    case passcodeUnneeded(keychain: String)
    /// The keychain has no passcode, and the escrow key is not read.
    case escrowUnneeded(keychain: String)
    /// The keychain is unlocked, but the items need the passcode each time.
    case itemsAsk
    /// A passcode that was typed has unlocked the keychain for later commands.
    case unlocked(keychain: String, LockSettings)
    /// The passcode was right, but the kernel does not keep the keychain unlocked.
    case notKeptUnlocked(KeyRetentionFailure)
    /// A security token that is connected cannot take the place of the passcode.
    case tokenUnused(TokenFailure)
    /// A security token cannot take the place of the passcode, because of its record in the keychain.
    case tokenRecordUnused(TokenProblem, keychain: String)
}

/// A passcode that is needed where nobody can be asked for it.
package struct PasscodeNeeded: Error, Hashable, Sendable {
    package let keychain: String
    package let need: Need
    /// False if a passcode that is given would be for another keychain.
    package var canBeGiven = true

    package init(keychain: String, _ need: Need) { (self.keychain, self.need) = (keychain, need) }

    package enum Need: Hashable, Sendable {
        /// The keychain is locked.
        case locked
        /// The keychain may be locked at another time.
        case lockable
        /// Items ask for the passcode each time.
        case itemsAsk
    }
}

extension PasscodeNeeded.Need {
    /// The need for the passcode of a keychain that may be unlocked now.
    package init(_ keychain: Keychain) throws(KeychainStoreError) {
        self = try keychain.constrainedProtections().isEmpty ? .lockable : .itemsAsk
    }
}

extension TaskContext {
    /// Opens a keychain without its passcode, and tells if one is given that the keychain does not need.
    ///
    /// - Throws: as `LocalKeychain.open(in:)`.
    package func open(_ local: LocalKeychain, passcode: SecretSource?) throws -> Keychain {
        let keychain = try local.open(in: machine)
        if passcode != nil, !keychain.hasPasscode { tell(KeychainEvent.passcodeUnneeded(keychain: local.name)) }
        return keychain
    }

    /// Makes keys available, from the session or, failing that, with the passcode.
    ///
    /// A given passcode is always used, and for this run only. A typed one also unlocks the keychain for later commands,
    /// except for items that ask for it each time; for those with `user-presence`, a security token that is connected
    /// takes its place.
    ///
    /// - Parameter canBeGiven: false if a passcode that is given would be for another keychain.
    /// - Throws: `PasscodeNeeded`, `KeychainFailure`, `WrongSecret`, `TokenFailure.interrupted`, errors of reading secrets.
    package func unlock(
        _ keychain: Keychain, of local: LocalKeychain, for needed: NeededSecrets, passcode: SecretSource?,
        canBeGiven: Bool = true
    ) throws {
        try local.naming {
            guard keychain.hasPasscode else { return try keychain.unlock(passcode: nil, now: now) }
            let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: passcode)
            // A given passcode is used in any case; whether a typed one unlocks the keychain depends on what it is now.
            if wanted.isTyped { try machine.unlocked.resume(keychain) }
            if passcode == nil {
                if try keychain.protections(needed).allSatisfy(keychain.canOpen) { return }
                guard asking.isAttended else {
                    var failure = PasscodeNeeded(
                        keychain: local.name, keychain.isUnlocked ? .itemsAsk : .locked)
                    failure.canBeGiven = canBeGiven
                    throw failure
                }
                let missing = try keychain.protections(needed).filter { !keychain.canOpen($0) }
                if try opensWithToken(keychain, of: local, for: missing) { return }
            }
            try unlock(keychain, of: local, with: wanted)
        }
    }

    private func unlock(_ keychain: Keychain, of local: LocalKeychain, with wanted: WantedSecret) throws {
        let isUnlocked = keychain.isUnlocked
        if isUnlocked, wanted.isTyped { tell(KeychainEvent.itemsAsk) }
        do {
            try trying(wanted, of: keychain) { secret in
                try machine.unlocked.unlock(
                    keychain, passcode: secret.copy(), now: machine.clock(), keepsSession: wanted.isTyped && !isUnlocked
                )
            }
            if wanted.isTyped, !isUnlocked { try tellUnlocked(keychain, of: local) }
        } catch KeychainStoreError.kernelKeys(let failure) where keychain.isUnlocked {
            // The passcode was correct, so this run can continue.
            tell(KeychainEvent.notKeptUnlocked(failure))
        }
    }

    /// Tells how long a newly unlocked keychain stays unlocked.
    package func tellUnlocked(_ keychain: Keychain, of local: LocalKeychain) throws(KeychainStoreError) {
        let status = try machine.unlocked.status(keychain, now: now)
        if status.refusal == nil { tell(KeychainEvent.unlocked(keychain: local.name, status.settings)) }
    }

    /// Opens a keychain with its escrow key, for a backup only.
    ///
    /// - Returns: the keychain itself if it has no passcode.
    /// - Throws: `KeychainFailure`, and the errors of `SecretInput`.
    package func open(
        _ keychain: Keychain, of local: LocalKeychain, withEscrowKey source: SecretSource
    ) throws -> any StoredItemSource {
        try local.naming {
            guard !keychain.hasPasscode else {
                return try EscrowedKeychain(
                    keychain, keyFile: secrets.keyFile(WantedSecret(.escrowKey, .escrow, from: source)))
            }
            tell(KeychainEvent.escrowUnneeded(keychain: local.name))
            try keychain.unlock(passcode: nil, now: now)
            return keychain
        }
    }
}

extension Keychain {
    /// The protections of the secrets that are needed.
    fileprivate func protections(_ needed: NeededSecrets) throws(KeychainStoreError) -> Set<Protection> {
        switch needed {
        case .withoutQuestion: []
        case .of(let protections): protections
        case .all: Protection.unconstrained.union(try constrainedProtections().keys)
        }
    }
}
