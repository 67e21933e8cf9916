internal import KCByteStreams
internal import KCBackupCatalogue
internal import KCCryptography
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// The state of all backups of a user, for each job and each keychain.
struct BackupState {
    /// A job and its last runs.
    struct JobState {
        let job: Job
        /// Nil if it never ran, or if the record is unreadable.
        let record: RunRecord?
        /// Why the record of its last run cannot be read.
        let unreadableRecord: Failure?
        /// True if a run has begun and is still in progress.
        let isRunning: Bool

        /// When the last successful run ended.
        var good: Timestamp? { record?.good }
    }

    /// A keychain and its archives in all folders.
    struct KeychainState {
        let name: String
        /// Its complete archives in all folders.
        let entries: [CatalogueEntry]
        var archives: Int { entries.count }
        /// When a backup of it last succeeded.
        var good: Timestamp? { entries.map(\.lastGood).max() }
        /// The jobs that back it up.
        let jobs: [String]
    }

    /// The newest backup of a keychain or keyring in a folder, if its file is not the recorded one.
    struct Lost {
        let series: String
        /// What it is of, as `--keychain` names it.
        let name: String
        let path: String
        let state: CatalogueEntry.FileState

        var failure: Failure {
            switch state {
            case .recorded, .missing: .refused(.newestGone(keychain: name, path: path))
            case .damaged: .catalogue(.notWhole(name: path), job: nil)
            case .replaced(let difference): .catalogue(.replaced(name: path, difference), job: nil)
            }
        }
    }

    let jobs: [JobState]
    /// The jobs whose files are damaged, or cannot be read.
    let unreadable: [UnreadableJob]
    let keychains: [KeychainState]
    let catalogues: [Catalogue]
    /// Why other catalogues cannot be read.
    let failures: [Failure]
    /// The newest backups whose files are not the recorded ones, at most one for each folder and keychain.
    let lost: [Lost]

    /// Collects the state; changes nothing.
    ///
    /// - Throws: `CatalogueFailure`, `FileFailure`, and the errors of opening the device key.
    init(in session: Session) throws {
        let store = Jobs(session.world)
        var states: [JobState] = []
        var unreadable: [UnreadableJob] = []
        for name in try store.names() {
            do {
                let job = try store.job(name)
                var record: RunRecord?
                var unreadableRecord: Failure?
                do {
                    record = try store.record(name)
                } catch {
                    unreadableRecord = Failure(error, session.subjects)
                }
                let isRunning = try record.map { $0.ended == nil } == true && Self.isHeld(store, name)
                states.append(
                    JobState(
                        job: job, record: record, unreadableRecord: unreadableRecord, isRunning: isRunning))
            } catch {
                unreadable.append(UnreadableJob(name: name, failure: Failure(error, session.subjects)))
            }
        }
        jobs = states
        self.unreadable = unreadable
        let device = try LocalDevice(session.world).keyIfAny()
        let folders = states.map(\.job.folder) + states.map(\.job.place)
        let known = try device.map {
            try CatalogueFile.all(in: session.world.catalogues, device: $0, likelyOf: folders)
        }
        catalogues = known?.found ?? []
        failures = (known?.failures ?? []).map { Failure($0, session.subjects) }
        // Where a link has replaced a folder, the files there are those of another catalogue.
        lost = try Self.lost(in: catalogues.filter { CatalogueFile.place(of: $0.folder).exact == $0.folder.exact })
        var keychains: [KeychainState] = []
        for name in try LocalKeychain.names(in: session.world.dataFolder) {
            let local = try LocalKeychain(name, in: session.world)
            var entries: [CatalogueEntry] = []
            if let storeID = Self.storeID(of: local, in: session) {
                for catalogue in catalogues {
                    let series = catalogue.pin?.subjects.filter { $0.value.exact == storeID.exact }.keys
                    entries += catalogue.complete.filter {
                        series?.contains($0.series.exact) == true && $0.isComplete != false
                    }
                }
            }
            keychains.append(
                KeychainState(
                    name: name, entries: entries,
                    jobs: states.filter { $0.job.covers(local) }.map(\.job.name)))
        }
        let isAlone = keychains.isEmpty && jobs.isEmpty
        let shows = try isAlone && session.world.desktopKeyringHasItems() == true
        self.keychains = keychains + Self.desktops(in: catalogues, states, always: shows ? [.all] : [])
    }

