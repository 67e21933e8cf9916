internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
package import KCItemStores
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
package import KCLocalKeychains

extension LocalKeychain: NamedStore {
    package var kind: StoreKind { .keychain }

    package var recorded: (kind: String, name: String) {
        isNamed ? (ArchiveSource.keychain, name) : (ArchiveSource.keychainFile, stem)
    }

    /// The first part of the names of its archives.
    ///
    /// A name is no file name: 'work.json' is another keychain than 'work', and has archives of its own.
    package var stem: String { isNamed ? name : ArchiveName.stem(ofFile: Path.split(name).name) }

    package var plainStem: String { "keychain" }

    package func opened(_ access: StoreAccess, for use: StoreUse, in context: TaskContext) throws -> OpenStore {
        OpenStore(try changeable(access, in: context), .ofKeychain)
    }

    package func changeable(_ access: StoreAccess, in context: TaskContext) throws -> any ItemStore {
        let keychain = try context.open(self, passcode: access.key.passcode)
        return KeychainItemStore(keychain, states: context.states(of: keychain)) { needed in
            // A passcode or an escrow key that is given is used, whatever is needed.
            if needed != .withoutQuestion || access.key.source != nil {
                return try context.unlocked(keychain, of: self, for: needed, access.key)
            }
            try context.machine.unlocked.resume(keychain)
            return keychain
        }
    }

    package func examine(_ access: StoreAccess, isUnencrypted: Bool, in context: TaskContext) throws {
        let keychain = try context.open(self, passcode: access.key.passcode)
        if !keychain.hasPasscode { return }
        let hasCredentials = context.machine.environment["CREDENTIALS_DIRECTORY"] != nil
        if let source = access.key.escrow {
            if case .credential = source, !hasCredentials { return }
            _ = try context.unlocked(keychain, of: self, for: .all, access.key)
            return
        }
        if isUnencrypted { return }
        guard let source = access.key.passcode else {
            throw try naming { PasscodeNeeded(keychain: name, try .init(keychain)) }
        }
        if case .credential = source, !hasCredentials { return }
        try context.requireRight(source, of: keychain, self)
    }
}

extension TaskContext {
    /// Makes secrets readable, with the escrow key, the session or the passcode.
    fileprivate func unlocked(
        _ keychain: Keychain, of local: LocalKeychain, for needed: NeededSecrets, _ key: StoreAccess.Key
    ) throws -> any StoredItemSource {
        if let source = key.escrow { return try open(keychain, of: local, withEscrowKey: source) }
        try unlock(keychain, of: local, for: needed, passcode: key.passcode)
        return keychain
    }

    /// Checks the passcode of a job, without counting a wrong one as an attempt.
    fileprivate func requireRight(_ source: SecretSource, of keychain: Keychain, _ local: LocalKeychain) throws {
        let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: source)
        try local.naming {
            try trying(wanted, of: keychain) { secret in
                if try keychain.isRight(passcode: secret, now: machine.clock()) == false {
                    throw KeychainStoreError.wrongPasscode
                }
            }
        }
    }
}
