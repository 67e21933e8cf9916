internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension [JobCopies.Outcome] {
    /// Why copies are missing, in one explanation; nil if none is.
    ///
    /// - Parameter isGood: true if the backup itself is good.
    func explanation(isGood: Bool, _ explain: (any Error) -> Explanation) -> Explanation? {
        if let interruption = interruption(explain) { return interruption }
        let failed = compactMap { outcome in
            outcome.failure.map { (to: outcome.to, isWhole: $0.isOfCopiesLost, explanation: explain($0)) }
        }
        // A copy that is not there is more urgent than one that was gone and is there again.
        guard let first = failed.first(where: { !$0.isWhole }) ?? failed.first else { return nil }
        let others = failed.count == 1 ? "" : " (and \(failed.count - 1) more)"
        let what =
            first.isWhole
            ? "copies were lost at" : isGood ? "the backup is good, but is not copied to" : "not all is copied to"
        return Explanation(.notCopied, "\(what) \(quoted(first.to))\(others): \(first.explanation.message)")
            .adding(first.explanation.remedies)
    }

    /// The signal that has ended the copying; nil if none has.
    func interruption(_ explain: (any Error) -> Explanation) -> Explanation? {
        compactMap(\.failure).map(explain).first(where: \.isOfSignal)?
            .prefixed("not all is copied: ")
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
        // Without another failure, the error says so.
        let lost = filter { outcome in !outcome.lost.isEmpty && outcome.failure?.isOfCopiesLost != true }.map {
            "\(counted($0.lost.count, "copy", plural: "copies")) \($0.lost.count == 1 ? "was" : "were") gone from "
                + "\(quoted($0.to)), which no rule by age explains"
        }
        return renewed + gone + lost
    }

    /// Notes about older copies that a rule of the remote may have removed, and about copies that were not read back.
    var notes: [String] {
        let unread = filter { $0.unread > 0 }.map {
            "\(counted($0.unread, "copy", plural: "copies")) in \(quoted($0.to)) \($0.unread == 1 ? "was" : "were") not read "
                + "back, since these credentials may not read"
        }
        return unread
            + filter { $0.gone.isEmpty && !$0.goneBefore.isEmpty }.map { outcome in
                "\(counted(outcome.goneBefore.count, "older archive")) \(outcome.goneBefore.count == 1 ? "is" : "are") "
                    + "gone from \(quoted(outcome.to))"
            }
    }
}

extension Error {
    /// True if copies were lost, and all are there again.
    fileprivate var isOfCopiesLost: Bool { if case .copiesLost? = self as? JobFailure { true } else { false } }
}

extension Explanation {
    /// True if a signal has ended the run.
    var isOfSignal: Bool { [.interrupted, .terminated].contains(status) }
}

extension RunRecord {
    /// Words for how a run ended that did not end well.
    var failureWords: String { status == .notCopied ? "of its last run" : "its last run failed" }
}

extension Session {
    /// Returns a failure as records keep it.
    func recorded(_ failure: any Error) -> CopyRecord.Failed {
        CopyRecord.Failed(self.failure(of: failure).explanation.unattended)
    }
}

extension CopyRecord.Failed {
    /// The failure of a run that nobody watched, as records keep it.
    init(_ explanation: Explanation) {
        self.init(
            RunOutcome(code: explanation.status.code), message: explanation.message, hints: explanation.hints)
    }
}

/// Says why nothing is removed in a folder although it should be.
func keepsAll(in folder: String, for jobs: [String]) -> Explanation {
    let isOne = jobs.count == 1
    return Explanation(
        .incomplete,
        "nothing is removed in \(quoted(folder)): \(isOne ? "job" : "jobs") "
            + "\(jobs.map { quoted($0) }.joined(separator: ", ")) cannot be read, and may have to copy what is there",
        hint: "'kcbackup doctor' says what is wrong with \(isOne ? "it" : "them")")
}

extension JobReceipts.Outcome {
    /// The signal that has ended the writing of the receipt; nil if none has.
    func interruption(_ explain: (any Error) -> Explanation) -> Explanation? {
        explanation(explain).flatMap {
            $0.isOfSignal ? $0.prefixed("the backup is good, but has no receipt: ") : nil
        }
    }

    /// Why a run that is good otherwise did not end well; nil if the receipt was written.
    func refusal(_ explain: (any Error) -> Explanation) -> Explanation? {
        explanation(explain).map {
            Explanation(.notCopied, "the backup is good, but \(words($0))").adding($0.remedies)
        }
    }

    /// The warning of a run that failed for another reason; nil if the receipt was written.
    func warning(_ explain: (any Error) -> Explanation) -> String? { explanation(explain).map(words) }

    func explanation(_ explain: (any Error) -> Explanation) -> Explanation? { failure.map(explain) }

    private func words(_ explanation: Explanation) -> String {
        (file == nil ? "the fleet \(quoted(to)) has no receipt of it: " : "its receipt cannot be recorded here: ")
            + explanation.message
    }
}
