internal import KCBackupArchive
internal import KCBackupTasks
internal import KCItemStores
internal import KCReportText
internal import KCSecretService

extension DesktopKeyring: NamedStore {
    var kind: StoreKind { .keyring }
    var recorded: (kind: String, name: String) { (ArchiveSource.desktopKeyring, label) }
    var plainStem: String { ArchiveSource.desktopKeyring }

    func opened(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        let store = try store(options, in: session)
        let source = try store.source()
        if options.isForArchive, source.collections.isEmpty, source.unreadableCount == 0 {
            throw SecretServiceFailure.noCollections
        }
        let title = label.isEmpty ? "desktop keyring" : words
        return OpenStore(
            items: store,
            title: ["\(title): \(counted(source.count, "item"))"] + source.collections.map(\.words),
            members: [("keychain", .text(name)), ("collections", .list(source.collections.map(\.json)))],
            isEveryCollection: isAll)
    }

    func changeable(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        try store(options, in: session)
    }

    private func store(_ options: StoreOptions, in session: Session) throws -> ServiceItemStore {
        let client = try connect(options.unlocking, passcode: options.passcodeOption.passcode, in: session)
        return ServiceItemStore(
            client, scope, identity: name, states: KeyringStates(client, session.stateSetting)
        ) {
            do {
                return try read(
                    client, needsAll: options.skipLocked != true, missing: options.isForArchive ? .ofArchive : .ofList,
                    in: session)
            } catch SecretServiceFailure.locked(let labels) where options.skipLocked == nil {
                // Nothing is left out here.
                throw SecretServiceFailure.lockedTarget(labels)
            }
        }
    }

    func restorable(_ options: StoreOptions, in session: Session) throws -> any RestorableStore {
        session.subject.store = name
        let (unlocking, passcode) = (options.unlocking, options.passcodeOption.passcode)
        return RestorableKeyring(
            scope, making: making(unlocking, passcode: passcode, in: session), session.stateSetting
        ) {
            try connect(unlocking, passcode: passcode, mayBeMissing: true, in: session)
        }
    }

    func examine(_ request: BackupRequest, of job: String, in session: Session) throws {
        let client = try connect(in: session)
        let locked = try client.locked(in: scope)
        if try !client.hasCollections { throw SecretServiceFailure.noCollections }
        if !locked.isEmpty, !request.access.skipsLocked, request.access.key.passcode == nil {
            throw SecretServiceFailure.lockedTarget(locked)
        }
    }
}
