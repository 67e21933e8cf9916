internal import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel
internal import KCLocalKeychains
package import KCSecretService

/// The desktop keyring, or one of its collections, as it is restored into: a collection may not exist yet.
package final class RestorableKeyring: RestorableStore {
    private let scope: ServiceScope
    private let making: ServiceTarget.Making
    private let setting: StateSetting
    private let folder: ArchivedStateFolder
    private let connect: () throws -> SecretServiceClient
    private var connected: SecretServiceClient?

    /// - Parameters:
    ///   - scope: what the user named.
    ///   - making: how collections are made that do not exist.
    ///   - connect: connects to the service, with its collections unlocked.
    package init(
        _ scope: ServiceScope, making: ServiceTarget.Making, _ setting: StateSetting,
        connect: @escaping () throws -> SecretServiceClient
    ) {
        self.scope = scope
        self.making = making
        self.setting = setting
        self.connect = connect
        folder = ArchivedStateFolder(setting, of: ArchiveSource.desktopKeyring, below: setting.home)
    }

    private func client() throws -> SecretServiceClient {
        if let connected { return connected }
        let client = try connect()
        connected = client
        return client
    }

    /// Nil: which collections are missing follows from all items of the archive.
    package func newStore(for source: RestoreSource) -> NewStore? { nil }

    /// See `RestorableStore`; running a restore again finishes one that was broken off.
    package func restore(_ request: RestoreRequest, _ observer: RestoreObserver) throws -> RestoreReport {
        if connected == nil {
            // Refuses what may not be restored, before anything is asked for.
            _ = try Bring(request.source, options: request.options)
            try request.openArchive(true)
        }
        return try KeyringStates(client(), setting).restore(
            request.source, request.options, for: scope, ServiceTarget.Options(scope: scope, making: making),
            .init(command: request.change, isKept: request.keepsState), observer)
    }

    package func loss(of item: Item) -> ItemLoss? {
        ItemLoss(
            attributes: ServiceMapping.unmappedAttributes(item), extra: ServiceMapping.unmappedExtra(item),
            hasSecretMade: item.secretSize == nil)
    }

    /// Lists the states that have items of the scope; the service is asked only for the label of a collection.
    package func states() throws -> StateList {
        let filter =
            scope == .all ? nil : try client().label(of: scope).map { ServiceMapping.filter(collection: $0) }
        let listed = try folder.names().map { name in
            let state = folder.state(name)
            return (state, try state.contents { try folder.count(filter, in: state) })
        }
        return StateList(
            states: listed.filter { _, contents in
                if filter != nil, case .success(let contents) = contents { contents.items > 0 } else { true }
            })
    }

    package func planUndo(to name: String?) throws -> UndoPlan {
        let known = try folder.names()
        if known.isEmpty { throw StateFailure.none(named: nil) }
        let client = try client()
        let undo = try Undo(
            states: KeyringStates(client, setting), scope: scope, making, label: client.label(of: scope),
            spoolingIn: setting.temporaryFolder)
        var present: String?
        for candidate in known where name == nil || name?.exact == candidate.text.exact {
            let state = folder.state(candidate)
            let proven = try folder.open(state)
            if let filter = undo.filter, try folder.count(filter, in: state) == 0 { continue }
            let (changes, report) = try undo.rehearse(proven, of: state)
            if !report.writesSomething {
                if name != nil { throw StateFailure.present(name: state.name) }
                present = present ?? state.name
                continue
            }
            return UndoPlan(
                state: state, isOlder: name != nil && candidate != known.first, effect: .changes(changes),
                itemsAfter: report.contents.counts.total - report.counts.notSelected,
                check: { [folder] keepsState in try folder.requireKeepable(keepsState) }
            ) { [folder] keepsState in
                try undo.apply(changes, proven, .init(command: .undo, isKept: keepsState, used: candidate))
                if undo.filter != nil, try undo.isPresent(proven) {
                    try folder.alone { folder.tidy(removing: nil, using: candidate) }
                }
                return nil
            }
        }
        throw present.map { StateFailure.present(name: $0) } ?? .none(named: name)
    }

    /// Nil: a state is restored into a service that runs, and mends no file of it.
    package func planRepair(after error: any Error, to name: String?) -> UndoPlan? { nil }
}

/// Brings states back by restoring them.
private struct Undo {
    let states: KeyringStates
    let scope: ServiceScope
    /// The items of the collection that the user named; nil for all.
    let filter: ItemFilter?
    private let target: ServiceTarget.Options
    private let spoolFolder: String

    init(
        states: KeyringStates, scope: ServiceScope, _ making: ServiceTarget.Making, label: String?,
        spoolingIn folder: String
    ) {
        spoolFolder = folder
        self.states = states
        self.scope = scope
        filter = label.map { ServiceMapping.filter(collection: $0) }
        var target = ServiceTarget.Options(scope: .all, making: making)
        target.removesOnlyFrom = label
        self.target = target
    }

    private func options(isDryRun: Bool) -> RestoreOptions {
        var options = RestoreOptions()
        options.replacing = .all
        options.filter = filter
        options.isDryRun = isDryRun
        return options
    }

    /// - Throws: `StateFailure.unreadable` if the state is damaged; the failures of reading the service.
    func rehearse(_ proven: ProvenArchive, of state: KeptState) throws -> (UndoneChanges, RestoreReport) {
        let log = UndoneChanges.Log(spoolingIn: spoolFolder, knowsSince: false)
        let report: RestoreReport
        let observer = RestoreObserver(observe: { item, action in
            if action == .create { try log.bringBack(item) }
            if action == .update { try log.change(item) }
        })
        do {
            report = try states.restore(
                .archive(proven), options(isDryRun: true), for: scope, target, .init(command: .undo, isKept: false),
                observer)
        } catch let failure as ArchiveFailure {
            return try state.reading { throw failure }
        }
        for item in report.vanishing { try log.remove(item) }
        let counts = report.counts
        var changes = UndoneChanges()
        try log.finish(&changes)
        changes.itemsBefore = counts.update + counts.same + counts.keep + counts.remove
        return (changes, report)
    }

    func apply(_ changes: UndoneChanges, _ proven: ProvenArchive, _ given: KeyringStates.Keeping) throws {
        var options = options(isDryRun: false)
        options.removable = try changes.vanishing.uuids()
        options.updatable = try changes.changing.uuids()
        var keeping = given
        // The state may still be needed for other collections.
        if filter != nil { keeping.used = nil }
        _ = try states.restore(.archive(proven), options, for: scope, target, keeping)
    }

    /// True if all collections are as in a state of which one was brought back.
    func isPresent(_ proven: ProvenArchive) throws -> Bool {
        var options = options(isDryRun: true)
        options.filter = nil
        do {
            let target = ServiceTarget.Options(scope: .all, making: .refused)
            return try !states.restore(
                .archive(proven), options, for: .all, target, .init(command: .undo, isKept: false)
            ).writesSomething
        } catch SecretServiceFailure.lockedTarget, SecretServiceFailure.collectionMissing {
            // Another collection cannot be compared, so the state may be the only one that has its items.
            return false
        }
    }
}
