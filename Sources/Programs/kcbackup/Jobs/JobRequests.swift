internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

// The request of `create` for later runs, in another working folder and without a terminal.

extension BackupRequest {
    /// Returns the request with absolute paths.
    ///
    /// - Throws: `UsageProblem` (`notUnattended`, `empty`).
    func unattended(in session: Session) throws -> BackupRequest {
        var request = self
        if case .named(let name) = stores {
            let store = try StoreChoice.prefixed(name)?.absolute(in: session.machine).storeName
            request.stores = .named(store ?? (name.exact.contains("/") ? session.machine.absolute(name) : name))
        }
        switch access.key {
        case .passcode(let source):
            request.access.key = .passcode(try source.map { try session.unattended($0, .passcode) })
        case .escrow(let source): request.access.key = .escrow(try session.unattended(source, .escrow))
        }
        request.access.acceptMissing = access.acceptMissing.map(session.machine.absolute(inHome:))
        request.access.file.password = try access.file.password.map { try session.unattended($0, .password) }
        request.access.file.keyFile = access.file.keyFile.map { session.machine.absolute($0) }
        guard var keys else { return request }
        keys.passphrase = try keys.passphrase.map { try session.unattended($0, .passphrase) }
        keys.restoring.files = keys.restoring.files.map { session.machine.absolute($0) }
        keys.restoring.passphrase = try keys.restoring.passphrase.map {
            try session.unattended($0, .recipientsPassphrase)
        }
        request.mode = .encrypted(keys)
        return request
    }

    /// Reads the secrets that come from files, which a job needs every night.
    ///
    /// - Throws: the errors of `SecretInput`.
    func requireSources(in session: Session) throws {
        let secrets = session.context.secrets
        if case .file = access.key.passcode {
            _ = try secrets.existing(WantedSecret(.passcode(keychain: nil), .passcode, from: access.key.passcode))
        }
        if let source = access.key.escrow, case .file = source {
            _ = try secrets.keyFile(WantedSecret(.escrowKey, .escrow, from: source))
        }
        if let source = keys?.passphrase, case .file = source {
            // Each run sets it.
            _ = try secrets.new(WantedSecret(.passphraseOfNewArchive, .passphrase, from: source))
        }
        if case .file = access.file.password {
            _ = try secrets.existing(
                WantedSecret(.foreign(nil), .password, from: access.file.password))
        }
    }

    /// Warns of a keychain that does not exist, and of those with a passcode that the job does not have: it fails while they
    /// are locked, or, if several share one passcode, at any time.
    func warnOfLocks(of job: String, in session: Session) {
        do {
            if !isOfSeveral, try StoreChoice.named(storeName, in: session.machine).kind != .keychain {
                return
            }
            let names: [String?] =
                isOfSeveral ? try LocalKeychain.names(in: session.machine.dataFolder) : [storeName]
            for name in names {
                let local = try LocalKeychain(name, in: session.machine)
                guard try Path.exists(local.path) else {
                    // The keychain may be made later.
                    session.warn(
                        "there is no keychain \(quoted(local.name)), and job \(quoted(job)) fails until it is made; "
                            + "'kcbackup keychain list' shows those that are there")
                    continue
                }
                try requirePasscode(of: local.name, on: session.machine)
                let opened = try local.open(in: session.machine)
                guard needsPasscode(opened) else {
                    warnOfWrongKey(to: local, of: job, in: session)
                    continue
                }
                let failure = PasscodeNeeded(keychain: local.name, try local.naming { try .init(opened) })
                session.warn(explanation(of: .jobWithoutPasscode(job: job, failure), in: session))
            }
        } catch {
            let explanation = session.failure(of: error).explanation
            if explanation.status == .usage {
                session.warn(explanation.about(job: job))
            } else {
                session.warn(explanation.message)
            }
        }
    }

    /// Warns if what the job was given does not open a keychain, as `doctor` does: a wrong passcode is not counted.
    private func warnOfWrongKey(to local: LocalKeychain, of job: String, in session: Session) {
        session.subject.store = local.name
        do {
            try local.examine(access, isUnencrypted: isUnencrypted, in: session.context)
        } catch {
            let isOfOne = isOfSeveral && error is PasscodeNeeded
            let failure = isOfOne ? session.failure(of: error, for: .backup) : session.failure(of: error)
            session.warn("job \(quoted(job)) fails: \(failure.explanation.message)")
        }
    }

    /// Why a job that has no passcode fails, with hints that do for its stores.
    func explanation(of refusal: Refusal, in session: Session) -> Explanation {
        isOfSeveral ? session.failure(of: refusal, for: .backup).explanation : refusal.explanation
    }

    /// True if backups of a keychain fail while it is locked: nothing that opens it was given.
    func needsPasscode(_ keychain: Keychain) -> Bool {
        keychain.hasPasscode && !isUnencrypted && access.key.source == nil
    }
}

extension Session {
    /// Returns a source that does not depend on the working folder, and needs neither a terminal nor a shell.
    fileprivate func unattended(_ source: SecretSource, _ option: OptionName) throws(UsageProblem) -> SecretSource {
        switch source {
        case .file(let path): .file(machine.absolute(path))
        case .command, .credential: source
        case .terminal, .descriptor: throw .notUnattended(option)
        }
    }
}
