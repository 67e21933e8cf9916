internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks

/// The copies that a run of a job makes on remotes, after its backup.
struct JobCopies {
    let job: Job
    let jobs: Jobs
    let session: Session
    /// True if a folder may have lost the copies that it held; the run then starts over there.
    let acceptsLoss: Bool

    /// What became of the copies in one folder of a remote.
    struct Outcome {
        let to: String
        /// The number of archives that were copied.
        var copied = 0
        /// The newest copies that were there and were gone.
        var gone: [String] = []
        /// The older copies that were there and are gone.
        var goneBefore: [String] = []
        /// The newest copies that were read back or listed; those of keychains that are not backed up anymore are not.
        var found: [CopyRecord.Newest] = []
        /// True if the record of earlier copies was damaged, and a new one is begun.
        var isRecordNew = false
        /// Why not all that were due are there; nil if they are.
        var explanation: Explanation?
    }

    /// Copies to each folder; a failure at one does not keep the others from their copies.
    ///
    /// - Throws: errors of reading the catalogue and of keeping the records.
    func run() throws -> [Outcome] {
        let folders = try folders()
        guard !folders.isEmpty, let catalogue = try session.machine.catalogueIfAny(of: job.folder) else { return [] }
        let known = try recordsIfReadable()
        var records = known ?? []
        var outcomes: [Outcome] = []
        for to in folders {
            var record =
                records.first { $0.to.exact == to.exact }
                ?? CopyRecord(to: to, tried: session.now, knowing: catalogue.complete)
            record.tried = session.now
            var outcome = copy(catalogue, &record)
            outcome.isRecordNew = known == nil
            outcomes.append(outcome)
            records.removeAll { $0.to.exact == to.exact }
            records.append(record)
            try Interruption.withheld { try jobs.save(records, of: job.name) }
            if outcomes.interruption != nil { return outcomes }
        }
        // A folder that was removed from the job begins anew if it comes back.
        let current = records.filter { record in folders.contains { $0.exact == record.to.exact } }
        if current.count < records.count { try jobs.save(current, of: job.name) }
        return outcomes
    }

    /// The records; nil if their file is damaged.
    ///
    /// The newest copies are read back then; which older ones were not what they should be is lost.
    private func recordsIfReadable() throws -> [CopyRecord]? {
        do {
            return try jobs.copies(job.name)
        } catch JobFailure.recordDamaged {
            return nil
        }
    }

    /// The folders of remotes that the job copies to.
    private func folders() throws -> [String] { try job.copyFolders(of: LocalDevice(session.machine).key().id) }

    /// A newest copy that has another size than when it was copied.
    ///
    /// One from before a rekey is another file than the archive here, and is not compared with it.
    private static func changed(
        in record: CopyRecord, _ sizes: [ExactText: UInt64], apartFrom readBack: Set<ExactText>
    ) -> String? {
        let changed = record.newest.values.filter { copy in
            let name = copy.name.fileName.exact
            return !readBack.contains(name) && sizes[name] != nil && sizes[name] != copy.size
        }
        return changed.map(\.name.fileName.exact).min()?.string
    }

    /// What is to be done with one archive.
    private enum Step {
        case copying(CatalogueEntry)
        case readingBack(CopyRecord.Newest)

        var name: ExactText {
            switch self {
            case .copying(let entry): entry.name.exact
            case .readingBack(let copy): copy.name.fileName.exact
            }
        }
    }

    /// The sizes of the files in a folder, from which what runs that were broken off have left of copies is removed.
    ///
    /// - Throws: `JobFailure.copiesGone`, which is noted, and as `RemoteFolder.files`.
    private func sizes(in folder: RemoteFolder, _ record: inout CopyRecord) throws -> [ExactText: UInt64] {
        let files = try folder.filesIfAny()
        do throws(JobFailure) {
            if !acceptsLoss { try record.requireCopies(among: Set(files.map(\.name.exact)), of: job.name) }
        } catch {
            if case .copiesGone(_, _, let copies) = error { record.noteLoss(of: copies) }
            throw error
        }
        for part in try session.parts(in: files) {
            do {
                try folder.discard(part: part)
            } catch is RemoteFailure {
                // What stays is named by doctor.
            }
        }
        return Dictionary(files.map { ($0.name.exact, $0.size) }) { first, _ in first }
    }

