internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCStoreTasks
internal import KCTerminal

// The request of a backup of several stores, as far as they are for one of them.

extension BackupRequest {
    /// Finds what would make a job fail that backs up one of the stores.
    ///
    /// - Throws: as `requirePasscode` and `NamedStore.examine`.
    func examine(_ store: any NamedStore, in session: Session) throws {
        session.subject.store = store.name
        try requirePasscode(of: store.name, on: session.machine)
        do {
            try store.examine(access, isUnencrypted: isUnencrypted, in: session.context)
        } catch let failure as PasscodeNeeded where isOfSeveral {
            throw session.failure(of: failure, for: .backup)
        }
    }
}

extension Session {
    /// Why something failed for one of several stores; if several keychains have a passcode each, no hint says to give
    /// one, which would be refused.
    ///
    /// - Parameter keychains: the keychains of the run that have a passcode; nil for all of this device.
    func failure(
        of error: any Error, for use: UsageProblem.PasscodeUse, among keychains: [String]? = nil
    ) -> Failure {
        let failure = failure(of: error)
        guard failure.explanation.asksForPasscode else { return failure }
        do {
            let asking = try keychains ?? machine.keychainsWithPasscode()
            return asking.count > 1 ? .passcodeOfOne(failure, use) : failure
        } catch {
            // The failure of the run says more than why the others are not known.
            return failure
        }
    }

    /// Why the backup of one of several stores failed; no hint says to give a passcode that would be refused, or not be
    /// used.
    func backupFailure(of error: any Error, in name: String) -> Failure {
        guard DesktopKeyring(name) != nil else { return failure(of: error, for: .backup) }
        let failure = failure(of: error)
        return failure.explanation.asksForPasscode ? .passcodeOfOne(failure, .keyring) : failure
    }
}
