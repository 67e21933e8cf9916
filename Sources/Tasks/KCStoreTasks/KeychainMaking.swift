package import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCItemStores
package import KCKernelKeyring
internal import KCKeychainModel
internal import KCKeychainStore
package import KCLocalKeychains
package import KCPasscodeStrength

/// An event while a keychain is made.
package enum KeychainMakingEvent: TaskEvent {
    /// How hard a new secret is to guess.
    case strength(PasscodeStrength, SecretQuestion.Kind)
    /// The keychain has no passcode: this device alone opens it.
    case noPasscode
    /// The keychain is made, perhaps with the key of the device.
    case made(keychain: String, NewKeychain.Made)
    /// The passcode of the keychain is the one that the archived keychain had.
    case archivedPasscode
    /// The keychain stays locked, since nothing can stay unlocked between commands.
    case staysLocked(KeyRetentionFailure)
    /// The keychain is made, but could not be unlocked.
    case notUnlocked(any Error)
}

extension LocalKeychain {
    package func restorable(
        _ access: StoreAccess, noPasscode: Bool, in context: TaskContext
    ) throws -> any RestorableStore {
        let passcode = access.key.passcode
        let opening = KeychainAccess(
            hasPasscode: passcode != nil, isChosen: passcode != nil || noPasscode,
            open: {
                do {
                    return try context.open(self, passcode: passcode)
                } catch let failure as KeychainFailure {
                    // A state can replace a file that is damaged or missing.
                    throw failure.error
                }
            },
            // Each write seals a secret anew, so only the class keys show that two rows have equal contents.
            resume: { try context.machine.unlocked.resume($0) },
            unlock: { try context.unlock($0, of: self, for: .of(Protection.unconstrained), passcode: passcode) },
            make: { adopted, fill in
                guard let adopted, let keychain = adopted.header.store?.keychain else {
                    return try context.make(self, noPasscode: noPasscode, passcode, fill)
                }
                let (result, made) = try NewKeychain(self, in: context).make(
                    adopting: keychain, minimumCost: context.machine.costs.lowestPasscode, fill)
                context.tell(KeychainMakingEvent.made(keychain: name, made))
                if adopted.stored?.hasPasscode == true { context.tell(KeychainMakingEvent.archivedPasscode) }
                return result
            })
        return try RestorableKeychain(
            self, minimumCost: context.machine.costs.lowestPasscode, context.stateSetting, opening)
    }
}

extension TaskContext {
    /// Makes a keychain with its own passcode.
    fileprivate func make<Result>(
        _ local: LocalKeychain, noPasscode: Bool, _ source: SecretSource?, _ fill: (Keychain) throws -> Result
    ) throws -> Result {
        try quietly(source) {
            let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: source)
            let passcode = noPasscode ? nil : try newPasscode(wanted) { _ = try judge($0, wanted, of: local.name) }
            if passcode == nil { tell(KeychainMakingEvent.noPasscode) }
            let (result, made) = try NewKeychain(local, in: self).make(passcode: passcode, fill)
            tell(KeychainMakingEvent.made(keychain: local.name, made))
            if wanted.isTyped, passcode != nil { try keepUnlocked(local, passcode) }
            return result
        }
    }

    /// Returns a new passcode for a keychain; nil if the user types none and confirms that.
    ///
    /// - Throws: as `SecretInput.new`.
    package func newPasscode(
        _ wanted: WantedSecret, judge: (borrowing SecretBytes) throws -> Void
    ) throws -> SecretBytes? {
        while true {
            if let secret = try secrets.new(wanted, judge: judge) { return secret }
            if try asking.confirms(.noPasscode) { return nil }
        }
    }

    /// Rates a new secret and tells how hard it is to guess; a weak one is accepted.
    ///
    /// - Parameter name: the name of what it opens, which is a bad secret.
    @discardableResult
    package func judge(
        _ secret: borrowing SecretBytes, _ wanted: WantedSecret, of name: String
    ) throws(CryptographyFailure) -> PasscodeStrength {
        let names = [name] + [machine.environment["USER"], machine.environment["LOGNAME"]].compactMap { $0 }
        let strength = try PasscodeStrength(judging: secret, knowing: names)
        tell(KeychainMakingEvent.strength(strength, wanted.question.kind))
        return strength
    }

    /// Makes up a secret and shows it, this once.
    ///
    /// - Throws: `CryptographyFailure`, `TerminalFailure`.
    package func generatedPassphrase(_ kind: SecretQuestion.Kind) throws -> SecretBytes {
        let secret = try GeneratedPassphrase.make()
        try asking.show(generated: secret, kind)
        return secret
    }

    /// Unlocks a new keychain, whose passcode was typed, for later commands; even if that fails, it has been created.
    ///
    /// - Throws: the failure, if a signal asks the run to end.
    package func keepUnlocked(_ local: LocalKeychain, _ passcode: borrowing SecretBytes?) throws {
        do {
            let keychain = try local.open(in: machine)
            try local.naming {
                // If nothing can stay unlocked, avoid a pointless key derivation.
                if let refusal = try machine.unlocked.status(keychain, now: now).refusal {
                    return tell(KeychainMakingEvent.staysLocked(refusal))
                }
                try machine.unlocked.unlock(keychain, passcode: passcode, now: now)
                try tellUnlocked(keychain, of: local)
            }
        } catch {
            if Interruption.isRequested { throw error }
            tell(KeychainMakingEvent.notUnlocked(error))
        }
    }
}

extension NewKeychain {
    /// Creates an instance for a keychain of this machine.
    package init(_ local: LocalKeychain, heldBy holder: NewKeyHolder = .file, in context: TaskContext) {
        let machine = context.machine
        self.init(
            local, in: machine.dataFolder, on: LocalDevice(machine), heldBy: holder, cost: machine.costs.passcode,
            now: context.now)
    }
}
