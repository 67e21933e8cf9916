internal import KCAsking
package import KCBackupArchive
package import KCBackupCatalogue
package import KCBackupEngine
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
package import KCKeychainModel
internal import KCLocalKeychains
internal import KCSecretService
package import KCStoreTasks

/// Why there is nothing to back up.
package enum NothingToBackUp: Error, Hashable, Sendable {
    case noKeychains(isDesktopRunning: Bool)
    case keychainGone(GoneKeychain)
}

/// Why one of several stores is not backed up.
package enum SetAsideProblem: Error, Hashable, Sendable {
    /// The archives of the store would have the name of those of another one; one of the two is this keychain.
    case namesake(of: String, keychain: String)
}

/// A failure of a backup to a folder, with what it is about.
package struct FolderBackupFailure: Error {
    package let cause: any Error
    /// The store, if the failure is of one.
    package let store: String?
    /// The file that could not be read, if it is the store.
    package var file: String?
    /// The trash of the folder, whose archives still take room.
    package let trash: String?
}

/// A backup of one or all stores to a backup folder.
///
/// ```swift
/// let summary = try FolderBackup(FolderBackupRequest(backup, to: "backups"), in: context).run()
/// print(summary.items, summary.results.count)
/// ```
package struct FolderBackup {
    let request: FolderBackupRequest
    let context: TaskContext
    package var accepted = RunExceptions()
    /// True if archives of other folders may be copied to the same place.
    package var isCopied = false
    /// True to make the folder if it does not exist.
    package var makesFolder = true
    /// True if a desktop keyring out of reach is a failure, since nobody sees events.
    package var requiresKeyring = false
    /// The number of items in the last good backup of a run of one; nil if only the catalogue knows.
    package var itemsBefore: Int?
    /// True to read what an archive holds although nothing has changed since it was made.
    package var needsContents = false
    /// True to tell which items restore on this device alone.
    package var namesBound = false

    package init(_ request: FolderBackupRequest, in context: TaskContext) {
        self.request = request
        self.context = context
    }

    private var path: String { request.folder }
    var backup: BackupRequest { request.backup }

    /// The result for one store.
    package enum Result {
        /// The number of unreadable items that were told before comes last.
        case done(SeriesDestination.Outcome, CreateReport, told: Int)
        /// Nothing was read, since the store is as it was when this archive was made.
        case same(CatalogueEntry)
        case failed(FolderBackupFailure)
    }

    /// An item that could not be read.
    package enum Unread {
        case named(String)
        case item(Item)
    }

    /// The results for all stores.
    package struct Summary {
        /// Sorted by the names of the stores.
        package let results: [(name: String, result: Result)]
        /// The locked collections that were left out.
        package let locked: [String]
        /// The items that could not be read, as far as they have names.
        package let unread: [Unread]
        /// The number of those that a rule leaves in their place.
        package let left: Int
        /// The public keys that open the archives; nil for unencrypted ones.
        package let keys: GivenRecipients?

        private var reports: [(outcome: SeriesDestination.Outcome, report: CreateReport)] {
            results.compactMap {
                if case .done(let outcome, let report, _) = $0.result { (outcome, report) } else { nil }
            }
        }

        private var same: [CatalogueEntry] {
            results.compactMap { if case .same(let entry) = $0.result { entry } else { nil } }
        }

        /// The number of items that could not be read.
        package var damaged: Int { reports.reduce(0) { $0 + $1.report.damaged.count } }

        /// True if the backup of a store succeeded, even if nothing had changed and there is no new archive.
        package var isBackedUp: Bool { !reports.isEmpty || !same.isEmpty }

        /// The number of items in the archives.
        package var items: Int {
            reports.reduce(0) { $0 + $1.report.contents.counts.total }
                + same.reduce(0) { $0 + ($1.content?.counts.total ?? 0) }
        }

        /// The number of new archives.
        package var saved: Int { reports.count { if case .saved = $0.outcome { true } else { false } } }
    }

    /// A store that has been opened.
    struct Part {
        let store: any NamedStore
        let series: String
        /// The subject of the series, as the catalogue records it.
        let identity: String
        let source: any ReadableStore

        /// The items that could not be read, as far as they have names.
        func unread(_ report: CreateReport) throws -> [Unread] {
            try source.unread.names.map { .named($0) } + report.damaged.compactMap { $0.map { .item($0) } }
        }
    }

    /// Backs up.
    ///
    /// - Throws: `NothingToBackUp`, `FolderBackupFailure`, `BackupFolderProblem`, `CatalogueFailure`, as
    ///   `BackupRequest.recipients` and `TaskContext.storeToBackUp`.
    package func run() throws -> Summary {
        let given = try backup.recipients(in: context)
        let single =
            try backup.isOfSeveral
            ? nil : context.storeToBackUp(backup.storeName, forFolder: path, mayChange: accepted.mayChange)
        let names = try backup.isOfSeveral ? names() : []
        if backup.stores == .everyKeychain, names.isEmpty {
            let standard = try LocalKeychain(nil, in: context.machine)
            if let gone = GoneKeychain.left(of: standard, in: context.machine) {
                throw NothingToBackUp.keychainGone(gone)
            }
            throw NothingToBackUp.noKeychains(isDesktopRunning: try context.machine.desktopKeyring() == .running)
        }
        // A keychain has a device key already.
        if let single, single.kind != .keychain { try context.makeDeviceKey() }
        let folder = try context.machine.backupFolder(
            path, waitingAtMost: request.waiting, mayBeNew: makesFolder, maySwitch: accepted.mayChange)
        let hasTrash = folder.catalogue.entries.contains { $0.state == .trashed }
        let trash = hasTrash ? "\(path)/\(BackupFolder.trashName)" : nil
        do {
            return try back(up: single, names, given, into: folder, trash)
        } catch let failure as FolderBackupFailure {
            throw FolderBackupFailure(
                cause: failure.cause, store: failure.store, file: failure.file, trash: trash)
        } catch {
            throw FolderBackupFailure(cause: error, store: nil, trash: trash)
        }
    }

    private func back(
        up single: (any NamedStore)?, _ names: [String], _ given: GivenRecipients?, into folder: BackupFolder,
        _ trash: String?
    ) throws -> Summary {
        var (parts, results) = try parts(single, names)
        _ = try folder.emptyTrash(now: context.now)
        try tellUnlisted(in: folder)
        if backup.isOfSeveral {
            setAsideNamesakes(&parts, &results, in: folder)
            try setAsideReplaced(&parts, &results, in: folder)
        }
        let pin = BackupPin(
            isOfAll: backup.isOfSeveral, mode: backup.isUnencrypted ? .unencrypted : .encrypted,
            keys: given.flatMap { backup.keys?.names($0) } ?? [], kits: given?.knownKits ?? [],
            subjects: parts.subjects,
            moved: try context.machine.moved(parts.subjects, since: folder.catalogue.pin?.subjects))
        try folder.use(for: pin, maySwitch: accepted.mayChange)
        var maker: ArchiveKeyMaker?
        var unread: [Unread] = []
        for part in parts {
            do {
                if given != nil { try part.source.open(.all) }
                if let given, let keys = backup.keys, maker == nil {
                    maker = try keys.maker(given, of: part.store.name, in: context)
                }
                let result = try back(up: part, into: folder, maker)
                results.append((part.store.name, result))
                if case .done(_, let report, _) = result { unread += try part.unread(report) }
            } catch {
                let failure = FolderBackupFailure(cause: error, store: part.store.name, trash: trash)
                guard backup.isOfSeveral else { throw failure }
                results.append((part.store.name, .failed(failure)))
            }
        }
        return Summary(
            results: results.sorted { $0.name.exact < $1.name.exact },
            locked: try parts.flatMap { try $0.source.unread.lockedCollections }, unread: unread,
            left: try parts.reduce(0) { try $0 + $1.source.unread.left }, keys: given)
    }

    /// The names of the stores of a backup of several.
    private func names() throws -> [String] {
        let keychains = try LocalKeychain.names(in: context.machine.dataFolder)
        guard backup.stores == .home else { return keychains }
        try NamedHome(root: .home).requirePlace(in: context.machine)
        try context.makeDeviceKey()
        switch try context.machine.desktopKeyring() {
        case .running: return keychains + [DesktopKeyring.all.name, HomeRoot.home.storeName]
        case .unreachable where requiresKeyring:
            return keychains + [DesktopKeyring.all.name, HomeRoot.home.storeName]
        case .absent, .unreachable:
            context.tell(BackupEvent.noKeyring)
            return keychains + [HomeRoot.home.storeName]
        }
    }

    /// Opens what is backed up; of several stores, one that cannot be opened is a result.
    private func parts(
        _ single: (any NamedStore)?, _ names: [String]
    ) throws -> ([Part], [(name: String, result: Result)]) {
        if let single {
            do {
                return ([try part(single, backup)], [])
            } catch {
                let file = single.kind == .file ? single.name : nil
                throw FolderBackupFailure(cause: error, store: single.name, file: file, trash: nil)
            }
        }
        var parts: [Part] = []
        var results: [(name: String, result: Result)] = []
        for name in names {
            do {
                let store = try StoreChoice.named(name, in: context.machine)
                parts.append(try part(store, backup.of(name, on: context.machine)))
            } catch {
                results.append((name, .failed(FolderBackupFailure(cause: error, store: name, trash: nil))))
            }
        }
        return (parts, results)
    }

    private func tellUnlisted(in folder: BackupFolder) throws {
        guard folder.catalogue.entries.isEmpty, case let unlisted = try folder.unlisted(), !unlisted.isEmpty else {
            return
        }
        context.tell(BackupEvent.unlisted(unlisted.count, folder: path))
    }

    private func part(_ store: any NamedStore, _ request: BackupRequest) throws -> Part {
        try store.kind.check(request.demands)
        let items = try store.opened(request.access, for: .archiving, in: context).items
        let keychain = (store as? LocalKeychain)?.subject(items.identity, in: context.machine)
        return Part(
            store: store, series: ArchiveName.series(of: store.stem), identity: keychain?.text ?? items.identity,
            source: items)
    }

    private func back(up part: Part, into folder: BackupFolder, _ maker: ArchiveKeyMaker?) throws -> Result {
        let destination = SeriesDestination(
            folder, series: part.series,
            rules: SeriesDestination.Rules(
                skipsUnchanged: request.ifChanged, acceptsShrinkage: accepted.acceptsShrinkage,
                acceptsMissing: try !part.source.unread.lockedCollections.isEmpty,
                itemsBefore: backup.isOfSeveral ? nil : itemsBefore),
            given: isCopied ? GivenNames(in: context.machine.dataFolder.path + "/archive-names") : nil,
            state: request.ifChanged ? try part.source.state() : nil)
        if request.ifChanged, !needsContents, try destination.confirm(now: context.now),
            case .unchanged(let entry)? = destination.outcome
        {
            tellIfLosable(part)
            return .same(entry)
        }
        let making = try CreateBackup(
            of: part.store.archiveSource(), device: folder.device, tool: context.machine.tool, to: destination,
            now: context.now)
        let report: CreateReport
        do {
            report = try backup.make(
                making, of: part.source, with: maker?.make(), namesBound: namesBound, in: context)
        } catch CatalogueFailure.shrunk(var loss) {
            let unread = try part.source.unread
            (loss.unreadNames, loss.left) = (unread.names, unread.left)
            throw CatalogueFailure.shrunk(loss)
        }
        tellIfLosable(part)
        if let failure = destination.entryFailure { context.tell(BackupEvent.enteredLater(failure)) }
        guard let outcome = destination.outcome else { preconditionFailure("a finished backup has an outcome") }
        return .done(outcome, report, told: try part.source.unread.count)
    }

    private func tellIfLosable(_ part: Part) {
        if backup.isUnencrypted { context.tellIfLosable(part.store, part.source.identity) }
    }
}