    /// The newest copies of what is still backed up that are there, and are not among those that may be damaged.
    private static func found(
        in record: CopyRecord, of catalogue: Catalogue, apartFrom doubtful: Set<ExactText>,
        isThere: (CopyRecord.Newest) -> Bool
    ) -> [CopyRecord.Newest] {
        let current = catalogue.pin?.subjects
        return record.newest.filter { series, copy in
            !doubtful.contains(copy.name.fileName.exact) && isThere(copy) && (current == nil || current?[series] != nil)
        }.map(\.value)
    }

    private func copy(_ catalogue: Catalogue, _ record: inout CopyRecord) -> Outcome {
        var outcome = Outcome(to: record.to)
        do {
            let folder = try job.remote(record.to, makesFolder: acceptsLoss, in: session)
            let sizes = try sizes(in: folder, &record)
            let plan = CopyPlan(catalogue.complete, onRemote: sizes, record, now: session.now)
            (outcome.gone, outcome.goneBefore) = (plan.gone, plan.goneBefore)
            // One that an earlier run found damaged is so until it is read back, which this run may not come to.
            var doubtful = Set(record.doubtful.map(\.name.fileName.exact))
            record.note(plan)
            let copier = ArchiveCopier(folder: folder, copiesReadable: job.copiesReadable, session: session)
            let steps = plan.due.map(Step.copying) + plan.alone.map(Step.readingBack)
            var readBack: Set<ExactText> = []
            for step in steps {
                do {
                    switch step {
                    case .copying(let entry):
                        let copied = try session.machine.judging(entry, of: job.folder) { entry in
                            (entry, try copier.copy("\(job.folder)/\(entry.name)", of: entry))
                        }
                        guard let (entry, copy) = copied else { continue }
                        if copy.outcome == .copied { outcome.copied += 1 }
                        record.note(entry, copy, in: catalogue, now: session.now)
                    case .readingBack(let copy):
                        try folder.readBack(copy, size: sizes[step.name])
                        record.note(copy, now: session.now)
                    }
                    readBack.insert(step.name)
                } catch {
                    let explanation = session.failure(of: error).explanation
                    doubtful.insert(step.name)
                    record.note(error, of: step.name)
                    if explanation.isOfSignal {
                        outcome.explanation = explanation
                        break
                    }
                    outcome.explanation = outcome.explanation ?? explanation
                    // What stands in the way of one archive may leave the others alone; a remote out of reach does not.
                    if explanation.status == .io { break }
                }
            }
            let missing = doubtful.subtracting(readBack)
            outcome.found = Self.found(in: record, of: catalogue, apartFrom: missing) { copy in
                readBack.contains(copy.name.fileName.exact) || sizes[copy.name.fileName.exact] == copy.size
            }
            if outcome.explanation == nil, let name = Self.changed(in: record, sizes, apartFrom: readBack) {
                let place = folder.location.appending(name)
                outcome.explanation = session.failure(of: RemoteFailure.exists(place)).explanation
            }
            record.keepOnly(catalogue)
        } catch {
            outcome.explanation = session.failure(of: error).explanation
        }
        record.failed = (outcome.explanation ?? record.shortfall(of: catalogue)).map { CopyRecord.Failed($0) }
        if record.failed == nil { record.good = session.now }
        return outcome
    }
}

extension RemoteFolder {
    /// Reads a copy back, unless its size tells that it is another file.
    fileprivate func readBack(_ copy: CopyRecord.Newest, size: UInt64?) throws {
        let name = copy.name.fileName
        guard size == copy.size else { throw RemoteFailure.exists(location.appending(name)) }
        try require(name, size: copy.size, digest: copy.digest)
    }
}

extension [JobCopies.Outcome] {
    /// Why copies are missing, in one explanation; nil if none is.
    ///
    /// - Parameter isGood: true if the backup itself is good.
    func explanation(isGood: Bool) -> Explanation? {
        if let interruption { return interruption }
        let failed = compactMap { outcome in outcome.explanation.map { (to: outcome.to, explanation: $0) } }
        guard let first = failed.first else { return nil }
        let others = failed.count == 1 ? "" : " (and \(failed.count - 1) more)"
        return Explanation(
            .notCopied,
            "\(isGood ? "the backup is good, but is not" : "not all is") copied to \(quoted(first.to))\(others): \(first.explanation.message)"
        ).adding(first.explanation.remedies)
    }

    /// The signal that has ended the copying; nil if none has.
    var interruption: Explanation? {
        compactMap(\.explanation).first(where: \.isOfSignal)?.prefixed("not all is copied: ")
    }

