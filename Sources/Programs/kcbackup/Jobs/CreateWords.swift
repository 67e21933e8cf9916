internal import KCByteStreams
internal import KCConsole
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

// The options of `create` as arguments for a later run, in another working folder and without a terminal.

extension CreateOptions {
    /// Returns the folder, and the other arguments; paths are absolute.
    ///
    /// - Parameter subject: what is backed up, if it was not named and all keychains are not.
    ///
    /// - Throws: `UsageProblem` (`needsFolder`, `notUnattended`), and errors of reading recipients.
    func words(in session: Session) throws -> (words: [String], folder: String) {
        guard let to = folder.to, !to.isEmpty else { throw UsageProblem.needsFolder }
        return (try otherWords(in: session), session.absolute(to))
    }

    /// Returns the arguments that were given, without the folder; paths are absolute.
    ///
    /// - Throws: `UsageProblem` (`notUnattended`), and errors of reading recipients.
    func otherWords(in session: Session) throws -> [String] {
        if folder.change { throw UsageProblem.notUnattended(.change) }
        if folder.acceptShrink { throw UsageProblem.notUnattended(.acceptShrink) }
        var words: [String] = []
        if folder.all { words.append(OptionName.all.spelling) }
        if folder.home { words.append(OptionName.home.spelling) }
        if folder.ifChanged { words.append(OptionName.ifChanged.spelling) }
        if skipLocked { words.append(OptionName.skipLocked.spelling) }
        for path in acceptMissing { words += [OptionName.acceptMissing.spelling, session.absolute(inHome: path)] }
        if unencrypted { words.append(OptionName.unencrypted.spelling) }
        if folder.metadataReadable { words.append(OptionName.metadataReadable.spelling) }
        if let wait = folder.lock.lockWait {
            _ = try folder.lock.wait()
            words += [OptionName.lockWait.spelling, wait]
        }
        if let name = keychain.keychain {
            let isPath = name.exact.contains("/") || FileOfItems.path(name) != nil
            words += [OptionName.keychain.spelling, isPath ? try session.absolute(keychain: name) : name]
        }
        if let from = foreign.from { words += [OptionName.from.spelling, from] }
        if let source = foreign.password { words += try spell(source, .password, session) }
        if let file = foreign.keyFile { words += [OptionName.keyFile.spelling, session.absolute(file)] }
        if let source = keychain.passcode { words += try spell(source, .passcode, session) }
        if let escrow {
            guard let source = escrow.source else { throw UsageProblem.malformed(.escrow, form: EscrowSource.forms) }
            words += try spell(source, .escrow, session)
        }
        if let source = keys.passphrase { words += try spell(source, .passphrase, session) }
        for recipient in keys.restoring.recipient { words += [OptionName.recipient.spelling, recipient] }
        for file in keys.restoring.recipientsFile {
            words += [OptionName.recipientsFile.spelling, session.absolute(file)]
        }
        if let source = keys.restoring.recipientsPassphrase {
            words += try spell(source, .recipientsPassphrase, session)
        }
        for recipient in keys.inspectRecipient { words += [OptionName.inspectRecipient.spelling, recipient] }
        return words
    }

    /// Reads the secrets that come from files, which a job needs every night.
    ///
    /// - Throws: the errors of `SecretInput`.
    func requireSources(in session: Session) throws {
        let secrets = session.secrets
        if case .file = keychain.passcode {
            _ = try secrets.existing(WantedSecret(what: "passcode", flag: .passcode, source: keychain.passcode))
        }
        if let source = escrow?.source, case .file = source {
            _ = try secrets.keyFile(WantedSecret(what: "escrow key", flag: .escrow, source: source))
        }
        if case .file = keys.passphrase {
            // Each run sets it.
            _ = try secrets.new(
                WantedSecret(what: "passphrase of the archive", flag: .passphrase, source: keys.passphrase))
        }
        if case .file = foreign.password {
            _ = try secrets.existing(
                WantedSecret(what: "password", flag: .password, source: foreign.password, mayBeEmpty: true))
        }
    }

