package import KCAgeEncryption
internal import KCAgePlugins
package import KCAsking
package import KCBackupArchive
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
internal import KCRecoveryKits
package import KCStoreTasks

/// An event about the keys of new archives.
package enum ArchiveKeyEvent: TaskEvent, Hashable, Sendable {
    /// The archive opens on this device alone, whose keys of files are its only ones.
    case opensHereAlone
    /// Only a plugin opens the archive.
    case needsPlugin
    /// Without kcbackup, a new version of age is needed to open the archive.
    case isPostQuantum
}

/// Why keys do not fit together for a new archive.
package enum ArchiveKeyProblem: Error, Hashable, Sendable {
    /// A public key is given as one that restores, and as one that only inspects.
    case givenForBoth
    /// Only keys that inspect are given, and nobody can be asked for a passphrase, which the field would give.
    case noRestoreKey(SecretField)
    /// A passphrase of files of public keys is given, and no such file.
    case passphraseOfNoFile
}

extension RecipientRequest {
    /// Returns the public keys, each once, in the order in which they were given.
    ///
    /// - Parameter others: the sources of other secrets, which may include standard input.
    /// - Throws: `ArchiveKeyProblem` (`passphraseOfNoFile`), `ReadTwice`, `AgeFailure`, and as
    ///   `TaskContext.recipients(in:passphrase:)`.
    package func recipients(_ others: SecretSource?..., in context: TaskContext) throws -> [GivenRecipient] {
        if passphrase != nil, files.isEmpty { throw ArchiveKeyProblem.passphraseOfNoFile }
        try requireOneInput(files, others + [passphrase])
        let all =
            try keys.map { try GivenRecipient.parse($0, plugins: context.plugins) }
            + files.flatMap { try context.recipients(in: $0, passphrase: passphrase) }
        return GivenRecipient.once(all)
    }
}

extension GivenRecipient {
    /// The public keys, each once.
    package static func once(_ recipients: [GivenRecipient]) -> [GivenRecipient] {
        var seen: Set<GivenRecipient> = []
        return recipients.filter { seen.insert($0).inserted }
    }

    /// Parses the public key of an option.
    ///
    /// - Throws: `AgeFailure`: `unsupportedRecipient`, `malformedRecipient`.
    package static func parse(_ text: String, plugins: any PluginHost) throws(AgeFailure) -> GivenRecipient {
        if let recipient = GivenRecipient(text, plugins: plugins) { return recipient }
        if let kind = RecipientFile.unsupportedKind(text[...], withPlugins: true) {
            throw .unsupportedRecipient(line: nil, kind: kind)
        }
        throw .malformedRecipient
    }
}

extension ArchiveKeyRequest {
    /// Returns the given public keys, without duplicates, and those of the recovery kits of this device.
    ///
    /// - Throws: `ArchiveKeyProblem`, `KitProblem`, `ArchiveFailure`, `DeviceKeyFailure`, and as
    ///   `RecipientRequest.recipients`.
    package func recipients(in context: TaskContext) throws -> GivenRecipients {
        var given = GivenRecipients()
        given.restoring = try restoring.recipients(passphrase, in: context)
        // A key given for both purposes is a mistake, and guessing wrong would let it open secrets.
        let restoring = Set(given.restoring)
        given.inspecting = GivenRecipient.once(
            try inspecting.map { try GivenRecipient.parse($0, plugins: context.plugins) })
        if given.inspecting.contains(where: restoring.contains) { throw ArchiveKeyProblem.givenForBoth }
        // Before anything is asked or read, and when a job is made.
        for case .plugin(let recipient) in given.restoring + given.inspecting {
            _ = try context.plugins.path(of: recipient.plugin)
        }
        // An archive that only inspect keys open could never be restored.
        let asks = passphrase != nil || context.asking.isAttended
        if given.restoring.isEmpty, !inspecting.isEmpty, !asks { throw ArchiveKeyProblem.noRestoreKey(passphraseField) }
        try addKits(to: &given, on: context.machine)
        given.reach = try reach(of: given, on: context.machine)
        tell(of: given, in: context)
        return given
    }

