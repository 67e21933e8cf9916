internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension LocalKeychain: NamedStore {
    var words: String { "keychain \(quoted(name))" }
    var kind: StoreKind { .keychain }
    var recorded: (kind: String, name: String) {
        isNamed ? (ArchiveSource.keychain, name) : (ArchiveSource.keychainFile, stem)
    }
    var plainStem: String { "keychain" }

    func opened(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        OpenStore(items: try changeable(options, in: session))
    }

    func changeable(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        let keychain = try options.passcodeOption.open(self, in: session)
        return KeychainItemStore(keychain, states: session.states(of: keychain)) { needed in
            // A passcode or an escrow key that is given is used, whatever is needed.
            if needed != .withoutQuestion || options.passcodeOption.passcode != nil || options.escrow != nil {
                return try options.unlocked(keychain, for: needed, in: session)
            }
            try session.machine.unlocked.resume(keychain)
            return keychain
        }
    }

    func restorable(_ options: StoreOptions, in session: Session) throws -> any RestorableStore {
        session.subject.store = name
        return try RestorableKeychain(
            self, minimumCost: session.machine.costs.lowestPasscode, session.stateSetting,
            options.passcodeOption.access(to: self, noPasscode: options.noPasscode, in: session))
    }

    func examine(_ request: BackupRequest, of job: String, in session: Session) throws {
        let passcode = request.access.key.passcode
        let keychain = try PasscodeOption(passcode).open(self, in: session)
        if !keychain.hasPasscode { return }
        let hasCredentials = session.machine.environment["CREDENTIALS_DIRECTORY"] != nil
        if let source = request.access.key.escrow {
            if case .credential = source, !hasCredentials { return }
            _ = try StoreOptions(request, .none()).unlocked(keychain, for: .all, in: session)
            return
        }
        try request.requirePasscode(of: name, in: session)
        if request.isUnencrypted { return }
        if request.needsPasscode(keychain) {
            let refusal = Refusal.jobWithoutPasscode(
                job: job, keychain: name, try .init(keychain))
            if request.isOfSeveral { throw session.failure(of: refusal, for: .backup) }
            throw refusal
        }
        if case .credential? = passcode, !hasCredentials { return }
        if let passcode { try requireRight(passcode, of: keychain, in: session) }
    }

    /// Checks the passcode of a job, without counting a wrong one as an attempt.
    private func requireRight(_ source: SecretSource, of keychain: Keychain, in session: Session) throws {
        let wanted = WantedSecret(.passcode(keychain: name), .passcode, from: source)
        try session.trying(wanted, of: keychain) { secret in
            if try keychain.isRight(passcode: secret, now: session.machine.clock()) == false {
                throw KeychainStoreError.wrongPasscode
            }
        }
    }
}
