internal import KCBackupJobs
internal import KCBackupTasks
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// Describes the result of a run of a job, as text and in JSON.
struct JobRunText {
    let report: JobRun.Report
    private let job: Job
    private let explain: (any Error) -> Explanation
    private(set) var status: ExitStatus
    /// The errors of the run in one, for a run that nobody watches; nil if it ended well.
    private(set) var explanation: Explanation?
    private let warnings: [String]

    /// - Parameter session: that of the run.
    init(_ report: JobRun.Report, of job: Job, in session: Session) {
        self.report = report
        self.job = job
        let explain = { (error: any Error) in session.failure(of: error).explanation }
        self.explain = explain
        status = ExitStatus(rawValue: report.outcome.code) ?? .internal
        func words(_ trouble: JobRun.Trouble, isFirst: Bool = false) -> Explanation? {
            switch trouble {
            case .failed(let error): explain(error)
            case .incomplete(let summary): FolderBackupText(summary, of: job.request, in: session).explanation
            case .notCopying(let error): explain(error).prefixed(isFirst ? "the backup is done, but " : "")
            case .notCopied: report.copies.explanation(isGood: isFirst, explain)
            case .removesNothing(let jobs): keepsAll(in: job.folder, for: jobs)
            case .noItem: Explanation(.ok, "there was no item to back up")
            case .noReceipt(let receipt): receipt.interruption(explain) ?? receipt.refusal(explain)
            }
        }
        let errors = report.errors.enumerated().compactMap { words($1, isFirst: $0 == 0) }
        explanation =
            errors.dropFirst().reduce(errors.first) { before, error in
                before.map { error.suffixed("; before that: \($0.message)") }
            }?.unattended
        // Whoever emptied a remote must not have it copied again in silence.
        warnings = report.copies.warnings + report.warnings.compactMap { words($0)?.message }
    }

    /// Replaces the errors of the run.
    mutating func fail(_ failure: Explanation) {
        explanation = failure
        status = failure.status
    }

    /// Prints the result.
    func tell(_ session: Session) throws {
        defer { tellText(session) }
        guard session.style.isJSON else { return }
        try session.result(
            .members([
                ("job", .text(job.name)), ("code", .number(Int(status.code))), ("result", .text(status.name)),
                ("items", .number(report.items)), ("archives", .number(report.archives)),
                ("verifiedAgain", .number(report.verified)), ("removed", .number(report.removed)),
                ("jobCopies", report.copies.isEmpty ? nil : .list(report.copies.map(json))),
                ("jobReceipt", report.receipt.map(json)), ("error", explanation?.jsonBody),
            ]), [])
    }

    private func tellText(_ session: Session) {
        if session.style.isVerbose { for note in report.copies.notes { session.note(note) } }
        for warning in warnings { session.warn("job \(quoted(job.name)): \(warning)") }
        if let explanation {
            let told = explanation.about(job: job.name)
            let showsHints = session.style.isVerbose || session.world.terminal.showsMessages
            session.message(showsHints ? told.lines : "kcbackup: error: \(told.message)\n")
        } else {
            session.note(
                "job \(quoted(job.name)): \(counted(report.items, "item")), \(counted(report.archives, "new archive")), "
                    + "\(report.removed) removed"
                    + report.copies.map { ", \($0.copied) copied to \(quoted($0.to))" }.joined())
        }
        // The result tells why there is no receipt if nothing else failed.
        if !report.isOfReceipt, let warning = report.receipt?.warning(explain) {
            session.warn("job \(quoted(job.name)): \(warning)")
        }
    }

    /// The JSON object "job receipt".
    private func json(_ receipt: JobReceipts.Outcome) -> JSONValue {
        .members([
            ("to", .text(receipt.to)), ("receipt", receipt.file.map { .text($0) }),
            ("error", receipt.explanation(explain)?.unattended.jsonBody),
        ])
    }

    /// The JSON object "job copies".
    private func json(_ copies: JobCopies.Outcome) -> JSONValue {
        .members([
            ("to", .text(copies.to)), ("copied", .number(copies.copied)),
            ("gone", copies.gone.isEmpty ? nil : .list(copies.gone.map { .text($0) })),
            ("goneBefore", copies.goneBefore.isEmpty ? nil : .list(copies.goneBefore.map { .text($0) })),
            ("error", copies.failure.map { explain($0).jsonBody }),
        ])
    }
}

extension JobRun.Report {
    /// The number of items in the archives.
    var items: Int { backup?.items ?? 0 }

    /// The number of new archives.
    var archives: Int { backup?.saved ?? 0 }

    /// True if nothing but the receipt failed.
    fileprivate var isOfReceipt: Bool { if case .noReceipt? = errors.first { true } else { false } }
}
