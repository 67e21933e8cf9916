internal import ArgumentParser
internal import BackupCatalogue
internal import ByteStreams
internal import Console
internal import KeychainModel

/// One run of a job: create, verify what was not looked at for long, prune.
struct JobRun {
    let job: Job
    let session: Session

    /// What a run did.
    struct Report {
        var status = ExitStatus.ok
        /// The first error, or what is incomplete.
        var explanation: Explanation?
        var items = 0
        var archives = 0
        var verified = 0
        var removed = 0
    }

    /// Days after which an archive is read again.
    private static let verifyAfter: Int64 = 7

    /// Runs all steps; one that fails is the last.
    func run() -> Report {
        var report = Report()
        do {
            try back(up: &report)
            // Nothing is removed after a run that saved less than it should.
            guard report.status == .ok else { return report }
            try verifyAndPrune(&report)
        } catch {
            report.explanation = Failure(error, session.subjects).explanation
            report.status = report.explanation?.status ?? .internal
        }
        return report
    }

    private func back(up report: inout Report) throws {
        let options = try job.options()
        try options.check(in: session)
        let summary = try FolderBackup(options: options, path: job.folder, session: session).back()
        report.status = summary.status
        report.items = summary.items
        report.archives = summary.saved
        report.explanation = summary.explanation
    }

    private func verifyAndPrune(_ report: inout Report) throws {
        let folder = try session.backupFolder(job.folder, waitingAtMost: FileLock.defaultWait)
        let limit = session.now.advanced(byMicroseconds: -Self.verifyAfter * 86_400_000_000)
        for entry in folder.catalogue.complete where entry.verified < limit {
            guard try folder.isPresent(entry) else { continue }
            try folder.verifyOutside(entry, now: session.now)
            report.verified += 1
        }
        if job.keep.isEmpty { return }
        let rules = try job.rules().retention()
        let fates = try folder.plan(rules, now: session.now, calendar: LocalCalendar())
        let going = fates.filter(\.reasons.isEmpty).map(\.entry)
        try folder.discard(going, now: session.now)
        _ = try folder.emptyTrash(now: session.now)
        report.removed = going.count
    }
}

/// A terminal for work that nobody watches: it asks nothing.
struct NoTerminal: Terminal {
    var isAttended: Bool { false }
    var showsOutput: Bool { false }
    var showsMessages: Bool { false }
    var width: Int? { nil }

    func readSecret(_ prompt: String) throws(TerminalFailure) -> SecretBytes { throw .unavailable }
    func readAnswer(_ prompt: String) throws(TerminalFailure) -> String { throw .unavailable }
    func show(_ text: borrowing SecretBytes) throws(TerminalFailure) { throw .unavailable }
}

/// Takes messages and shows them to nobody.
struct NoOutput: TextOutput {
    func write(_ bytes: borrowing Span<UInt8>) {}
}
