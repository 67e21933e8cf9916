internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleet
package import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
package import KCStoreTasks

/// The receipt that a run of a job writes into its fleet at its end, whatever became of the run.
package struct JobReceipts {
    let job: Job
    let jobs: Jobs
    let machine: Machine
    let start: Timestamp
    let describe: (any Error) -> CopyRecord.Failed

    /// The outcome of the receipt of a run.
    package struct Outcome {
        /// The folder of the fleet, as `REMOTE:PATH`.
        package let to: String
        /// Where the receipt is, as `REMOTE:PATH`; nil if it was not written.
        package fileprivate(set) var file: String?
        /// Why it was not written.
        package fileprivate(set) var failure: (any Error)?
    }

    /// - Parameters:
    ///   - start: when the run began.
    ///   - describe: returns a failure as records keep it.
    package init(
        of job: Job, on machine: Machine, start: Timestamp, describe: @escaping (any Error) -> CopyRecord.Failed
    ) {
        (self.job, self.machine, self.start) = (job, machine, start)
        jobs = Jobs(machine)
        self.describe = describe
    }

    /// The run, as its receipt describes it.
    private struct Run {
        let outcome: RunOutcome
        /// True if it ended well, and all archives that were due are in the fleet.
        let isGood: Bool
        let found: [CopyRecord.Copy]
    }

    /// Writes the receipt of a run.
    ///
    /// - Parameters:
    ///   - backup: how the backup ended.
    ///   - outcome: how the run ended, with its copies.
    ///   - copies: the copies that it made or found.
    /// - Returns: what became of it; nil if the job is in no fleet.
    package func run(backup: RunOutcome, outcome: RunOutcome, copies: [JobCopies.Outcome]) -> Outcome? {
        guard let to = job.fleet else { return nil }
        // A signal that ended the run must not keep its receipt from saying so, nor one that comes now from being whole.
        return Interruption.afterwards(sparingFirst: true) { report(to: to, backup, outcome, copies) }
    }

    private func report(
        to: String, _ backup: RunOutcome, _ ending: RunOutcome, _ copies: [JobCopies.Outcome]
    ) -> Outcome {
        var outcome = Outcome(to: to)
        do {
            guard let fleet = RemoteLocation(to) else { throw JobFailure.damaged(job: job.name, path: nil) }
            let key = try LocalDevice(machine).key()
            let own = FleetFolder.archives(in: fleet, of: key.id).text
            let copy = copies.first { $0.to.exact == own.exact }
            let run = Run(
                outcome: ending, isGood: backup == .good && copy != nil && copy?.failure == nil,
                found: copy?.found ?? [])
            var record = try recordIfReadable() ?? ReceiptRecord(to: to, tried: start)
            if record.to.exact != to.exact { record = ReceiptRecord(to: to, tried: start) }
            write(run, to: fleet, key, &record, &outcome)
            try Interruption.withheld { try jobs.save(record, of: job.name) }
        } catch {
            outcome.failure = outcome.failure ?? error
        }
        return outcome
    }

    /// Writes the receipt, and changes the record of receipts and the outcome.
    private func write(
        _ run: Run, to fleet: RemoteLocation, _ key: DeviceKey, _ record: inout ReceiptRecord,
        _ outcome: inout Outcome
    ) {
        // A long run ends much later than it began.
        let now = max(start, machine.clock())
        record.tried = now
        // A run with a clock that was fast says nothing about this one.
        if let good = record.good, good > now { record.good = nil }
        if run.isGood { record.good = now }
        do {
            let sequence = ReceiptSequence(besideKeyAt: machine.dataFolder.deviceKey, of: key)
            let receipt = Receipt(
                of: job.name, on: key.id, sequence: try sequence.taken(), time: now,
                outcome: run.outcome, good: record.good, copies: run.found,
                jobs: try names(in: fleet))
            let file = try machine.blamingTemporaryFolder {
                try FleetFolder(fleet, machine.rclone(), temporaryFolder: machine.temporaryFolder)
                    .report(receipt, signedBy: key)
            }
            outcome.file = file.text
            record.written = ReceiptRecord.Written(time: now, file: file.text)
            record.failed = nil
        } catch {
            let failure = Interruption.admit() ? StreamFailure(.writing, .interrupted) : error
            outcome.failure = failure
            record.failed = describe(failure)
        }
    }

    /// The jobs of this machine that report to a fleet.
    private func names(in fleet: RemoteLocation) throws -> [String] {
        try jobs.names().filter { name in
            do {
                return try jobs.job(name).fleet.flatMap { RemoteLocation($0) }?.text.exact == fleet.text.exact
            } catch {
                // A job that cannot be read cannot run, which must be seen if it is one of them.
                return true
            }
        }
    }

    /// The record; nil if its file is damaged, which costs no more than the time of the last good run.
    private func recordIfReadable() throws -> ReceiptRecord? {
        do {
            return try jobs.receipts(job.name)
        } catch JobFailure.recordDamaged {
            return nil
        }
    }
}

extension ReceiptSequence {
    /// Returns a number for one receipt.
    ///
    /// - Throws: `JobFailure.receiptNumberLost` if this device did not write the file, `FileFailure`, `CryptographyFailure`.
    func taken() throws -> Int64 {
        do throws(StateFileFailure) {
            return try next()
        } catch {
            throw explained(error)
        }
    }

    /// Checks that there is a next number.
    ///
    /// - Throws: as `taken`.
    package func check() throws {
        do throws(StateFileFailure) {
            _ = try last()
        } catch {
            throw explained(error)
        }
    }

    private func explained(_ failure: StateFileFailure) -> any Error {
        switch failure {
        case .file(let failure): failure
        case .cryptography(let failure): failure
        case .altered, .otherDevice, .otherFormat: JobFailure.receiptNumberLost(path: path)
        }
    }
}
