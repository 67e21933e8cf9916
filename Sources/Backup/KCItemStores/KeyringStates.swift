internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel
package import KCLocalKeychains
package import KCSecretService

/// The states of the desktop keyring before changes, kept as unencrypted archives of this device.
///
/// The keyring has no transactions: one run at a time writes to it, and records what it is about to write.
package struct KeyringStates: StateKeeping {
    private let client: SecretServiceClient
    private let folder: ArchivedStateFolder
    private let setting: StateSetting

    package init(_ client: SecretServiceClient, _ setting: StateSetting) {
        self.client = client
        self.setting = setting
        folder = ArchivedStateFolder(setting, of: ArchiveSource.desktopKeyring, below: setting.home)
    }

    /// Changes items, one run at a time, after keeping the state.
    ///
    /// - Throws: `StateFailure.notKept`, and what `change` throws.
    package func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        try folder.alone {
            let result = try change {
                guard isKept else { return }
                _ = try keep(before: command)
                setting.didKeep()
            }
            folder.tidy(removing: nil)
            return result
        }
    }

    package func count() throws -> Int { try folder.names().count }

    /// How a restore keeps states.
    struct Keeping {
        /// The change that the user makes, for the list of states.
        let command: KeptStates.Change
        let isKept: Bool
        /// A state that is no longer needed after the restore.
        var used: ArchivedStateName?
    }

    /// Restores into the keyring, one run at a time.
    ///
    /// Before anything is written, the state is kept, unless it was kept by an earlier run that this one finishes.
    ///
    /// - Parameter scope: what the user named.
    /// - Throws: `StateFailure.notKept`, and what `Bring` throws.
    func restore(
        _ source: RestoreSource, _ options: RestoreOptions, for scope: ServiceScope, _ given: ServiceTarget.Options,
        _ keeping: Keeping, _ observer: RestoreObserver = RestoreObserver()
    ) throws -> RestoreReport {
        let backup = try Bring(source, options: options)
        let identity = try source.identity(on: setting.device.keyIfAny())
        let record = identity.map { RestoreRecord.name(of: $0, scope) }
        var given = given
        if options.isDryRun {
            given.unfinished = try record.flatMap { try folder.record($0) }?.planned
            given.secretCode = secretCode()
            let report = try backup.run(into: ServiceTarget(client, given), observer)
            try folder.requireKeepable(keeping.isKept && report.writesSomething)
            return report
        }
        return try folder.alone {
            let earlier = try record.flatMap { try folder.record($0) }
            given.unfinished = earlier?.planned
            given.secretCode = secretCode()
            var planned = earlier?.planned ?? UnfinishedRestore()
            var updated: Set<ItemUUID> = []
            given.willWrite = { code in
                // If the keyring was changed after the earlier run, undo must take back that change first.
                let kept = try earlier?.state.flatMap { try folder.names().first == $0 ? $0 : nil }
                let state = try kept ?? (keeping.isKept ? keep(before: keeping.command) : nil)
                if state != nil { setting.didKeep() }
                // Without a device key, which a kept state needs too, a restore that is broken off is not finished.
                guard let file = try record.flatMap({ try folder.file(ofRecord: $0) }) else { return }
                // An earlier run may have written over a secret, so its code of what was there before is the right one.
                for uuid in updated where planned.updated[uuid] == nil { planned.updated[uuid] = try code(uuid) }
                try RestoreRecord(state: state, planned: planned).write(to: file)
            }
            let observer = observer.observing { item, action in
                if action == .create { planned.created.insert(item.uuid) }
                if action == .update { updated.insert(item.uuid) }
            }
            let report = try backup.run(into: ServiceTarget(client, given), observer)
            let isWhole = report.failing.isEmpty && report.stayingBehind.isEmpty
            folder.tidy(removing: record, using: isWhole ? keeping.used : nil)
            return report
        }
    }

    /// Makes MACs of secrets under a key derived from the device key, which is read when the first one is needed.
    private func secretCode() -> (borrowing Span<UInt8>) throws -> [UInt8] {
        var code: HMAC?
        return { secret in
            if code == nil {
                let (device, _) = try setting.device.keyOrFirst()
                code = try HMAC(key: device.sourceSealKey(context: "unfinished restore"))
            }
            guard let made = try code?.authenticate(secret) else { preconditionFailure("the key was just read") }
            return made
        }
    }

    private func keep(before change: KeptStates.Change) throws(StateFailure) -> ArchivedStateName {
        do {
            // Locked items cannot be changed, so they need not be kept.
            let source = ServiceSource(try client.read(.all, needsAll: false), keepsAll: true)
            if let label = source.unkept.first { throw StateFailure.unkeepable(label: label) }
            let (device, _) = try setting.device.keyOrFirst()
            var name = ArchivedStateName(at: setting.now, after: try folder.names().first, before: change)
            let first = name
            let backup = CreateBackup(
                of: try ArchiveSource(kind: ArchiveSource.desktopKeyring, name: ""), device: device,
                tool: setting.tool,
                to: FolderDestination(folder: folder.path) { number in
                    name = first.next(number - 1)
                    return name.file
                }, now: setting.now, as: .keptState)
            _ = try backup.unencrypted(SealedSource(source.readable, deviceKey: device))
            return name
        } catch {
            throw .notKept(error)
        }
    }
}
