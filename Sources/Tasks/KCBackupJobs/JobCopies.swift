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
        /// The copies among these that no rule by age removed.
        package fileprivate(set) var lost: [String] = []
        /// The newest copies that are there, as far as is known, without those of keychains that are not backed up anymore.
        package fileprivate(set) var found: [CopyRecord.Copy] = []
        /// The number of copies that were never read back, since these credentials may not read.
        package fileprivate(set) var unread = 0
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

    private func copy(_ catalogue: Catalogue, _ record: inout CopyRecord) -> Outcome {
        var outcome = Outcome(to: record.to)
        do {
            let folder = try job.remote(record.to, makesFolder: acceptsLoss, on: machine)
            let plan = try CopyPlan(
                catalogue.complete, onRemote: sizes(in: folder, &record), record, now: now,
                reading: job.verifiedCopies, acceptsLoss: acceptsLoss)
            (outcome.gone, outcome.goneBefore, outcome.lost) = (plan.gone, plan.goneBefore, plan.lost)
            record.note(plan)
            let steps = CopySteps(
                of: plan, in: folder, of: job, on: machine, now: now, acceptsLoss: acceptsLoss, describe: describe)
            (outcome.copied, outcome.failure) = try steps.run(&record, catalogue)
            if outcome.failure == nil {
                if !acceptsLoss { outcome.failure = record.loss() }
                record.untold = []
            }
            (outcome.found, outcome.unread) = (record.found(of: catalogue), record.unread)
            record.keepOnly(catalogue)
        } catch {
            outcome.failure = error
        }
        record.failed = (outcome.failure ?? record.shortfall(of: catalogue)).map(describe)
        if record.failed == nil { record.good = now }
        return outcome
    }

    /// The sizes of the files in a folder, from which what runs that were broken off have left of copies is removed; nil if
    /// the credentials may not list it, and never could.
    ///
    /// - Throws: `JobFailure.copiesGone`, which is noted, and as `RemoteFolder.files`.
    private func sizes(in folder: RemoteFolder, _ record: inout CopyRecord) throws -> [ExactText: UInt64]? {
        let files: [RemoteEntry]
        do {
            files = try folder.filesIfAny()
        } catch RemoteFailure.denied where folder.writesTogether && (acceptsLoss || record.mayBeUnlisted) {
            return nil
        }
        do throws(JobFailure) {
            if !acceptsLoss { try record.requireCopies(among: Set(files.map(\.name.exact)), of: job.name) }
        } catch {
            if case .copiesGone(_, _, let copies) = error { record.lost = copies }
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
        let files: [RemoteEntry]
        do {
            files = try folder.location.isHere ? folder.files() : folder.filesIfAny()
        } catch RemoteFailure.denied where folder.writesTogether && copies.record?.mayBeUnlisted == true {
            return []
        }
        try copies.record?.requireCopies(among: Set(files.map(\.name.exact)), of: name)
        return try isRunning ? [] : machine.parts(in: files).map { folder.location.appending($0.name) }
    }
}
