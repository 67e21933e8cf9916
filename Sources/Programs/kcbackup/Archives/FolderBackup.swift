internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks

/// `create --to`: backs up one or all keychains to a backup folder.
struct FolderBackup {
    let request: FolderBackupRequest
    let accepted: RunExceptions
    let session: Session
    /// True if archives of other folders may be copied to the same place.
    var isCopied = false
    /// True to make the folder if it does not exist.
    var makesFolder = true
    /// The number of items in the last good backup of a run of one; nil if only the catalogue knows.
    var itemsBefore: Int?

    var path: String { request.folder }
    var backup: BackupRequest { request.backup }

    /// The result for one keychain.
    enum Result {
        /// The number of unreadable items that were named before comes last.
        case done(SeriesDestination.Outcome, CreateReport, told: Int)
        /// Nothing was read, since the store is as it was when this archive was made.
        case same(CatalogueEntry)
        case failed(Failure)
    }

    /// A subject that has been opened.
    struct Part {
        let subject: any NamedStore
        let series: String
        /// The subject of the series, as it is recorded.
        let identity: String
        let source: any ReadableStore

        /// The items that could not be read, as far as they have names.
        func unread(_ report: CreateReport) throws -> [String] {
            try source.unread.names.map { quoted($0) } + report.damaged.compactMap { $0?.words }
        }
    }

    /// The results for all keychains.
    struct Summary {
        fileprivate let results: [(name: String, result: Result)]
        /// The locked collections that were left out.
        fileprivate let locked: [String]
        /// The items that could not be read, in words.
        fileprivate let unread: [String]
        /// How many of them stay in their place by a rule.
        fileprivate let left: Int
        /// The job that the run is for.
        fileprivate let job: String?
        /// The public keys that open the archives; nil for unencrypted ones.
        fileprivate let keys: GivenRecipients?

        /// The exit status of the run: that of the first keychain that failed.
        var status: ExitStatus {
            if let explanation = failures.first { return explanation.status }
            return isIncomplete ? .incomplete : .ok
        }

        /// Why the run failed or is incomplete, in one explanation; nil if it succeeded.
        var explanation: Explanation? {
            if let first = failures.first {
                return failures.count == 1
                    ? first : first.prefixed("\(failures.count) of \(results.count) keychains failed; first, ")
            }
            guard isIncomplete else { return nil }
            if !locked.isEmpty {
                return Explanation(
                    .incomplete,
                    "\(locked.count == 1 ? "collection" : "collections") "
                        + "\(locked.map { quoted($0) }.joined(separator: ", ")) "
                        + "\(locked.count == 1 ? "is" : "are") locked, and in no new archive")
            }
            return Explanation(
                .incomplete,
                "\(unreadWords(damaged, left: left)), and \(damaged == 1 ? "is" : "are") in no new archive"
                    + unreadWords(unread, of: damaged),
                hints: left == 0 ? [] : [acceptingMissing(job: job)])
        }

        private var failures: [Explanation] {
            results.compactMap { name, result in
                guard case .failed(let failure) = result else { return nil }
                return failure.explanation.prefixed(results.count == 1 ? "" : "\(storeWords(name)): ")
            }
        }

        private var reports: [(SeriesDestination.Outcome, CreateReport)] {
            results.compactMap {
                if case .done(let outcome, let report, _) = $0.result { (outcome, report) } else { nil }
            }
        }

        private var damaged: Int { reports.reduce(0) { $0 + $1.1.damaged.count } }
        private var isIncomplete: Bool { damaged > 0 }
        private var same: [CatalogueEntry] {
            results.compactMap { if case .same(let entry) = $0.result { entry } else { nil } }
        }
        /// True if the backup of a keychain succeeded.
        var isBackedUp: Bool { !reports.isEmpty || !same.isEmpty }
        /// The number of items in the archives.
        var items: Int {
            reports.reduce(0) { $0 + $1.1.contents.counts.total }
                + same.reduce(0) { $0 + ($1.content?.counts.total ?? 0) }
        }
        /// The number of new archives.
        var saved: Int { reports.count { if case .saved = $0.0 { true } else { false } } }
    }

    /// Backs up, and reports the results.
    func run() throws -> ExitStatus {
        let summary = try back()
        try tell(summary)
        return summary.status
    }

