internal import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCStoreTasks

extension PasscodeOption {
    /// How the keychain that a restore or undo concerns is opened, unlocked and made.
    ///
    /// - Parameter noPasscode: true to make it without a passcode.
    func access(to local: LocalKeychain, noPasscode: Bool, in session: Session) -> KeychainAccess {
        KeychainAccess(
            hasPasscode: passcode != nil, isChosen: passcode != nil || noPasscode,
            open: {
                do {
                    let keychain = try open(local, in: session)
                    // Each write seals a secret anew, so only the class keys show that two rows have equal contents.
                    try session.machine.unlocked.resume(keychain)
                    return keychain
                } catch let failure as KeychainFailure {
                    // A state can replace a file that is damaged or missing.
                    throw failure.error
                }
            },
            unlock: { try unlock($0, for: .of(Protection.unconstrained), in: session) },
            make: { adopted, fill in
                guard let adopted, let keychain = adopted.header.store?.keychain else {
                    return try make(local, noPasscode: noPasscode, in: session, fill)
                }
                return try make(local, adopting: keychain, of: adopted, in: session, fill)
            })
    }

    /// Makes a keychain with its own passcode.
    private func make<Result>(
        _ local: LocalKeychain, noPasscode: Bool, in session: Session, _ fill: (Keychain) throws -> Result
    ) throws -> Result {
        try session.quietly(passcode) {
            let passcode = noPasscode ? nil : try newPasscode(of: local, in: session)
            if passcode == nil { session.warn("the new keychain has no passcode: this device alone opens it") }
            let (result, made) = try NewKeychain(local, in: session).make(passcode: passcode, fill)
            session.tell(made, of: local)
            if self.passcode == nil || self.passcode == .terminal, passcode != nil {
                try session.keepUnlocked(local, passcode)
            }
            return result
        }
    }

    /// Makes a keychain with the class keys of an archived one.
    private func make<Result>(
        _ local: LocalKeychain, adopting keychain: StoredKeychain, of archive: ProvenArchive, in session: Session,
        _ fill: (Keychain) throws -> Result
    ) throws -> Result {
        let (result, made) = try NewKeychain(local, in: session).make(
            adopting: keychain, minimumCost: session.machine.costs.lowestPasscode, fill)
        session.tell(made, of: local)
        if archive.stored?.hasPasscode == true {
            session.note("its passcode is the one that the archived keychain had when the archive was made")
        }
        return result
    }

    private func newPasscode(of local: LocalKeychain, in session: Session) throws -> SecretBytes? {
        try session.newPasscode(
            WantedSecret(.passcode(keychain: local.name), .passcode, from: passcode),
            judge: { _ = try session.judge($0, of: local.name) })
    }
}
