internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCKeychainModel
internal import KCReportPages
internal import KCReportText
internal import KCTerminal

extension StatusReport {
    /// Says what there is, and what is wrong.
    ///
    /// - Parameters:
    ///   - gone: the keychains that have lost their files.
    ///   - stale: what has had no successful backup since the requested limit.
    init(
        _ state: BackupState, _ kits: StatusKits, _ gone: [Failure], stale: [BackupState.Stale], at now: Timestamp,
        _ calendar: LocalCalendar
    ) {
        self.init(
            problems: gone.map { Problem($0.explanation) } + Self.problems(of: state, stale, now, calendar)
                + kits.problems(at: now),
            stores: state.stores.map { Store($0, in: state, at: now) },
            jobs: state.jobs.map { Job($0, calendar) },
            copies: state.jobs.flatMap { job in job.copies.map { Copies($0, of: job.job.name) } },
            receipts: state.jobs.compactMap { job in job.receipts.map { Receipts($0, of: job.job.name) } },
            kits: kits.rows(at: now),
            unreadable: state.unreadable.map { ($0.name, $0.failure.explanation.message) }, made: now,
            calendar: calendar)
    }

    /// All problems, the most urgent first.
    private static func problems(
        of state: BackupState, _ stale: [BackupState.Stale], _ now: Timestamp, _ calendar: LocalCalendar
    ) -> [Problem] {
        var problems = state.lost.map { Problem($0.failure.explanation) }
        problems += state.failures.map { Problem(explainCatalogue($0, job: nil)) }
        problems += state.unreadable.map { Problem($0.failure.explanation) }
        problems += state.jobs.compactMap { problem(of: $0, now, calendar) }
        problems += stale.map { Problem("no good backup for too long: \($0.words)") }
        for keychain in state.stores {
            if keychain.jobs.isEmpty {
                problems.append(
                    Problem(
                        "\(keychain.words) is in no job",
                        hint: "'kcbackup schedule add' makes a job; its help has examples"))
            } else if keychain.good == nil {
                problems.append(
                    Problem(
                        "\(keychain.words) has no backup yet",
                        hint: keychain.jobs.map { "'kcbackup run \(shellWord($0)) -v'" }.joined(separator: ", ")
                            + " makes one now"))
            }
        }
        return problems
    }

    private static func problem(
        of state: BackupState.JobState, _ now: Timestamp, _ calendar: LocalCalendar
    ) -> Problem? {
        let name = quoted(state.job.name)
        let run = "'kcbackup run \(shellWord(state.job.name)) -v' runs it now"
        if let failure = state.recordFailure { return Problem(failure.explanation) }
        guard let record = state.record else {
            return Problem(
                "job \(name) never ran", hint: run, "then let it run by itself: \(state.job.startingWords)")
        }
        if state.isRunning {
            guard state.isOverdue(at: now) else { return nil }
            return Problem(
                "the run of job \(name) of \(calendar.moment(record.began)) has not ended, and no other can begin",
                hint: BackupState.JobState.overdueHint)
        }
        if record.ended == nil {
            return Problem("the last run of job \(name), of \(calendar.moment(record.began)), was killed", hint: run)
        }
        if record.status == .notCopied {
            return Problem("job \(name): \(displayed(record.message))", record.hints.map { displayed($0) } + [run])
        }
        if record.status != .ok {
            return Problem(
                "job \(name) failed: \(displayed(record.message))", record.hints.map { displayed($0) } + [run])
        }
        if state.isAlwaysEmpty {
            return Problem(
                "job \(name) has had no item to back up so far",
                hint: "'kcbackup item list \(OptionName.keychain.spelling) NAME' shows what a keychain has")
        }
        guard state.isLate(at: now), let good = state.good else { return nil }
        if good > now {
            return Problem(
                "job \(name) may be late: its last good run is of \(calendar.moment(good)), which is in the future",
                hint: "set the clock, 'timedatectl' shows it", run)
        }
        return Problem(
            "job \(name) is late: it runs '\(displayed(state.job.time))', and ended well \(age(good, at: now)) ago",
            hint: "is the machine on at that time? 'kcbackup doctor' looks for what stands in its way", run)
    }
}

extension StatusReport.Problem {
    fileprivate init(_ words: String, hint hints: String...) { self.init(words, hints) }

    fileprivate init(_ explanation: Explanation) { self.init(explanation.message, explanation.hints) }
}

extension StatusReport.Job {
    fileprivate init(_ state: BackupState.JobState, _ calendar: LocalCalendar) {
        self.init(
            name: state.job.name, time: state.job.time, good: state.good,
            items: state.good == nil ? nil : state.record?.items, lastRun: state.lastRun(calendar),
            isGood: state.isGood && !state.isAlwaysEmpty, folder: state.job.folder)
    }
}

extension StatusReport.Copies {
    fileprivate init(_ state: BackupState.CopyState, of job: String) {
        self.init(
            to: state.to, job: job, good: state.good, readBack: state.record?.verified, lastTry: state.words,
            isGood: state.good != nil && state.record?.failed == nil)
    }
}

extension StatusReport.Receipts {
    fileprivate init(_ state: BackupState.ReceiptState, of job: String) {
        self.init(
            to: state.to, job: job, written: state.written, lastTry: state.words,
            isGood: state.written != nil && state.record?.failed == nil)
    }
}

extension StatusReport.Store {
    fileprivate init(_ store: BackupState.StoreState, in state: BackupState, at now: Timestamp) {
        let late = state.jobs.filter { store.jobs.contains($0.job.name) && $0.isLate(at: now) }
        let folders = state.catalogues.filter { catalogue in
            catalogue.complete.contains { entry in store.entries.contains { $0.archiveID == entry.archiveID } }
        }
        self.init(
            name: store.name, good: store.good, jobs: store.jobs, lateJobs: late.map(\.job.name),
            entries: store.entries, folders: folders.map(\.folder))
    }
}