    /// Returns the desktop keyrings that have a backup or are in a job, and others that are always shown.
    private static func desktops(
        in catalogues: [Catalogue], _ jobs: [JobState], always: [DesktopKeyring]
    ) -> [KeychainState] {
        var entries: [ExactText: [CatalogueEntry]] = [:]
        for keyring in always + jobs.compactMap({ DesktopKeyring($0.job.keychain) }) {
            entries[keyring.name.exact] = []
        }
        for catalogue in catalogues {
            for (series, name) in catalogue.pin?.subjects ?? [:] where DesktopKeyring(name) != nil {
                entries[name.exact, default: []] += catalogue.complete.filter {
                    $0.series.exact == series && $0.isComplete != false
                }
            }
        }
        return entries.sorted { $0.key < $1.key }.map { name, entries in
            KeychainState(
                name: name.string, entries: entries,
                jobs: jobs.filter { $0.job.keychain?.exact == name }.map(\.job.name))
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
                // What a keychain was called is the beginning of its archives' names.
                let identity = catalogue.pin?.subjects[series]
                let name = identity.flatMap { DesktopKeyring($0)?.name } ?? series.string
                lost.append(Lost(series: series.string, name: name, path: path, state: state))
            }
        }
        return lost
    }

    private static func isHeld(_ jobs: Jobs, _ name: String) throws -> Bool {
        do {
            _ = try jobs.lock(name, waitingAtMost: .zero)
            return false
        } catch {
            if error.problem == .busy { return true }
            throw error
        }
    }

    /// Returns the ID of a keychain file; nil, after a warning, if the keychain cannot be opened.
    private static func storeID(of local: LocalKeychain, in session: Session) -> String? {
        do {
            return Hexadecimal.encode(try local.open(in: session).storeID)
        } catch {
            session.warn(Failure(error, session.subjects).explanation.message)
            return nil
        }
    }

    /// Returns the jobs, and the keychains that are in a job or have had a backup, without a successful backup since a
    /// time.
    func stale(since limit: Timestamp, at now: Timestamp) -> [String] {
        // A date in the future is not trusted, except from a clock that was slightly fast.
        let latest = now.advanced(byMicroseconds: 3_600_000_000)
        func isOld(_ good: Timestamp) -> Bool { good < limit || good > latest }
        let jobs = (jobs.filter { $0.good.map(isOld) ?? true }.map(\.job.name) + unreadable.map(\.name))
            .map { "job \(quoted($0))" }
        let keychains = keychains.filter { $0.good.map(isOld) ?? !$0.jobs.isEmpty }
        return jobs + keychains.map { storeWords($0.name) }
    }
}

extension Job {
    /// True if the job backs up a keychain.
    func covers(_ keychain: LocalKeychain) -> Bool {
        if create.contains(OptionName.all.spelling) { return true }
        return [keychain.name.exact, keychain.path.exact].contains(self.keychain?.exact)
    }

    /// The keychain that the job names; nil for all.
    var keychain: String? {
        guard let option = create.firstIndex(of: OptionName.keychain.spelling), option + 1 < create.count else {
            return nil
        }
        return create[option + 1]
    }
}

/// Returns how long ago a time was, as in "7 h" and "3 days".
func age(_ time: Timestamp, at now: Timestamp) -> String {
    let seconds = now.seconds - time.seconds
    switch seconds {
    case ..<0: return "in the future"
    case ..<120: return "\(seconds) s"
    case ..<7_200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3_600) h"
    default: return "\(seconds / 86_400) days"
    }
}
