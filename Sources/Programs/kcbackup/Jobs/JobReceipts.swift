internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleet
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks

/// The receipt that a run of a job writes into its fleet at its end, whatever became of the run.
struct JobReceipts {
    let job: Job
    let jobs: Jobs
    let session: Session

    /// What became of the receipt of a run.
    struct Outcome {
        /// The folder of the fleet, as `REMOTE:PATH`.
        let to: String
        /// Where the receipt is, as `REMOTE:PATH`; nil if it was not written.
        var file: String?
        /// Why it was not written.
        var explanation: Explanation?
    }

    /// What a receipt says.
    private struct Run {
        let status: ExitStatus
        /// True if it ended well, and all archives that were due are in the fleet.
        let isGood: Bool
        let found: [CopyRecord.Newest]
    }

    /// Writes the receipt of a run.
    ///
    /// - Parameters:
    ///   - backup: how the backup ended.
    ///   - status: how the run ended, with its copies.
    ///   - copies: the copies that it made or found.
    /// - Returns: what became of it; nil if the job is in no fleet.
    func run(backup: ExitStatus, status: ExitStatus, copies: [JobCopies.Outcome]) -> Outcome? {
        guard let to = job.fleet else { return nil }
        // A signal that ended the run must not keep its receipt from saying so, nor one that comes now from being whole.
        return Interruption.afterwards(sparingFirst: true) { report(to: to, backup, status, copies) }
    }

    private func report(
        to: String, _ backup: ExitStatus, _ status: ExitStatus, _ copies: [JobCopies.Outcome]
    ) -> Outcome {
        var outcome = Outcome(to: to)
        do {
            guard let fleet = RemoteLocation(to) else { throw JobFailure.damaged(job: job.name, path: nil) }
            let key = try LocalDevice(session.machine).key()
            let own = FleetFolder.archives(in: fleet, of: key.id).text
            let copy = copies.first { $0.to.exact == own.exact }
            let run = Run(
                status: status, isGood: backup == .ok && copy != nil && copy?.explanation == nil,
                found: copy?.found ?? [])
            var record = try recordIfReadable() ?? ReceiptRecord(to: to, tried: session.now)
            if record.to.exact != to.exact { record = ReceiptRecord(to: to, tried: session.now) }
            write(run, to: fleet, key, &record, &outcome)
            try Interruption.withheld { try jobs.save(record, of: job.name) }
        } catch {
            outcome.explanation = outcome.explanation ?? session.failure(of: error).explanation
        }
        return outcome
    }

    /// Writes the receipt, and changes the record of receipts and the outcome.
    private func write(
        _ run: Run, to fleet: RemoteLocation, _ key: DeviceKey, _ record: inout ReceiptRecord,
        _ outcome: inout Outcome
    ) {
        // A long run ends much later than it began.
        let now = max(session.now, session.machine.clock())
        record.tried = now
        // A run with a clock that was fast says nothing about this one.
        if let good = record.good, good > now { record.good = nil }
        if run.isGood { record.good = now }
        do {
            let sequence = ReceiptSequence(besideKeyAt: session.machine.dataFolder.deviceKey, of: key)
            let receipt = Receipt(
                of: job.name, on: key.id, sequence: try sequence.taken(), time: now,
                outcome: RunOutcome(code: run.status.code), good: record.good, copies: run.found,
                jobs: try names(in: fleet))
            let file = try session.machine.blamingTemporaryFolder {
                try FleetFolder(fleet, session.machine.rclone(), temporaryFolder: session.machine.temporaryFolder)
                    .report(receipt, signedBy: key)
            }
            outcome.file = file.text
            record.written = ReceiptRecord.Written(time: now, file: file.text)
            record.failed = nil
        } catch {
            let explanation =
                Interruption.admit() ? explainInterruption() : session.failure(of: error).explanation
            outcome.explanation = explanation
            record.failed = CopyRecord.Failed(explanation)
        }
    }

    /// The jobs of this machine that report to a fleet.
    private func names(in fleet: RemoteLocation) throws -> [String] {
        try jobs.names().filter { name in
            do {
                return try jobs.job(name).fleet.flatMap { RemoteLocation($0) }?.text.exact == fleet.text.exact
            } catch {
                // It cannot run, which must be seen if it is one of them.
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

extension JobReceipts.Outcome {
    /// The signal that has ended the writing of the receipt; nil if none has.
    var interruption: Explanation? {
        explanation.flatMap { $0.isOfSignal ? $0.prefixed("the backup is good, but has no receipt: ") : nil }
    }

    /// Why a run that is good otherwise did not end well; nil if the receipt was written.
    var refusal: Explanation? {
        explanation.map { Explanation(.notCopied, "the backup is good, but \(words($0))").adding($0.remedies) }
    }

    /// What a run that did not end well for another reason warns of; nil if the receipt was written.
    var warning: String? { explanation.map(words) }

    private func words(_ explanation: Explanation) -> String {
        (file == nil ? "the fleet \(quoted(to)) has no receipt of it: " : "its receipt cannot be recorded here: ")
            + explanation.message
    }
}

extension ReceiptSequence {
    /// Returns a number for one receipt.
    ///
    /// - Throws: `Refusal.receiptNumberLost` if this device did not write the file, `FileFailure`, `CryptographyFailure`.
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
    func check() throws {
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
        case .altered, .otherDevice, .otherFormat: Refusal.receiptNumberLost(path: path)
        }
    }
}
