internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
package import KCKeychainModel
internal import KCLocalKeychains
package import KCRemotes
package import KCStoreTasks

/// The copies that a run of a job makes on remotes, after its backup.
package struct JobCopies {
    let job: Job
    let jobs: Jobs
    let machine: Machine
    /// When the run began.
    let now: Timestamp
    let acceptsLoss: Bool
    let describe: (any Error) -> CopyRecord.Failed

    /// The outcome of the copies in one folder of a remote.
    package struct Outcome {
        package let to: String
        /// The number of archives that were copied.
        package fileprivate(set) var copied = 0
        /// The newest copies that were there and were gone.
        package fileprivate(set) var gone: [String] = []
        /// The older copies that were there and are gone.
        package fileprivate(set) var goneBefore: [String] = []
        /// The older copies that are gone and that no rule by age removed.
        package fileprivate(set) var lost: [String] = []
        /// The newest copies that were read back or listed; those of keychains that are not backed up anymore are not.
        package fileprivate(set) var found: [CopyRecord.Newest] = []
        /// True if the record of earlier copies was damaged, and a new one is begun.
        package fileprivate(set) var isRecordNew = false
        /// Why not all that were due are there; nil if they are.
        package fileprivate(set) var failure: (any Error)?

        package init(to: String, failure: (any Error)? = nil) {
            (self.to, self.failure) = (to, failure)
        }
    }

    /// - Parameters:
    ///   - now: when the run began.
    ///   - acceptsLoss: true if a folder may have lost the copies that it held; the run then starts over there.
    ///   - describe: returns a failure as records keep it.
    package init(
        of job: Job, on machine: Machine, now: Timestamp, acceptsLoss: Bool,
        describe: @escaping (any Error) -> CopyRecord.Failed
    ) {
        (self.job, self.machine, self.now, self.acceptsLoss) = (job, machine, now, acceptsLoss)
        jobs = Jobs(machine)
        self.describe = describe
    }

    /// Copies to each folder; a failure at one does not keep the others from their copies.
    ///
    /// - Throws: errors of reading the catalogue and of keeping the records.
    package func run() throws -> [Outcome] {
        let folders = try folders()
        guard !folders.isEmpty, let catalogue = try machine.catalogueIfAny(of: job.folder) else { return [] }
        let known = try recordsIfReadable()
        var records = known ?? []
        var outcomes: [Outcome] = []
        for to in folders {
            var record =
                records.first { $0.to.exact == to.exact }
                ?? CopyRecord(to: to, tried: now, knowing: catalogue.complete)
            record.tried = now
            var outcome = copy(catalogue, &record)
            outcome.isRecordNew = known == nil
            outcomes.append(outcome)
            records.removeAll { $0.to.exact == to.exact }
            records.append(record)
            try Interruption.withheld { try jobs.save(records, of: job.name) }
            if let failure = outcome.failure, describe(failure).outcome.isOfSignal { return outcomes }
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
    private func folders() throws -> [String] { try job.copyFolders(of: LocalDevice(machine).key().id) }

    /// A newest copy that has another size than when it was copied.
    ///
    /// A copy from before a rekey is another file than the archive here, and is not compared with it.
    private static func changed(
        in record: CopyRecord, _ sizes: [ExactText: UInt64], apartFrom readBack: Set<ExactText>
    ) -> String? {
        let changed = record.newest.values.filter { copy in
            let name = copy.name.fileName.exact
            return !readBack.contains(name) && sizes[name] != nil && sizes[name] != copy.size
        }
        return changed.map(\.name.fileName.exact).min()?.string
    }

    /// The operation on one archive.
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
        for part in try machine.parts(in: files) {
            do {
                try folder.discard(part: part)
            } catch is RemoteFailure {
                // A part that stays is named by doctor.
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
            let folder = try job.remote(record.to, makesFolder: acceptsLoss, on: machine)
            let sizes = try sizes(in: folder, &record)
            let plan = CopyPlan(
                catalogue.complete, onRemote: sizes, record, now: now, acceptsLoss: acceptsLoss)
            (outcome.gone, outcome.goneBefore, outcome.lost) = (plan.gone, plan.goneBefore, plan.lost)
            // A copy that an earlier run found damaged is so until it is read back, which this run may not come to.
            var doubtful = Set(record.doubtful.map(\.name.fileName.exact))
            record.note(plan)
            let copier = ArchiveCopier(to: folder, copiesReadable: job.copiesReadable, on: machine)
            let steps = plan.due.map(Step.copying) + plan.alone.map(Step.readingBack)
            var readBack: Set<ExactText> = []
            for step in steps {
                do {
                    switch step {
                    case .copying(let entry):
                        let copied = try machine.judging(entry, of: job.folder) { entry in
                            (entry, try copier.copy("\(job.folder)/\(entry.name)", of: entry))
                        }
                        guard let (entry, copy) = copied else { continue }
                        if copy.outcome == .copied { outcome.copied += 1 }
                        record.note(entry, copy, in: catalogue, now: now)
                    case .readingBack(let copy):
                        try folder.readBack(copy, size: sizes[step.name])
                        record.note(copy, now: now)
                    }
                    readBack.insert(step.name)
                } catch {
                    doubtful.insert(step.name)
                    record.note(error, of: step.name)
                    let ending = describe(error).outcome
                    if ending.isOfSignal {
                        outcome.failure = error
                        break
                    }
                    outcome.failure = outcome.failure ?? error
                    // An obstacle to one archive may leave the others alone; a remote out of reach does not.
                    if ending == .io { break }
                }
            }
            let missing = doubtful.subtracting(readBack)
            outcome.found = Self.found(in: record, of: catalogue, apartFrom: missing) { copy in
                readBack.contains(copy.name.fileName.exact) || sizes[copy.name.fileName.exact] == copy.size
            }
            if outcome.failure == nil, let name = Self.changed(in: record, sizes, apartFrom: readBack) {
                outcome.failure = RemoteFailure.exists(folder.location.appending(name))
            }
            if outcome.failure == nil, let last = plan.lost.last {
                outcome.failure = JobFailure.copiesLost(to: record.to, copies: plan.lost.count, last: last)
            }
            record.keepOnly(catalogue)
        } catch {
            outcome.failure = error
        }
        record.failed = (outcome.failure ?? record.shortfall(of: catalogue)).map(describe)
        if record.failed == nil { record.good = now }
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

extension Machine {
    /// The files among these that runs of this machine which were broken off have left of copies.
    func parts(in files: [RemoteEntry]) throws -> [RemoteEntry] {
        let device = ArchiveName.short(try LocalDevice(self).key().id)
        return RemoteFolder.parts(in: files) { ArchiveName($0)?.device.exact == device.exact }
    }
}

extension Job {
    /// A folder that archives are copied to, as `REMOTE:PATH` or an absolute path.
    ///
    /// - Throws: `JobFailure.damaged` for another text, and as `RemoteFolder.init`.
    fileprivate func remote(_ to: String, makesFolder: Bool = false, on machine: Machine) throws -> RemoteFolder {
        guard let location = RemoteLocation(destination: to) else { throw JobFailure.damaged(job: name, path: nil) }
        return try machine.remoteFolder(location, makesFolder: makesFolder)
    }

    /// Looks at a folder that archives are copied to; the first copy makes it on a remote.
    ///
    /// - Returns: the files that a run which was broken off has left there.
    /// - Throws: as a copy to it.
    package func look(
        at copies: BackupState.CopyState, isRunning: Bool, on machine: Machine
    ) throws -> [RemoteLocation] {
        if let unreadable = copies.unreadable { throw unreadable }
        let folder = try remote(copies.to, on: machine)
        let files = try folder.location.isHere ? folder.files() : folder.filesIfAny()
        try copies.record?.requireCopies(among: Set(files.map(\.name.exact)), of: name)
        return try isRunning ? [] : machine.parts(in: files).map { folder.location.appending($0.name) }
    }
}