    /// Adds the recovery kits of this device, which open each archive.
    private func addKits(to given: inout GivenRecipients, on machine: Machine) throws {
        let kits = try machine.recoveryKits()
        if let kit = kits.first(where: { $0.retired == nil && given.inspecting.contains(.native($0.recipient)) }) {
            throw KitProblem.inspecting(fingerprint: kit.fingerprint)
        }
        given.knownKits = Set(kits.map(\.recipient.description.exact))
        let seen = Set(given.restoring + given.inspecting)
        let others = kits.filter { $0.retired == nil && !seen.contains(.native($0.recipient)) }
        given.kits = others.map(\.recipient)
        try Self.requireOneStrength(given, others)
    }

    private func tell(of given: GivenRecipients, in context: TaskContext) {
        if given.reach == .thisDevice { context.tell(ArchiveKeyEvent.opensHereAlone) }
        if passphrase == nil, !given.restoring.isEmpty, given.opening.allSatisfy(\.needsPlugin) {
            context.tell(ArchiveKeyEvent.needsPlugin)
        }
        if given.opening.contains(where: { $0.isPostQuantum == true }) { context.tell(ArchiveKeyEvent.isPostQuantum) }
    }

    /// The reach of an archive with these keys.
    private func reach(of given: GivenRecipients, on machine: Machine) throws -> KeyReach {
        if asks(given) { return .anywhere }
        return try machine.hasKeys(of: given.opening) ? .thisDevice : .itsKeys
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
    package func keys(_ given: GivenRecipients, of keychain: String, in context: TaskContext) throws -> ArchiveKeys {
        guard asks(given) else { return try maker(given, of: keychain, in: context).make() }
        return try context.quietly(passphrase) { try maker(given, of: keychain, in: context).make() }
    }

    /// Checks that a passphrase that was given can be read, before anything else is asked for.
    ///
    /// - Throws: as `SecretInput.require`.
    package func requirePassphrase(in context: TaskContext) throws {
        if passphrase != nil { try context.secrets.require(wanted) }
    }

    private var wanted: WantedSecret { WantedSecret(.passphraseOfNewArchive, .passphrase, from: passphrase) }

    /// True if the archive gets a passphrase.
    private func asks(_ given: GivenRecipients) -> Bool { passphrase != nil || given.restoring.isEmpty }

    /// Returns a maker for the keys of any number of new archives, after asking once.
    ///
    /// - Throws: as `keys`.
    package func maker(
        _ given: GivenRecipients, of keychain: String, in context: TaskContext
    ) throws -> ArchiveKeyMaker {
        guard asks(given), let cost = context.machine.costs.passphrase else { return ArchiveKeyMaker(given) }
        let chosen = try context.secrets.new(wanted) { try context.judge($0, wanted, of: keychain) }
        return try ArchiveKeyMaker(
            given, passphrase: chosen ?? context.generatedPassphrase(.passphrase), cost: cost,
            quietly: { make in try context.quietly(passphrase) { try make() } })
    }

    /// Returns the names of the keys as recorded in a catalogue.
    package func names(_ given: GivenRecipients) -> [String] {
        given.opening.map(\.description) + given.inspecting.map { BackupPin.inspecting + $0.description }
            + (asks(given) ? [BackupPin.passphrase] : [])
    }
}

extension BackupRequest {
    /// The public keys, before anything is asked for; nil for an unencrypted archive.
    ///
    /// - Throws: as `ArchiveKeyRequest.recipients` and `ArchiveKeyRequest.requirePassphrase`.
    package func recipients(in context: TaskContext) throws -> GivenRecipients? {
        guard let keys else { return nil }
        let given = try keys.recipients(in: context)
        try keys.requirePassphrase(in: context)
        return given
    }
}
