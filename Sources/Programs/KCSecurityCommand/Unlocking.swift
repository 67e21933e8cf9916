internal import KCByteStreams
internal import KCConsole
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// Opens and unlocks keychains; only this file deals with sessions.
extension Session {
    /// Opens a keychain without its class keys; attributes are always readable.
    func open(_ local: LocalKeychain) throws -> Keychain {
        try local.open(on: world.device, minimumCost: world.lowestCost)
    }

    /// Makes the class key for an accessibility available, prompting for the password on a terminal if needed.
    ///
    /// - Throws: `locked` if there is no terminal, `wrongPasscode`, `tooManyAttempts`, `TerminalFailure`.
    func unlock(_ keychain: Keychain, _ local: LocalKeychain, for accessibility: Accessibility) throws {
        if accessibility.isReadableWithoutPasscode || keychain.isUnlocked { return }
        switch try world.keychainSession.resume(keychain) {
        case .unlocked: return
        case .locked where accessibility.isReadableAfterFirstUnlock: return
        case .locked, .lockedUntilFirstUnlock:
            guard world.terminal.isAttended else { throw KeychainStoreError.locked(accessibility) }
            try askAndUnlock(keychain, local)
        }
    }

    /// Unlocks a keychain for this command and later ones.
    ///
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, and failures of storing the keys in the kernel.
    func unlock(_ keychain: Keychain, password: consuming SecretBytes) throws {
        let passcode: SecretBytes? = password
        try checking { try world.keychainSession.unlock(keychain, passcode: passcode, now: now) }
    }

    /// Asks for the password of a keychain and unlocks it.
    ///
    /// - Throws: as `askForPassword` and `unlock(_:password:)`.
    func askAndUnlock(_ keychain: Keychain, _ local: LocalKeychain) throws {
        try quietly {
            try unlock(keychain, password: askForPassword("password to unlock \(promptName(local)): "))
        }
    }

    /// Returns the data of an item; unlocks the keychain if needed.
    func secret(of found: Found) throws -> SecretBytes? {
        try unlock(found.keychain, found.local, for: found.item.accessibility)
        try askForPresence(found.keychain, found.local, for: found.item)
        // The next item asks again.
        defer { found.keychain.forgetPresence() }
        return try found.keychain.secret(of: found.item)
    }

    /// Asks for the password of a keychain if an item asks for it each time; what it opens must be forgotten again.
    ///
    /// - Throws: `presenceNeeded` if there is no terminal, `wrongPasscode`, `tooManyAttempts`, `TerminalFailure`.
    func askForPresence(_ keychain: Keychain, _ local: LocalKeychain, for item: Item) throws {
        guard let constraint = item.protection.constraint else { return }
        guard world.terminal.isAttended else { throw KeychainStoreError.presenceNeeded(constraint) }
        try quietly {
            let passcode: SecretBytes? = try askForPassword("password for the item in \(promptName(local)): ")
            try checking {
                try world.keychainSession.unlock(keychain, passcode: passcode, now: now, keepsSession: false)
            }
        }
    }

    /// Notes why a keychain that was just unlocked will be locked again for the next command, if that is the case.
    func noteRefusal(_ keychain: Keychain) throws {
        guard let refusal = try world.keychainSession.status(keychain, now: now).refusal else { return }
        note("no later command finds it unlocked: \(refusal.reason)")
    }

    /// Returns a keychain's name for a prompt.
    func promptName(_ local: LocalKeychain) -> String {
        displayed(local.isNamed ? local.name : Path.split(local.path).name, limit: 100)
    }
}

extension Accessibility {
    fileprivate var isReadableAfterFirstUnlock: Bool {
        switch self {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: true
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: false
        }
    }
}
