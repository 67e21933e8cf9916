internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
internal import KCStoreTasks

/// The copying and the reading back that a plan wants in one folder.
///
/// Where one call writes or reads many files, all of them are written and read first; what that does not show to be there is
/// then copied or read by itself, which says why.
struct CopySteps {
    private let plan: CopyPlan
    private let folder: RemoteFolder
    private let job: Job
    private let machine: Machine
    private let now: Timestamp
    private let acceptsLoss: Bool
    private let describe: (any Error) -> CopyRecord.Failed
    private let copier: ArchiveCopier

    /// - Parameters:
    ///   - now: when the run began.
    ///   - describe: returns a failure as records keep it.
    init(
        of plan: CopyPlan, in folder: RemoteFolder, of job: Job, on machine: Machine, now: Timestamp,
        acceptsLoss: Bool, describe: @escaping (any Error) -> CopyRecord.Failed
    ) {
        (self.plan, self.folder, self.job, self.machine, self.now) = (plan, folder, job, machine, now)
        (self.acceptsLoss, self.describe) = (acceptsLoss, describe)
        copier = ArchiveCopier(to: folder, copiesReadable: job.copiesReadable, on: machine)
    }

    /// An archive, as the catalogue has it by now, and its copy.
    private typealias Copied = (entry: CatalogueEntry, copy: RemoteFolder.Copy)

    /// The operation on one archive.
    private enum Step {
        case copying(CatalogueEntry)
        case readingBack(CopyRecord.Copy)

        var name: ExactText {
            switch self {
            case .copying(let entry): entry.name.exact
            case .readingBack(let copy): copy.file
            }
        }
    }

    /// Takes all steps; a failure at one leaves the others alone.
    ///
    /// - Returns: the number of copies that were made, and the failure that is most urgent; nil if there is none.
    /// - Throws: errors of the calls for many files.
    func run(_ record: inout CopyRecord, _ catalogue: Catalogue) throws -> (copied: Int, failure: (any Error)?) {
        var entries: [ExactText: CatalogueEntry] = [:]
        let batch = try batch(&entries)
        var copied = 0
        var failure: (any Error)?
        for step in plan.due.map(Step.copying) + plan.reads.map(Step.readingBack) {
            do {
                switch step {
                case .copying(let entry):
                    var done = batch.copy(named: step.name).map { Copied(entries[step.name] ?? entry, $0) }
                    if done == nil { done = try copy(entry, mayBeUnread: acceptsLoss || !record.couldRead) }
                    guard let done else { continue }
                    if done.copy.outcome == .copied { copied += 1 }
                    record.note(done.entry, done.copy, in: catalogue, now: now)
                case .readingBack(let copy):
                    if batch.digest(of: step.name) != copy.digest { try readBack(copy) }
                    record.noteRead(copy, now: now)
                }
            } catch {
                record.note(error, of: step.name)
                let ending = describe(error).outcome
                if ending.isOfSignal { return (copied, error) }
                failure = failure ?? error
                // An obstacle to one archive may leave the others alone; a remote out of reach does not.
                if ending == .io { break }
            }
        }
        return (copied, failure)
    }

    /// Writes and reads what one call can write or read with others.
    ///
    /// - Parameter entries: gets the entries that the catalogue has by now.
    private func batch(_ entries: inout [ExactText: CatalogueEntry]) throws -> CopyBatch {
        guard let there = plan.there else { return CopyBatch(to: folder, there: [:]) }
        var batch = CopyBatch(to: folder, there: there)
        for entry in plan.due where folder.writesTogether {
            do {
                entries[entry.name.exact] = try machine.judging(entry, of: job.folder) { entry in
                    try batch.add(copier.proved("\(job.folder)/\(entry.name)", of: entry))
                    return entry
                }
            } catch {
                // Otherwise, copying it by itself says why.
                if describe(error).outcome.isOfSignal { throw error }
            }
        }
        let reads = plan.reads.filter { !plan.changed.contains($0.file) }
        try batch.run(reading: reads.map { RemoteEntry(name: $0.name.fileName, size: $0.size) })
        return batch
    }

    /// - Returns: nil for an archive that another run has removed.
    private func copy(_ entry: CatalogueEntry, mayBeUnread: Bool) throws -> Copied? {
        try machine.judging(entry, of: job.folder) { entry in
            let path = "\(job.folder)/\(entry.name)"
            if plan.there != nil { return Copied(entry, try copier.copy(path, of: entry)) }
            return Copied(entry, try copier.copyUnlisted(path, of: entry, mayBeUnread: mayBeUnread))
        }
    }

    /// Reads a copy back, unless its size tells that it is another file.
    private func readBack(_ copy: CopyRecord.Copy) throws {
        let name = copy.name.fileName
        if plan.changed.contains(copy.file) { throw RemoteFailure.exists(folder.location.appending(name)) }
        try folder.require(name, size: copy.size, digest: copy.digest)
    }
}