    /// Warns of a keychain that does not exist, and of those with a passcode that the job does not have: it fails while they
    /// are locked, or, if several share one passcode, at any time.
    func warnOfLocks(of job: String, in session: Session) {
        do {
            if !folder.isOfSeveral, try StoreChoice.named(keychain.keychain, in: session.world).kind != .keychain {
                return
            }
            let names: [String?] =
                folder.isOfSeveral ? try LocalKeychain.names(in: session.world.dataFolder) : [keychain.keychain]
            for name in names {
                let local = try LocalKeychain(name, in: session.world)
                guard try Path.exists(local.path) else {
                    // It may be made later.
                    session.warn(
                        "there is no keychain \(quoted(local.name)), and job \(quoted(job)) fails until it is made; "
                            + "'kcbackup keychain list' shows those that are there")
                    continue
                }
                try requirePasscode(of: local.name, in: session)
                let opened = try local.open(in: session)
                guard needsPasscode(opened) else {
                    warnOfWrongKey(to: local, of: job, in: session)
                    continue
                }
                let refusal = Refusal.jobWithoutPasscode(job: job, keychain: local.name, try .init(opened))
                session.warn(explanation(of: refusal, in: session))
            }
        } catch let problem as UsageProblem {
            session.warn(problem.explanation.about(job: job))
        } catch {
            session.warn(Failure(error, session.subjects).explanation.message)
        }
    }

    /// Warns if what the job was given does not open a keychain, as `doctor` does: a wrong passcode is not counted.
    private func warnOfWrongKey(to local: LocalKeychain, of job: String, in session: Session) {
        do {
            try local.examine(self, of: job, in: session)
        } catch {
            session.warn("job \(quoted(job)) fails: \(Failure(error, session.subjects).explanation.message)")
        }
    }

    /// Why a job that has no passcode fails, with hints that do for its stores.
    func explanation(of refusal: Refusal, in session: Session) -> Explanation {
        folder.isOfSeveral ? session.failure(of: refusal, for: .backup).explanation : refusal.explanation
    }

    /// True if backups of a keychain fail while it is locked: nothing that opens it was given.
    func needsPasscode(_ keychain: Keychain) -> Bool {
        keychain.hasPasscode && !unencrypted && escrow == nil && self.keychain.passcode == nil
    }

    private func spell(_ source: SecretSource, _ option: OptionName, _ session: Session) throws -> [String] {
        let word =
            switch source {
            case .file(let path): "file:" + session.absolute(path)
            case .command(let command): "cmd:" + command
            case .credential(let name): "cred:" + name
            case .terminal, .descriptor: throw UsageProblem.notUnattended(option)
            case .unknown: throw SecretProblem.notASource(option)
            }
        return [option.spelling, word]
    }
}

extension Session {
    /// Returns a path that does not depend on the working folder; an empty one, which names nothing, stays empty.
    func absolute(_ path: String) -> String {
        if path.isEmpty { return path }
        let resolved = world.resolve(path)
        if resolved.exact.hasPrefix("/") { return resolved }
        return (ProcessEnvironment.workingFolder ?? "") + "/" + resolved
    }

    /// Returns a path that does not depend on the working folder; '~' is the home, as messages write it.
    func absolute(inHome path: String) -> String {
        var path = path
        // A shell completes a link to a folder as a folder.
        while path.utf8.count > 1, let shorter = path.exact.removingSuffix("/") { path = shorter }
        return absolute(path.exact.removingPrefix(HomeRoot.home.start).map { "\(world.home)/\($0)" } ?? path)
    }

    fileprivate func absolute(keychain name: String) throws -> String {
        if let path = FileOfItems.path(name) { return "file:" + absolute(path) }
        return try StoreChoice.prefixed(name) == nil ? absolute(name) : name
    }
}