    /// Backs up.
    func back() throws -> Summary {
        let given = try backup.recipients(in: session)
        let single =
            try backup.isOfSeveral
            ? nil
            : StoreChoice.chosen(backup.storeName, forFolder: path, mayChange: accepted.mayChange, in: session)
        let names = try backup.isOfSeveral ? names() : []
        if backup.stores == .everyKeychain, names.isEmpty {
            let standard = try LocalKeychain(nil, in: session.machine)
            if let gone = GoneKeychain.left(of: standard, in: session.machine) { throw Refusal.noKeychain(gone) }
            throw Refusal.noKeychains(isDesktopRunning: try session.machine.desktopKeyring() == .running)
        }
        // A keychain has a device key already.
        if let single, single.kind != .keychain { try session.context.makeDeviceKey() }
        let folder = try session.backupFolder(
            path, waitingAtMost: request.waiting, mayBeNew: makesFolder, maySwitch: accepted.mayChange)
        let hasTrash = folder.catalogue.entries.contains { $0.state == .trashed }
        let trash = hasTrash ? "\(path)/\(BackupFolder.trashName)" : nil
        do {
            return try back(up: single, names, given, into: folder, trash)
        } catch {
            throw session.failure(of: error).blaming(trash: trash)
        }
    }

    private func back(
        up single: (any NamedStore)?, _ names: [String], _ given: GivenRecipients?, into folder: BackupFolder,
        _ trash: String?
    ) throws -> Summary {
        var (parts, results) = try parts(single, names)
        _ = try folder.emptyTrash(now: session.now)
        try warnOfUnlisted(in: folder)
        if backup.isOfSeveral {
            setAsideNamesakes(&parts, &results, in: folder)
            try setAsideReplaced(&parts, &results, in: folder)
        }
        let pin = BackupPin(
            isOfAll: backup.isOfSeveral, mode: backup.isUnencrypted ? .unencrypted : .encrypted,
            keys: given.flatMap { backup.keys?.names($0) } ?? [],
            kits: given?.knownKits ?? [],
            subjects: parts.subjects,
            moved: try session.machine.moved(parts.subjects, since: folder.catalogue.pin?.subjects))
        try folder.use(for: pin, maySwitch: accepted.mayChange)
        var maker: ArchiveKeyMaker?
        var unread: [String] = []
        for part in parts {
            session.subject.store = part.subject.name
            do {
                if given != nil { try part.source.open(.all) }
                if let given, let keys = backup.keys, maker == nil {
                    maker = try keys.maker(given, of: part.subject.name, in: session)
                }
                let result = try back(up: part, into: folder, maker)
                results.append((part.subject.name, result))
                if case .done(_, let report, _) = result { unread += try part.unread(report) }
            } catch {
                guard backup.isOfSeveral else { throw error }
                let failure = session.backupFailure(of: error, in: part.subject.name).blaming(trash: trash)
                results.append((part.subject.name, .failed(failure)))
            }
        }
        return Summary(
            results: results.sorted { $0.name.exact < $1.name.exact },
            locked: try parts.flatMap { try $0.source.unread.lockedCollections },
            unread: unread, left: try parts.reduce(0) { try $0 + $1.source.unread.left }, job: session.job, keys: given)
    }

    /// The names of the stores of a backup of several.
    private func names() throws -> [String] {
        let keychains = try LocalKeychain.names(in: session.machine.dataFolder)
        guard backup.stores == .home else { return keychains }
        try NamedHome(root: .home).requirePlace(in: session.machine)
        try session.context.makeDeviceKey()
        switch try session.machine.desktopKeyring() {
        case .running: return keychains + [DesktopKeyring.all.name, HomeRoot.home.storeName]
        // The warnings of a job are not shown, so the keyring is reported as a store that failed.
        case .unreachable where session.job != nil:
            return keychains + [DesktopKeyring.all.name, HomeRoot.home.storeName]
        case .absent, .unreachable:
            session.warn("no desktop keyring runs here, and none is backed up")
            return keychains + [HomeRoot.home.storeName]
        }
    }

    /// Opens what is backed up; of several stores, one that cannot be opened is a result.
    private func parts(
        _ single: (any NamedStore)?, _ names: [String]
    ) throws -> ([Part], [(name: String, result: Result)]) {
        if let single { return ([try part(single, backup)], []) }
        var parts: [Part] = []
        var results: [(name: String, result: Result)] = []
        for name in names {
            do {
                parts.append(try part(StoreChoice.named(name, in: session.machine), backup.of(name, in: session)))
            } catch {
                results.append((name, .failed(session.backupFailure(of: error, in: name))))
            }
        }
        return (parts, results)
    }

    private func warnOfUnlisted(in folder: BackupFolder) throws {
        guard folder.catalogue.entries.isEmpty, case let unlisted = try folder.unlisted(), !unlisted.isEmpty else {
            return
        }
        session.warn(
            "\(counted(unlisted.count, "archive")) in \(quoted(path)) "
                + "\(unlisted.count == 1 ? "is" : "are") not in its catalogue, and nothing is compared with them; "
                + "'kcbackup list \(OptionName.rebuild.spelling)' enters them")
    }

