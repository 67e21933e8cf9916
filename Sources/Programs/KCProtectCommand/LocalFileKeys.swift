internal import KCAgeEncryption
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFileProtection
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The keys that open files on this device: its own, and those of its keychains.
struct LocalFileKeys: FileKeyring {
    private let session: Session

    // As often as a passcode may be typed elsewhere.
    private static let tries = 3

    init(_ session: Session) {
        self.session = session
    }

    func isOpen(_ identity: ProtectionIdentity) throws -> Bool {
        switch identity.holder {
        case .device: return true
        case .keychain(let storeID, let fileClass):
            do {
                let (_, keychain) = try find(storeID)
                try resume(keychain)
                return keychain.canOpen(Protection(fileClass.accessibility))
            } catch {
                // `keys` meets it too, and reports it if the key is needed.
                return false
            }
        }
    }

    func keys(
        of identity: ProtectionIdentity, asking secret: (String) throws -> SecretBytes?
    ) throws -> [any Identity] {
        do {
            switch identity.holder {
            case .device:
                let key = try session.machine.deviceFileIdentity()
                guard key.recipient == identity.recipient else {
                    throw PluginRefusal("the identity is of another device, or of a key that was replaced")
                }
                return [key]
            case .keychain(let storeID, let fileClass):
                let (local, keychain) = try find(storeID)
                return try local.naming {
                    try open(keychain, of: local.name, for: fileClass, asking: secret)
                    return try keychain.fileIdentities(fileClass)
                }
            }
        } catch let refusal as PluginRefusal {
            throw refusal
        } catch let failure as AgeFailure {
            throw failure
        } catch {
            let explanation = session.failure(of: error).explanation
            throw PluginRefusal(([explanation.message] + explanation.hints).joined(separator: "; "))
        }
    }

    /// Finds a keychain by its store ID, among those that are searched.
    private func find(_ storeID: [UInt8]) throws -> (LocalKeychain, Keychain) {
        let folder = session.machine.dataFolder
        var failure: Failure?
        for local in try KeychainLists.load(from: folder).searched(in: folder) where try Path.exists(local.path) {
            do {
                let keychain = try local.open(in: session.machine)
                if keychain.storeID == storeID { return (local, keychain) }
            } catch {
                // The damaged keychain may be another one.
                failure = failure ?? session.failure(of: error)
            }
        }
        if let failure { throw failure }
        throw PluginRefusal("the keychain of the identity is not on this device")
    }

    private func resume(_ keychain: Keychain) throws(KeychainStoreError) {
        if keychain.hasPasscode {
            try session.machine.unlocked.resume(keychain)
        } else {
            try keychain.unlock(passcode: nil, now: session.now)
        }
    }

    /// Opens a keychain as far as a class demands.
    ///
    /// A passcode that is typed also unlocks it for later commands.
    private func open(
        _ keychain: Keychain, of name: String, for fileClass: FileKeyClass,
        asking secret: (String) throws -> SecretBytes?
    ) throws {
        try resume(keychain)
        var prompt = "Enter the \(passcodeWords(name)):"
        var left = Self.tries
        while !keychain.canOpen(Protection(fileClass.accessibility)) {
            if let seconds = try keychain.secondsUntilNextTry(now: session.machine.clock()) {
                throw KeychainStoreError.tooManyAttempts(retryAfter: seconds)
            }
            guard let passcode = try secret(prompt) else {
                throw PluginRefusal(
                    "keychain \(quoted(name)) is locked; 'kcbackup keychain unlock \(shellWord(name))' opens it")
            }
            left -= 1
            do throws(KeychainStoreError) {
                try session.machine.unlocked.unlock(keychain, passcode: passcode.copy(), now: session.machine.clock())
            } catch {
                switch error {
                case .wrongPasscode where left > 0:
                    prompt = "Wrong passcode. Enter the \(passcodeWords(name)):"
                case .kernelKeys where keychain.isUnlocked: break
                default: throw error
                }
            }
        }
    }
}
