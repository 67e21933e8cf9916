internal import KCBackupCatalogue
internal import KCByteStreams
package import KCKeychainModel

// Subjects that have had no good backup for a while.

extension BackupState.JobState {
    /// True if no run is due, since only changes start the job, and the last good run has found the last one.
    fileprivate func isCurrent(at now: Timestamp) -> Bool {
        guard job.time == nil, job.onChange, isGood, let good, good <= CatalogueEntry.latest(at: now) else {
            return false
        }
        if isUnchanged { return true }
        // A run begins when nothing has changed for a while.
        return changed.map { (0..<Self.mostPause).contains(now.seconds - $0.seconds) } ?? false
    }

    // In seconds.
    private static let mostPause: Int64 = 600
}

extension BackupState {
    /// Returns the jobs, and the keychains that are in a job or have had a backup, without a successful backup since a
    /// time, and the remotes without all copies or a receipt since then.
    ///
    /// Without any job or backup, everything is stale: the data folder may be the wrong one.
    package func stale(since limit: Timestamp, at now: Timestamp) -> [Stale] {
        let latest = CatalogueEntry.latest(at: now)
        func isOld(_ good: Timestamp) -> Bool { good < limit || good > latest }
        // Without a change, no run is due.
        let current = jobs.filter { $0.isCurrent(at: now) }.map(\.job.name)
        func isCurrent(_ job: String) -> Bool { current.contains { $0.exact == job.exact } }
        let copies = jobs.flatMap { job in
            job.copies.filter { copies in
                guard let good = copies.good else { return true }
                return isOld(good) && !(isCurrent(job.job.name) && good <= latest && copies.record?.failed == nil)
            }.map { Stale.copies(job: job.job.name, to: $0.to) }
        }
        let receipts = jobs.compactMap { job in
            job.receipts.flatMap { state in
                state.written.map(isOld) ?? true ? Stale.receipts(job: job.job.name, to: state.to) : nil
            }
        }
        let late = jobs.filter { $0.good.map(isOld) ?? true && !isCurrent($0.job.name) }.map(\.job.name)
        let stores = stores.filter { store in
            guard let good = store.good else { return !store.jobs.isEmpty }
            return isOld(good) && !store.jobs.contains(where: isCurrent)
        }
        let found: [Stale] =
            (late + unreadable.map(\.name)).map(Stale.job) + copies + receipts + stores.map { .store($0.name) }
        return found.isEmpty && jobs.isEmpty && !hasBackup(since: limit, at: now)
            ? [.everything(dataFolder: dataFolder)] : found
    }

    /// True if any backup since a time is on record, also one of what is gone, or is not among the stores.
    private func hasBackup(since limit: Timestamp, at now: Timestamp) -> Bool {
        catalogues.contains { catalogue in
            catalogue.complete.contains { entry in
                guard entry.isGood, let good = entry.lastGood(at: now) else { return false }
                return good >= limit
            }
        }
    }
}

extension BackupState.JobState {
    /// Looks what has changed since the last run of a job that runs after changes.
    ///
    /// - Returns: when something was last changed that no run has found, and true if nothing was; neither if it is not known.
    static func changes(
        since record: RunRecord?, of job: Job, in store: Jobs
    ) throws(FileFailure) -> (changed: Timestamp?, isUnchanged: Bool) {
        guard job.onChange, let files = WatchedFiles(of: job, in: store.dataFolder) else { return (nil, false) }
        let marks = try files.marks()
        return record?.hasSeen(marks) == true ? (nil, true) : (marks.newest, false)
    }
}