    private func part(_ subject: any NamedStore, _ request: BackupRequest) throws -> Part {
        let items = try subject.open(StoreOptions(request), in: session).items
        let keychain = (subject as? LocalKeychain)?.subject(items.identity, in: session.machine)
        return Part(
            subject: subject, series: ArchiveName.series(of: subject.stem),
            identity: keychain?.text ?? items.identity, source: items)
    }

    private func back(
        up part: Part, into folder: BackupFolder, _ maker: ArchiveKeyMaker?
    ) throws -> Result {
        // The objects of JSON say more of the contents than the catalogue knows.
        let mayBeSame = request.ifChanged && !session.style.isJSON
        let destination = SeriesDestination(
            folder, series: part.series,
            rules: SeriesDestination.Rules(
                skipsUnchanged: request.ifChanged, acceptsShrinkage: accepted.acceptsShrinkage,
                acceptsMissing: try !part.source.unread.lockedCollections.isEmpty,
                itemsBefore: backup.isOfSeveral ? nil : itemsBefore),
            given: isCopied ? GivenNames(in: session.machine.dataFolder.path + "/archive-names") : nil,
            state: request.ifChanged ? try part.source.state() : nil)
        if mayBeSame, try destination.confirm(now: session.now), case .unchanged(let entry)? = destination.outcome {
            warnOfLoss(of: part)
            return .same(entry)
        }
        let making = try CreateBackup(
            of: part.subject.archiveSource(), device: folder.device, tool: session.machine.tool, to: destination,
            now: session.now)
        let report: CreateReport
        do {
            report = try backup.make(making, of: part.source, with: maker?.make(), in: session)
        } catch CatalogueFailure.shrunk(var loss) {
            let unread = try part.source.unread
            (loss.unreadNames, loss.left) = (unread.names, unread.left)
            throw CatalogueFailure.shrunk(loss)
        }
        warnOfLoss(of: part)
        if let failure = destination.entryFailure {
            session.warn(
                "the archive is saved, and the next run enters it into the catalogue: "
                    + session.failure(of: failure).explanation.message)
        }
        guard let outcome = destination.outcome else { preconditionFailure("a finished backup has an outcome") }
        return .done(outcome, report, told: try part.source.unread.count)
    }

    private func warnOfLoss(of part: Part) {
        guard backup.isUnencrypted, part.subject.kind == .keychain else { return }
        session.warnOfLoss(of: part.subject, part.source.identity)
    }

    private func tell(_ summary: Summary) throws {
        let results = summary.results
        var json: [JSONValue] = []
        for (name, result) in results {
            switch result {
            case .done(let outcome, let report, let told):
                backup.warn(of: report, told: told, session)
                tell(outcome, report, of: name, summary.keys)
                json.append(outcome.json(of: name, report))
            case .same(let entry): tellSame(entry, of: name)
            case .failed(let failure):
                let explanation = failure.explanation.prefixed("\(storeWords(name)): ")
                session.message(explanation.lines)
                json.append(JSONValue.members([("keychain", .text(name))]).adding([("error", explanation.jsonBody)]))
            }
        }
        let saved = results.count { if case .done(.saved, _, _) = $0.result { true } else { false } }
        if saved > 0 { session.done = "\(counted(saved, "archive")) saved in \(displayed(path))" }
        if saved > 0, !backup.isUnencrypted { try session.noteKits() }
        if session.style.isJSON { try session.result(["folder": .text(path), "results": .list(json)], []) }
    }

    private func tell(
        _ outcome: SeriesDestination.Outcome, _ report: CreateReport, of name: String, _ keys: GivenRecipients?
    ) {
        if report.contents.counts.total == 0, report.damaged.isEmpty {
            session.warn("\(label(name)) there are no items, and none is in the backup")
        }
        switch outcome {
        case .saved(let entry):
            session.note(
                "\(label(name)) saved and verified \(counted(report.contents.counts.total, "item")) as "
                    + "\(displayed(entry.name)), \(byteCount(report.size))")
            if let words = backup.travelWords(report, keys) { session.note(words) }
            if report.notOpened > 0 {
                session.note(
                    "\(counted(report.notOpened, "item")) not opened, and not checked: that takes the passcode")
            }
        case .unchanged(let entry): tellSame(entry, of: name)
        }
    }

    /// The name before what is said of it; some names end with a colon themselves.
    private func label(_ name: String) -> String { displayed(name) + (name.exact.hasSuffix(":") ? "" : ":") }

    private func tellSame(_ entry: CatalogueEntry, of name: String) {
        session.note("\(label(name)) nothing has changed since \(displayed(entry.name))")
    }
}
