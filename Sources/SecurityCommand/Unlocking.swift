internal import ByteStreams
internal import Console
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// Opening keychains, and the class keys in them: the one file that knows how long a keychain stays unlocked.
extension Session {
    /// Opens a keychain as it is, locked or not: attributes are readable in any case.
    func open(_ local: LocalKeychain) throws -> Keychain {
        try local.open(on: world.device, minimumCost: world.lowestCost)
    }

    /// Makes sure that the class key of an accessibility is at hand; on a terminal, asks for the password.
    ///
    /// - Throws: `locked` where there is no terminal, `wrongPasscode`, `tooManyAttempts`, `TerminalFailure`.
    func unlock(_ keychain: Keychain, _ local: LocalKeychain, for accessibility: Accessibility) throws {
        if accessibility.isReadableWithoutPasscode || keychain.isUnlocked { return }
        if !keychain.hasPasscode { return try keychain.unlock(passcode: nil, now: now) }
        guard world.terminal.isAttended else { throw KeychainStoreError.locked(accessibility) }
        let password: SecretBytes? = try world.terminal.readSecret("password to unlock \(promptName(local)): ")
        try keychain.unlock(passcode: password, now: now)
    }

    /// The data of an item; the keychain is unlocked for it if need be.
    func secret(of found: Found) throws -> SecretBytes? {
        try unlock(found.keychain, found.local, for: found.item.accessibility)
        return try found.keychain.secret(of: found.item)
    }

    /// A keychain's name in a question.
    func promptName(_ local: LocalKeychain) -> String {
        displayed(local.isNamed ? local.name : Path.split(local.path).name, limit: 100)
    }
}
