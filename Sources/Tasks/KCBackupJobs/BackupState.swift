package import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCItemStores
package import KCKeychainModel
package import KCLocalKeychains

/// The state of all backups of a user, for each job and each keychain.
package struct BackupState {
    /// A job and its last runs.
    package struct JobState {
        package let job: Job
        /// Nil if it never ran, or if the record is unreadable.
        package let record: RunRecord?
        /// Why the record of its last run cannot be read.
        package let unreadableRecord: (any Error)?
        /// True if a run has begun and is still in progress.
        package let isRunning: Bool
        /// The copies on each remote of the job.
        package let copies: [CopyState]
        /// Its receipts in the fleet; nil if it is in none.
        package let receipts: ReceiptState?
        /// When something was last changed that no run has found; nil if nothing was, or if it is not known or not looked for.
        package let changed: Timestamp?
        /// True if it runs after changes, and the last run has found the last one.
        let isUnchanged: Bool
        /// True if it has run well, and no archive in its folder has an item.
        package fileprivate(set) var isAlwaysEmpty = false

        /// When the last successful run ended.
        package var good: Timestamp? { record?.good }

        /// True if a run is in progress that should have ended long ago.
        package func isOverdue(at now: Timestamp) -> Bool { isRunning && record?.isOverdue(at: now) == true }

        /// True if the last run ended well.
        package var isGood: Bool { record?.outcome == .good && record?.ended != nil }

        /// True if the job has not ended well for longer than its calendar allows; false if that is not known.
        package func isLate(at now: Timestamp) -> Bool {
            guard let good, let hours = job.longestPause else { return false }
            let age = now.seconds - good.seconds
            // A date in the future is not trusted, except from a clock that was slightly fast.
            return age > hours * 3_600 || age < -3_600
        }
    }

    /// The copies of a job in one folder of a remote.
    package struct CopyState {
        package let to: String
        /// Nil if no run has tried to copy, or if the records are unreadable.
        package let record: CopyRecord?
        /// Why the records cannot be read.
        package let unreadable: (any Error)?

        /// When all archives that were due were last there; nil if none of the copies is there anymore.
        package var good: Timestamp? { record.flatMap { $0.lost == 0 ? $0.good : nil } }
    }

    /// The receipts of a job in the folder of its fleet.
    package struct ReceiptState {
        package let to: String
        /// Nil if no run has tried to write one, or if the record is unreadable.
        package let record: ReceiptRecord?
        /// Why the record cannot be read.
        package let unreadable: (any Error)?

        /// When the newest receipt was written.
        package var written: Timestamp? { record?.written?.time }
    }

    /// A job whose file is damaged, or cannot be read.
    package struct UnreadableJob {
        package let name: String
        package let error: any Error

        package init(name: String, error: any Error) {
            self.name = name
            self.error = error
        }
    }

    /// A keychain or keyring, and its archives in all folders.
    package struct StoreState {
        /// The name, as `--keychain` takes it.
        package let name: String
        /// Its complete archives in all folders.
        package let entries: [CatalogueEntry]
        /// The jobs that back it up.
        package let jobs: [String]

        /// When a backup of it last succeeded: a time in the future, as of a clock that was fast, only if there is no other.
        package let good: Timestamp?

        fileprivate init(name: String, entries: [CatalogueEntry], jobs: [String], at now: Timestamp) {
            self.name = name
            self.entries = entries
            self.jobs = jobs
            good = entries.compactMap { $0.lastGood(at: now) }.max() ?? entries.map(\.lastGood).max()
        }

        /// The series of its archives.
        package var series: String { ArchiveName.series(of: DesktopKeyring(name)?.stem ?? name) }

        /// True if it is the desktop keyring, or a part of it.
        package var isDesktop: Bool { DesktopKeyring(name) != nil }
    }

    /// The newest backup of a keychain or keyring in a folder, if its file is not the recorded one.
    package struct Lost {
        package let series: String
        /// The keychain or keyring, as `--keychain` names it.
        package let name: String
        package let path: String
        package let state: CatalogueEntry.FileState
    }

    /// A subject that has had no successful backup for a while.
    package enum Stale: Hashable, Sendable {
        case job(String)
        case copies(job: String, to: String)
        case receipts(job: String, to: String)
        case store(String)
        /// Nothing at all: the data folder, which this names, has neither a job nor a backup since then.
        case everything(dataFolder: String)
    }

    package private(set) var jobs: [JobState]
    /// The jobs whose files are damaged, or cannot be read.
    package let unreadable: [UnreadableJob]
    package let stores: [StoreState]
    package let catalogues: [Catalogue]
    /// Why other catalogues cannot be read.
    package let failures: [CatalogueFailure]
    /// The newest backups whose files are not the recorded ones, at most one for each folder and keychain.
    package let lost: [Lost]
    /// When it was collected.
    private let now: Timestamp
    let dataFolder: String

    /// Collects the state; changes nothing.
    ///
    /// - Parameters:
    ///   - storeID: returns the ID of a keychain file; nil if the keychain cannot be opened.
    ///   - isAt: true if the keychain with an ID is at a place outside of the data folder, or may be.
    ///   - desktopHasItems: true if a desktop keyring is running and has items; asked only where there is nothing else.
    /// - Throws: `CatalogueFailure`, `FileFailure`, `LocalKeychainFailure`, the errors of `LocalDevice.keyIfAny`, and
    ///   what `desktopHasItems` throws.
    package init(
        of store: Jobs, at now: Timestamp, storeID: (LocalKeychain) -> String?,
        isAt: (_ place: String, _ id: String) -> Bool, desktopHasItems: () throws -> Bool
    ) throws {
        self.now = now
        dataFolder = store.dataFolder.path
        (jobs, unreadable) = try Self.jobs(in: store)
        let folders = jobs.map(\.job.folder) + jobs.map(\.job.place)
        let known = try store.device.keyIfAny().map {
            try CatalogueFile.all(in: store.dataFolder.catalogues, device: $0, likelyOf: folders)
        }
        catalogues = known?.found ?? []
        failures = known?.failures ?? []
        for index in jobs.indices where jobs[index].good != nil && jobs[index].record?.items == 0 {
            let place = CatalogueFile.place(of: jobs[index].job.folder)
            let entries = catalogues.first { $0.folder.exact == place.exact }?.complete ?? []
            jobs[index].isAlwaysEmpty = entries.allSatisfy { $0.content?.counts.total == 0 }
        }
        // Where a link has replaced a folder, the files there are those of another catalogue.
        lost = try Self.lost(in: catalogues.filter { CatalogueFile.place(of: $0.folder).exact == $0.folder.exact })
        var stores: [StoreState] = []
        let keychains = try LocalKeychain.names(in: store.dataFolder).map { name in
            let local = try LocalKeychain(name, in: store.dataFolder)
            return (local: local, series: ArchiveName.series(of: name), id: storeID(local))
        }
        let holders = KeychainHolders(
            keychains.compactMap { keychain in keychain.id.map { (series: keychain.series, id: $0) } })
        for (local, own, id) in keychains {
            var entries: [CatalogueEntry] = []
            if let id {
                for catalogue in catalogues {
                    let series = holders.series(
                        of: KeychainSubject(id: id, place: nil), named: own, in: catalogue, isAt: isAt)
                    entries += catalogue.complete.filter { series.contains($0.series.exact) && $0.isGood }
                }
            }
            stores.append(
                StoreState(
                    name: local.name, entries: entries, jobs: jobs.filter { $0.job.covers(local) }.map(\.job.name),
                    at: now))
        }
        var shows = false
        if jobs.isEmpty {
            let isChosen = try KeychainLists.load(from: store.dataFolder).store == .desktop
            if isChosen { shows = true } else if stores.isEmpty { shows = try desktopHasItems() }
        }
        self.stores = stores + Self.desktops(in: catalogues, jobs, always: shows ? [.all] : [], at: now)
    }

    private static func jobs(in store: Jobs) throws -> ([JobState], [UnreadableJob]) {
        var states: [JobState] = []
        var unreadable: [UnreadableJob] = []
        for name in try store.names() {
            do {
                let job = try store.job(name)
                var record: RunRecord?
                var unreadableRecord: (any Error)?
                do {
                    record = try store.record(name)
                } catch {
                    unreadableRecord = error
                }
                let (changed, isUnchanged) = try JobState.changes(since: record, of: job, in: store)
                let isRunning = try record.map { $0.ended == nil } == true && store.isRunning(name)
                states.append(
                    JobState(
                        job: job, record: record, unreadableRecord: unreadableRecord, isRunning: isRunning,
                        copies: try copies(of: job, in: store), receipts: receipts(of: job, in: store),
                        changed: changed, isUnchanged: isUnchanged))
            } catch {
                unreadable.append(UnreadableJob(name: name, error: error))
            }
        }
        return (states, unreadable)
    }

    /// Returns the copies of a job on each of its remotes.
    private static func copies(of job: Job, in store: Jobs) throws -> [CopyState] {
        let folders = try job.copyFolders(of: store.device.key().id)
        do {
            let records = try store.copies(job.name)
            return folders.map { to in
                CopyState(to: to, record: records.first { $0.to.exact == to.exact }, unreadable: nil)
            }
        } catch {
            return folders.map { CopyState(to: $0, record: nil, unreadable: error) }
        }
    }

    /// Returns the receipts of a job in its fleet.
    private static func receipts(of job: Job, in store: Jobs) -> ReceiptState? {
        guard let to = job.fleet else { return nil }
        do {
            let record = try store.receipts(job.name)
            // Another fleet knows nothing of the receipts in this one.
            return ReceiptState(to: to, record: record?.to.exact == to.exact ? record : nil, unreadable: nil)
        } catch {
            return ReceiptState(to: to, record: nil, unreadable: error)
        }
    }

    /// Returns the desktop keyrings that have a backup or are in a job, and others that are always shown.
    private static func desktops(
        in catalogues: [Catalogue], _ jobs: [JobState], always: [DesktopKeyring], at now: Timestamp
    ) -> [StoreState] {
        var entries: [ExactText: [CatalogueEntry]] = [:]
        for keyring in always + jobs.compactMap({ DesktopKeyring($0.job.keychain) }) {
            entries[keyring.name.exact] = []
        }
        for catalogue in catalogues {
            for (series, name) in catalogue.pin?.subjects ?? [:] where DesktopKeyring(name) != nil {
                entries[name.exact, default: []] += catalogue.complete.filter {
                    $0.series.exact == series && $0.isGood
                }
            }
        }
        return entries.sorted { $0.key < $1.key }.map { name, entries in
            StoreState(
                name: name.string, entries: entries,
                jobs: jobs.filter { $0.job.covers(keyring: name.string) }.map(\.job.name), at: now)
        }
    }

    private static func lost(in catalogues: [Catalogue]) throws -> [Lost] {
        var lost: [Lost] = []
        for catalogue in catalogues {
            var newest: [ExactText: CatalogueEntry] = [:]
            for entry in catalogue.complete { newest[entry.series.exact] = entry }
            for (series, entry) in newest.sorted(by: { $0.key < $1.key }) {
                let path = "\(catalogue.folder)/\(entry.name)"
                let state = try entry.fileState(at: path)
                if state == .recorded { continue }
                // The names of archives begin with the name that their keychain had.
                let identity = catalogue.pin?.subjects[series]
                let name = identity.flatMap { DesktopKeyring($0)?.name } ?? series.string
                lost.append(Lost(series: series.string, name: name, path: path, state: state))
            }
        }
        return lost
    }

    /// The seconds of a time for a metric, whose age an alarm measures; 0 if there is none, or one in the future.
    package func seconds(_ good: Timestamp?) -> Int64 {
        guard let good, good <= CatalogueEntry.latest(at: now) else { return 0 }
        return good.seconds
    }
}