    /// Warnings about copies that were removed from a remote, and about a record that was lost.
    var warnings: [String] {
        let renewed = filter(\.isRecordNew).map { outcome in
            "the record of the copies in \(quoted(outcome.to)) was damaged, and a new one is begun; if it had damaged "
                + "copies, 'kcbackup verify \(shellWord(outcome.to))' finds them"
        }
        let gone: [String] = flatMap { outcome in
            outcome.gone.map { name in
                let older = outcome.goneBefore.count
                return "\(quoted(name)) had been copied to \(quoted(outcome.to)), and was gone from there"
                    + (older == 0 ? "" : ", as \(older == 1 ? "is" : "are") \(counted(older, "older archive"))")
            }
        }
        return renewed + gone
    }

    /// The same of older copies alone, which a rule of the remote may have removed.
    var notes: [String] {
        filter { $0.gone.isEmpty && !$0.goneBefore.isEmpty }.map { outcome in
            "\(counted(outcome.goneBefore.count, "older archive")) \(outcome.goneBefore.count == 1 ? "is" : "are") "
                + "gone from \(quoted(outcome.to))"
        }
    }
}

extension Session {
    /// Leaves in a plan what a job of a folder has still to copy from there.
    ///
    /// - Returns: the plan, and why it removes nothing although it should; nil if it does what it should.
    func keepingUncopied(
        _ plan: BackupFolder.PrunePlan, in folder: String
    ) throws -> (plan: BackupFolder.PrunePlan, leftOut: Explanation?) {
        let due = try Jobs(machine).dueCopies(from: machine.resolve(folder))
        let kept = plan.keeping(.uncopied, where: due.contains)
        guard !due.unreadable.isEmpty, plan.fates.contains(where: \.isRemoval) else { return (kept, nil) }
        let isOne = due.unreadable.count == 1
        let names = due.unreadable.map { quoted($0) }.joined(separator: ", ")
        return (
            kept,
            Explanation(
                .incomplete,
                "nothing is removed in \(quoted(folder)): \(isOne ? "job" : "jobs") \(names) cannot be read, and may have to "
                    + "copy what is there",
                hint: "'kcbackup doctor' says what is wrong with \(isOne ? "it" : "them")")
        )
    }

    /// The files among these that runs of this machine which were broken off have left of copies.
    func parts(in files: [RemoteEntry]) throws -> [RemoteEntry] {
        let device = ArchiveName.short(try LocalDevice(machine).key().id)
        return RemoteFolder.parts(in: files) { ArchiveName($0)?.device.exact == device.exact }
    }
}

extension Explanation {
    /// True if a signal has ended the run.
    var isOfSignal: Bool { [.interrupted, .terminated].contains(status) }
}

extension CopyRecord.Failed {
    init(_ explanation: Explanation) {
        let told = explanation.unattended
        self.init(RunOutcome(code: told.status.code), message: told.message, hints: told.hints)
    }
}

extension Job {
    /// A folder that archives are copied to, as `REMOTE:PATH` or an absolute path.
    ///
    /// - Throws: `JobFailure.damaged` for another text, and as `RemoteFolder.init`.
    fileprivate func remote(_ to: String, makesFolder: Bool = false, in session: Session) throws -> RemoteFolder {
        guard let location = RemoteLocation(destination: to) else { throw JobFailure.damaged(job: name, path: nil) }
        return try session.machine.remoteFolder(location, makesFolder: makesFolder)
    }

    /// Looks at a folder that archives are copied to; the first copy makes it on a remote.
    ///
    /// - Returns: a warning of what a run that was broken off has left there; nil if there is nothing.
    /// - Throws: as a copy to it.
    func look(at copies: BackupState.CopyState, isRunning: Bool, in session: Session) throws -> String? {
        if let unreadable = copies.unreadable { throw unreadable }
        let folder = try remote(copies.to, in: session)
        let files = try folder.location.isHere ? folder.files() : folder.filesIfAny()
        try copies.record?.requireCopies(among: Set(files.map(\.name.exact)), of: name)
        let parts = isRunning ? [] : try session.parts(in: files)
        guard let first = parts.first else { return nil }
        let others = parts.count == 1 ? "" : " and \(parts.count - 1) more"
        return
            "\(quoted(folder.location.appending(first.name).text))\(others) is left of a copy that was broken off; the next "
            + "run removes it"
    }
}

extension RunRecord {
    /// What a run that did not end well was.
    var failureWords: String { status == .notCopied ? "of its last run" : "its last run failed" }
}
