internal import ByteStreams
internal import Console
internal import KernelKeyring
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// Opening keychains, and the class keys in them: the one file that knows what stays unlocked between commands.
extension Session {
    /// Opens a keychain without its class keys: attributes are readable in any case.
    func open(_ local: LocalKeychain) throws -> Keychain {
        try local.open(on: world.device, minimumCost: world.lowestCost)
    }

    /// Makes sure that the class key of an accessibility is at hand; on a terminal, asks for the password.
    ///
    /// - Throws: `locked` where there is no terminal, `wrongPasscode`, `tooManyAttempts`, `TerminalFailure`.
    func unlock(_ keychain: Keychain, _ local: LocalKeychain, for accessibility: Accessibility) throws {
        if accessibility.isReadableWithoutPasscode || keychain.isUnlocked { return }
        switch try world.keychainSession.resume(keychain) {
        case .unlocked: return
        case .locked where accessibility.isReadableAfterFirstUnlock: return
        case .locked, .lockedUntilFirstUnlock:
            guard world.terminal.isAttended else { throw KeychainStoreError.locked(accessibility) }
            try unlock(keychain, password: askForPassword("password to unlock \(promptName(local)): "))
        }
    }

    /// Unlocks a keychain for this command and later ones.
    ///
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, and what keeps the kernel from keeping the keys.
    func unlock(_ keychain: Keychain, password: consuming SecretBytes) throws {
        let passcode: SecretBytes? = password
        try world.keychainSession.unlock(keychain, passcode: passcode, now: now)
    }

    /// The data of an item; the keychain is unlocked for it if need be.
    func secret(of found: Found) throws -> SecretBytes? {
        try unlock(found.keychain, found.local, for: found.item.accessibility)
        return try found.keychain.secret(of: found.item)
    }

    /// Says why a keychain that was just unlocked is locked again for the next command, where it is.
    func noteRefusal(_ keychain: Keychain) throws {
        guard let refusal = try world.keychainSession.status(keychain, now: now).refusal else { return }
        note("no later command finds it unlocked: \(refusal.reason)")
    }

    /// A keychain's name in a question.
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
