internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
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
        /// The newest copies that were read back or listed; those of keychains that are not backed up anymore are not.
        var found: [CopyRecord.Newest] = []
        /// Why not all that were due are there; nil if they are.
        var explanation: Explanation?
    }

    /// Copies to each folder; a failure at one does not keep the others from their copies.
    ///
    /// - Throws: errors of reading the catalogue and of keeping the records.
    func run() throws -> [Outcome] {
        let folders = try job.copyFolders(of: LocalDevice(session.world).key().id)
        guard !folders.isEmpty, let catalogue = try session.catalogueIfAny(of: job.folder) else { return [] }
        var records = try recordsIfReadable()
        var outcomes: [Outcome] = []
        for to in folders {
            var record = records.first { $0.to.exact == to.exact } ?? CopyRecord(to: to, tried: session.now)
            record.tried = session.now
            outcomes.append(copy(catalogue, &record))
            records.removeAll { $0.to.exact == to.exact }
            records.append(record)
            try Interruption.withheld { try jobs.save(records, of: job.name) }
        }
        // A folder that was removed from the job begins anew if it comes back.
        let current = records.filter { record in folders.contains { $0.exact == record.to.exact } }
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

    private func copy(_ catalogue: Catalogue, _ record: inout CopyRecord) -> Outcome {
        var outcome = Outcome(to: record.to)
        do {
            let folder = try job.remote(record.to, in: session)
            let files = try folder.filesIfAny()
            let sizes = Dictionary(files.map { ($0.name.exact, $0.size) }) { first, _ in first }
            let plan = CopyPlan(catalogue.complete, onRemote: sizes, record, now: session.now)
            outcome.gone = plan.gone
            let copier = ArchiveCopier(folder: folder, copiesReadable: job.copiesReadable, session: session)
            var failed: Set<ExactText> = []
            var doubtful: Set<ExactText> = []
            var readBack: Set<ExactText> = []
            for entry in plan.due {
                let copy: RemoteFolder.Copy
                do {
                    copy = try copier.copy("\(job.folder)/\(entry.name)", of: entry)
                    if copy.outcome == .copied { outcome.copied += 1 }
                } catch {
                    let explanation = Failure(error, session.subjects).explanation
                    outcome.explanation = outcome.explanation ?? explanation
                    failed.insert(entry.series.exact)
                    doubtful.insert(entry.name.exact)
                    // What stands in the way of one archive may leave the others alone; a remote out of reach does not.
                    if [.io, .interrupted, .terminated].contains(explanation.status) { break }
                    continue
                }
                // Those after one that failed stay due, so that none is passed over.
                guard !failed.contains(entry.series.exact), let name = ArchiveName(entry.name) else { continue }
                record.newest[entry.series.exact] = CopyRecord.Newest(
                    entry, named: name, size: copy.size, digest: copy.digest, verified: session.now)
                readBack.insert(entry.series.exact)
            }
            let current = catalogue.pin?.subjects
            outcome.found = record.newest.filter { series, copy in
                let name = copy.name.fileName.exact
                let isThere = readBack.contains(series) || !doubtful.contains(name) && sizes[name] == copy.size
                return isThere && (current == nil || current?[series] != nil)
            }.map(\.value)
        } catch {
            outcome.explanation = Failure(error, session.subjects).explanation
        }
        if let explanation = outcome.explanation {
            record.failed = CopyRecord.Failed(explanation)
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

extension CopyRecord.Failed {
    init(_ explanation: Explanation) {
        let told = explanation.unattended
        self.init(RunOutcome(code: told.status.code), message: told.message, hints: told.hints)
    }
}

extension Job {
    /// A folder that archives are copied to, as `REMOTE:PATH`.
    ///
    /// - Throws: `JobFailure.damaged` for another text, and as `RemoteFolder.init`.
    fileprivate func remote(_ to: String, in session: Session) throws -> RemoteFolder {
        guard let location = RemoteLocation(to) else { throw JobFailure.damaged(job: name, path: nil) }
        return try session.world.remoteFolder(location)
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
