internal import KCAgeEncryption
internal import KCAgePlugins
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCRecoveryKits
internal import KCStoreTasks

extension ArchiveKeyRequest {
    /// Returns the given public keys, without duplicates, and those of the recovery kits of this device.
    ///
    /// - Parameter option: the option that gives a new archive its passphrase.
    /// - Throws: `AgeFailure`, `FileFailure`, `ArchiveFailure`, `UsageProblem`, `KitProblem`, `DeviceKeyFailure`.
    func recipients(passphraseOf option: OptionName = .passphrase, in session: Session) throws -> GivenRecipients {
        var given = GivenRecipients()
        var seen: Set<GivenRecipient> = []
        for found in try restoring.recipients(passphrase, in: session) where seen.insert(found).inserted {
            given.restoring.append(found)
        }
        // A key given for both purposes is a mistake, and guessing wrong would let it open secrets.
        let restoring = seen
        for found in try inspecting.map({ try RecipientOptions.parse($0, plugins: session.context.plugins) }) {
            if restoring.contains(found) {
                throw UsageProblem(
                    "a public key is given as '\(OptionName.inspectRecipient.spelling)' and as one that restores",
                    hint: "a key that restores lists the items as well: leave it out of "
                        + "'\(OptionName.inspectRecipient.spelling)'")
            }
            if seen.insert(found).inserted { given.inspecting.append(found) }
        }
        // Before anything is asked or read, and when a job is made.
        for case .plugin(let recipient) in given.restoring + given.inspecting {
            _ = try session.context.plugins.path(of: recipient.plugin)
        }
        // An archive that only inspect keys open could never be restored.
        let asks = passphrase != nil || session.world.terminal.isAttended
        if given.restoring.isEmpty, !inspecting.isEmpty, !asks { throw UsageProblem.noRestoreKey(option) }
        let kits = try session.recoveryKits()
        if let kit = kits.first(where: { $0.retired == nil && given.inspecting.contains(.native($0.recipient)) }) {
            throw KitProblem.inspecting(fingerprint: kit.fingerprint)
        }
        given.knownKits = Set(kits.map(\.recipient.description.exact))
        let others = kits.filter { $0.retired == nil && !seen.contains(.native($0.recipient)) }
        given.kits = others.map(\.recipient)
        try Self.requireOneStrength(given, others)
        given.reach = try reach(of: given, in: session)
        if given.reach == .thisDevice {
            session.warn(
                "the archive opens on this device alone, whose keys of files are its only ones; a passphrase, another "
                    + "recipient or 'kcbackup recovery make' gives it a second key")
        }
        if passphrase == nil, !given.restoring.isEmpty, given.opening.allSatisfy(\.needsPlugin) {
            session.note(
                "only a plugin opens the archive, with the token or the machine that has its key; a passphrase or "
                    + "'kcbackup recovery make' gives it a second key")
        }
        if given.opening.contains(where: { $0.isPostQuantum == true }) {
            session.note("without kcbackup, age 1.3 or newer is needed to open the archive: its keys are post-quantum")
        }
        return given
    }

    /// Where something opens an archive with these keys.
    private func reach(of given: GivenRecipients, in session: Session) throws -> KeyReach {
        if asks(given) { return .anywhere }
        return try session.hasKeys(of: given.opening) ? .thisDevice : .itsKeys
    }

    /// Checks that all or none of the keys are post-quantum, so that no key weakens what another promises.
    private static func requireOneStrength(_ given: GivenRecipients, _ kits: [RecoveryKit]) throws {
        let chosen = (given.restoring + given.inspecting).compactMap(\.isPostQuantum)
        guard let isPostQuantum = chosen.first ?? given.kits.first?.isPostQuantum else { return }
        if chosen.contains(!isPostQuantum) { throw AgeFailure.incompatibleRecipients }
        if let kit = kits.first(where: { $0.recipient.isPostQuantum != isPostQuantum }) {
            throw KitProblem.otherStrength(fingerprint: kit.fingerprint, isPostQuantum: !isPostQuantum)
        }
    }

    /// Returns the keys of the new archive, with a passphrase if one is given, or if nothing else could restore the
    /// archive.
    ///
    /// - Parameter keychain: the name of the keychain, which is a bad passphrase.
    /// - Throws: errors of reading secrets, `ArchiveFailure`, `CryptographyFailure`.
    func keys(_ given: GivenRecipients, of keychain: String, in session: Session) throws -> ArchiveKeys {
        guard asks(given) else { return try maker(given, of: keychain, in: session).make() }
        return try session.context.quietly(passphrase) { try maker(given, of: keychain, in: session).make() }
    }

    /// Checks that a passphrase that was given can be read, before anything else is asked for.
    ///
    /// - Throws: as `SecretInput.require`.
    func requirePassphrase(in session: Session) throws {
        if passphrase != nil { try session.context.secrets.require(wanted) }
    }

    private var wanted: WantedSecret {
        WantedSecret(.passphraseOfNewArchive, .passphrase, from: passphrase)
    }

    /// True if the archive gets a passphrase.
    private func asks(_ given: GivenRecipients) -> Bool { passphrase != nil || given.restoring.isEmpty }

    /// Returns a maker for the keys of any number of new archives, after asking once.
    ///
    /// - Throws: as `keys`.
    func maker(_ given: GivenRecipients, of keychain: String, in session: Session) throws -> ArchiveKeyMaker {
        guard asks(given), let cost = session.machine.costs.passphrase else {
            return ArchiveKeyMaker(given)
        }
        let chosen = try session.context.secrets.new(
            wanted, judge: { try session.context.judge($0, wanted, of: keychain) })
        return try ArchiveKeyMaker(
            given, passphrase: chosen ?? session.generatePassphrase(), cost: cost,
            quietly: { make in try session.context.quietly(passphrase) { try make() } })
    }

    /// Returns the names of the keys as recorded in a catalogue.
    func names(_ given: GivenRecipients) -> [String] {
        given.opening.map(\.description) + given.inspecting.map { BackupPin.inspecting + $0.description }
            + (asks(given) ? [BackupPin.passphrase] : [])
    }
}
