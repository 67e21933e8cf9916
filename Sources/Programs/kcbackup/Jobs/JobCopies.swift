internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText

/// The copies that a run of a job makes on remotes, after its backup.
struct JobCopies {
    let job: Job
    let jobs: Jobs
    let session: Session

    /// What became of the copies in one folder of a remote.
    struct Outcome {
        let to: String
        /// The number of archives that were copied.
        var copied = 0
        /// Those that had been copied and were gone.
        var gone: [String] = []
        /// Why not all that were due are there; nil if they are.
        var explanation: Explanation?
    }

    /// Copies to each folder; a failure at one does not keep the others from their copies.
    ///
    /// - Throws: errors of reading the catalogue and of keeping the records.
    func run() throws -> [Outcome] {
        guard !job.copyTo.isEmpty, let catalogue = try session.catalogueIfAny(of: job.folder) else { return [] }
        var records = try recordsIfReadable()
        var outcomes: [Outcome] = []
        for to in job.copyTo {
            var record = records.first { $0.to.exact == to.exact } ?? CopyRecord(to: to, tried: session.now)
            record.tried = session.now
            outcomes.append(copy(catalogue.complete, &record))
            records.removeAll { $0.to.exact == to.exact }
            records.append(record)
            try Interruption.withheld { try jobs.save(records, of: job.name) }
        }
        // A folder that was removed from the job begins anew if it comes back.
        let current = records.filter { record in job.copyTo.contains { $0.exact == record.to.exact } }
        if current.count < records.count { try jobs.save(current, of: job.name) }
        return outcomes
    }

    /// The records; none if their file is damaged, which costs no more than reading the newest copies back.
    private func recordsIfReadable() throws -> [CopyRecord] {
        do {
            return try jobs.copies(job.name)
        } catch JobFailure.recordDamaged {
            return []
        }
    }

    private func copy(_ entries: [CatalogueEntry], _ record: inout CopyRecord) -> Outcome {
        var outcome = Outcome(to: record.to)
        do {
            let folder = try job.remote(record.to, in: session)
            let names = try Set(folder.filesIfAny().map(\.name.exact))
            let plan = CopyPlan(entries, onRemote: names, record, now: session.now)
            outcome.gone = plan.gone
            let copier = ArchiveCopier(folder: folder, copiesReadable: job.copiesReadable, session: session)
            var failed: Set<ExactText> = []
            for entry in plan.due {
                do {
                    if try copier.copy("\(job.folder)/\(entry.name)", of: entry) == .copied { outcome.copied += 1 }
                } catch {
                    let explanation = Failure(error, session.subjects).explanation
                    outcome.explanation = outcome.explanation ?? explanation
                    failed.insert(entry.series.exact)
                    // What stands in the way of one archive may leave the others alone; a remote out of reach does not.
                    if explanation.status == .io || explanation.status == .interrupted { break }
                    continue
                }
                // Those after one that failed stay due, so that none is passed over.
                guard !failed.contains(entry.series.exact), let name = ArchiveName(entry.name) else { continue }
                record.newest[entry.series.exact] = CopyRecord.Newest(
                    name: name, checksum: entry.file.checksum, created: entry.created, verified: session.now)
            }
        } catch {
            outcome.explanation = Failure(error, session.subjects).explanation
        }
        if let explanation = outcome.explanation?.unattended {
            record.failed = CopyRecord.Failed(
                RunOutcome(code: explanation.status.code), message: explanation.message, hints: explanation.hints)
        } else {
            record.failed = nil
            record.good = session.now
        }
        return outcome
    }
}

extension [JobCopies.Outcome] {
    /// Why copies are missing, in one explanation; nil if none is.
    var explanation: Explanation? {
        let failed = compactMap { outcome in outcome.explanation.map { (to: outcome.to, explanation: $0) } }
        guard let first = failed.first else { return nil }
        let others = failed.count == 1 ? "" : " (and \(failed.count - 1) more)"
        return Explanation(
            .notCopied,
            "the backup is good, but is not copied to \(quoted(first.to))\(others): \(first.explanation.message)"
        ).adding(first.explanation.hints)
    }
}

extension Job {
    /// A folder that archives are copied to, as `REMOTE:PATH`.
    ///
    /// - Throws: `JobFailure.damaged` for another text, and as `RemoteFolder.init`.
    fileprivate func remote(_ to: String, in session: Session) throws -> RemoteFolder {
        guard let location = RemoteLocation(to) else { throw JobFailure.damaged(job: name, path: nil) }
        return try RemoteFolder(location, session.world.rclone())
    }

    /// Looks at a folder that archives are copied to; the first copy makes it.
    ///
    /// - Throws: as a copy to it.
    func look(at to: String, in session: Session) throws { _ = try remote(to, in: session).filesIfAny() }
}

extension RunRecord {
    /// What a run that did not end well was.
    var failureWords: String { status == .notCopied ? "of its last run" : "its last run failed" }
}
