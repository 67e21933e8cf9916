internal import KCLocalKeychains
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore

/// The keychain that a restore writes to: an existing one, or a new one that gets its name only when it is complete.
struct RestoreTarget {
    private let local: LocalKeychain
    private let archive: ProvenArchive
    private let archiveOptions: (path: String, passcode: ArchivePasscodeOption)
    private let options: KeychainOptions
    private let replaces: Bool
    private let isDryRun: Bool
    private let keepsState: Bool
    private let session: Session
    /// True if the keychain existed before.
    let isThere: Bool

    init(
        _ local: LocalKeychain, for archive: ProvenArchive,
        _ archiveOptions: (path: String, passcode: ArchivePasscodeOption), options: KeychainOptions, replaces: Bool,
        isDryRun: Bool, keepsState: Bool, in session: Session
    ) throws {
        self.local = local
        self.archive = archive
        self.archiveOptions = archiveOptions
        self.options = options
        self.replaces = replaces
        self.isDryRun = isDryRun
        self.keepsState = keepsState
        self.session = session
        isThere = try Path.exists(local.path)
        session.subjects.keychain = local.name
    }

    /// Passes the keychain to `body`, with a closure that keeps its state.
    ///
    /// A new keychain is created only if `body` returns and there was something to write; not if all selected items
    /// stay behind.
    func use(
        _ body: (_ keychain: any StoredItemTarget, _ keep: @escaping () throws -> Void) throws -> RestoreReport
    ) throws -> RestoreReport {
        if isThere {
            let keychain = try existing()
            guard keepsState, !isDryRun else { return try body(keychain) {} }
            return try StateKeeper(keychain, before: .restore, in: session).keeping { keep in try body(keychain, keep) }
        }
        try Keychain.requireFree(at: local.path)
        try openArchive(isNeeded: !adopts)
        if isDryRun { return try body(EmptyTarget(form: adopts ? .stored : .plain)) {} }
        do {
            return try withNew { keychain in
                let report = try body(keychain) {}
                if !report.makesKeychain { throw NothingWritten(report: report) }
                return report
            }
        } catch let nothing as NothingWritten {
            return nothing.report
        }
    }

    /// Carries the report out of the creation of a keychain that is then abandoned.
    private struct NothingWritten: Error {
        let report: RestoreReport
    }

    /// True if a new keychain takes over the class keys of an unencrypted archive, and with them the archived passcode,
    /// because it was not given its own passcode.
    private var adopts: Bool { archive.stored != nil && options.passcode == nil }

    private func openArchive(isNeeded: Bool) throws {
        try archiveOptions.passcode.open(archive, isNeeded: isNeeded, path: archiveOptions.path, in: session)
    }

    /// True if a new keychain needs a passcode that was not given.
    var needsPasscode: Bool { !isThere && !adopts && options.passcode == nil }

    /// Opens an existing keychain.
    ///
    /// Secrets stored under the same class keys are written unchanged, without a key; all others are resealed.
    private func existing() throws -> Keychain {
        let keychain = try local.open(in: session)
        try session.notePasscode(options.passcode, isUseless: !keychain.hasPasscode, for: local.name)
        guard let stored = archive.stored else {
            try openArchive(isNeeded: false)
            try options.unlock(keychain, in: session)
            return keychain
        }
        // Keys that are unlocked anyway are used to check seals. A restore that removes items checks all seals.
        try session.world.unlocked.resume(keychain)
        if try keychain.form(ofSecretsUnder: stored.keybag) == .plain || replaces || options.passcode != nil {
            try options.unlock(keychain, in: session)
        }
        // Ask the keychain again: it can now lend the keys that have just been unlocked.
        let needsArchivesKeys = try keychain.form(ofSecretsUnder: stored.keybag) == .plain
        try openArchive(isNeeded: needsArchivesKeys)
        return keychain
    }

    private func withNew(_ body: (any StoredItemTarget) throws -> RestoreReport) throws -> RestoreReport {
        let new = NewKeychain(local, in: session)
        guard adopts, let store = archive.header.store else {
            return try session.quietly(options.passcode) {
                let passcode = try newPasscode()
                let (result, made) = try new.make(passcode: passcode, body)
                session.tell(made, of: local)
                if options.passcode == nil || options.passcode == .terminal, passcode != nil {
                    try session.keepUnlocked(local, passcode)
                }
                return result
            }
        }
        let (result, made) = try new.make(
            adopting: store.keychain, minimumCost: session.world.costs.lowestPasscode, body)
        session.tell(made, of: local)
        if adopts, archive.stored?.hasPasscode == true {
            session.note("its passcode is the one that the archived keychain had when the archive was made")
        }
        return result
    }

    private func newPasscode() throws -> SecretBytes? {
        let passcode = try session.newPasscode(
            WantedSecret(
                what: passcodeWords(local.name), note: "empty for none", flag: .passcode, source: options.passcode),
            judge: { _ = session.judge($0, of: local.name) })
        if passcode == nil { session.warn("the new keychain has no passcode: this device alone opens it") }
        return passcode
    }
}
