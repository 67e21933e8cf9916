internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// `kcbackup status`.
struct StatusCommand: Verb {
    static let mainOptions: [OptionName] = [.maxAge, .prometheus]

    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the last good backup of each job and keychain.",
        discussion: """
            If the last run of a job failed, this ends as that did. With '--max-age', it ends with 17 instead if the last good backup of a job or keychain is older, if a job \
            never succeeded, or if there is no job and no newer backup. If a keychain has lost its file without \
            'keychain delete', or the newest backup of one is missing from its folder, the run ends with 10, and with 13 if another file has its name, or if the catalogue of a \
            folder was altered. The same limit applies to the copies of a job on its remotes. Recovery kits are shown \
            with their last checks. '--prometheus' prints the text format that a node exporter collects.

            EXAMPLES:
              kcbackup status
              kcbackup status --max-age 26h --quiet
              kcbackup status --prometheus > kcbackup.prom
            """)

    @Option(
        name: OptionName.maxAge.name,
        help: ArgumentHelp("End with 17 if a last good backup is older, as in '26h' or '8d'.", valueName: "time"))
    var maxAge: String?

    @Flag(name: OptionName.prometheus.name, help: "Print the figures for Prometheus.")
    var prometheus = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if prometheus, style.json { throw UsageProblem.together(.prometheus, .json) }
        let limit = try maxAge.map { text throws(UsageProblem) in
            guard let match = text.wholeMatch(of: /([1-9]\d{0,4})(h|d)/), let number = Int64(match.1) else {
                throw .malformed(.maxAge, form: "a time such as '26h' or '8d'")
            }
            let hours = match.2 == "d" ? number * 24 : number
            return session.now.advanced(byMicroseconds: -hours * 3_600_000_000)
        }
        let state = try BackupState(in: session.machine, at: session.now) { error in
            session.warn(session.failure(of: error).explanation.message)
        }
        let kits = StatusKits(in: session)
        let gone = GoneKeychain.failures(in: state, of: session)
        let stale = limit.map { state.stale(since: $0, at: session.now) } ?? []
        if prometheus {
            try session.result([:], state.metrics + kits.metrics)
        } else if style.json {
            try session.result(state.json(kits, at: session.now), [])
        } else if !style.quiet {
            try session.result([:], lines(state, kits, in: session))
            try session.noteGone(state)
            if state.stores.contains(where: { $0.good == nil }) {
                session.note(
                    "only archives in folders of backups are on record here: 'kcbackup create \(OptionName.to.spelling) "
                        + "FOLDER' and jobs make these")
            }
        }
        for keychain in state.stores
        where keychain.jobs.isEmpty && !state.jobs.isEmpty && state.unreadable.isEmpty {
            session.note("\(keychain.words) is in no job")
        }
        var problems = state.unreadable.map(\.failure) + state.jobs.compactMap(\.recordFailure)
        problems += state.failures.map { .catalogue($0, job: nil) } + state.lost.map(\.failure)
        problems += gone
        if let failure = kits.failure { problems.append(failure) }
        // With a limit, its age decides; what collects figures gets the exit code as one of them.
        if maxAge == nil, !prometheus { problems += state.jobs.compactMap { $0.lastFailure(session.calendar) } }
        if let maxAge, !stale.isEmpty { problems.append(.refused(Self.refusal(of: stale, maxAge))) }
        guard let first = problems.first else { return .ok }
        for other in problems.dropFirst() { session.warn(other.explanation.message) }
        // With `--json`, the object has been printed already, and nothing else is.
        guard style.json else { throw first }
        session.message(first.explanation.lines)
        return first.explanation.status
    }

    private static func refusal(of stale: [BackupState.Stale], _ maxAge: String) -> Refusal {
        if case .everything(let dataFolder)? = stale.first {
            return Refusal(
                .stale, "no good backup in the last \(displayed(maxAge)): none is on record in \(quoted(dataFolder))",
                hint: "where backups are made with XDG_DATA_HOME set, it has to be set here too, as in a line of cron",
                "'kcbackup schedule add' makes a job; its help has examples")
        }
        let stale = stale.map(\.words)
        return Refusal(
            .stale, "no good backup in the last \(displayed(maxAge)): \(stale.joined(separator: ", "))",
            hint: "'kcbackup status' says why, 'kcbackup doctor' finds what would make the next run fail")
    }

    private func lines(_ state: BackupState, _ kits: StatusKits, in session: Session) -> [String] {
        var lines: [String] = []
        if !state.jobs.isEmpty || !state.unreadable.isEmpty {
            var table = Table([
                Table.Column(title: "JOB", least: 8), Table.Column(title: "LAST GOOD", yields: 1, zone: session.zones),
                Table.Column(title: "AGE"), Table.Column(title: "ITEMS", alignment: .right, yields: 2),
                Table.Column(title: "LAST RUN", least: 12, isWhole: true),
            ])
            for job in state.jobs {
                table.append([
                    job.job.name, job.good.map { session.calendar.minute($0) } ?? "never",
                    job.good.map { age($0, at: session.now) } ?? "-",
                    job.good == nil ? "" : String(job.record?.items ?? 0),
                    job.lastRun(session.calendar),
                ])
            }
            for job in state.unreadable {
                table.append([job.name, "?", "-", "", job.failure.explanation.status.name])
            }
            lines += table.lines(width: session.tableWidth) + ["\n"]
        }
        lines += copyLines(state, in: session) + receiptLines(state, in: session) + kits.lines(in: session)
        var table = Table([
            Table.Column(title: "KEYCHAIN", least: 8), Table.Column(title: "LAST GOOD", yields: 1, zone: session.zones),
            Table.Column(title: "AGE"), Table.Column(title: "ARCHIVES", alignment: .right, yields: 2),
            Table.Column(title: "JOBS", least: 8, isWhole: true),
        ])
        for keychain in state.stores {
            table.append([
                keychain.name, keychain.good.map { session.calendar.minute($0) } ?? "never",
                keychain.good.map { age($0, at: session.now) } ?? "-", String(keychain.entries.count),
                keychain.jobs.isEmpty ? "none" : keychain.jobs.joined(separator: ", "),
            ])
        }
        return lines + (table.isEmpty ? ["no keychains\n"] : table.lines(width: session.tableWidth))
    }
}

extension StatusCommand {
    /// The copies of all jobs, if there are any.
    private func copyLines(_ state: BackupState, in session: Session) -> [String] {
        var table = Table([
            Table.Column(title: "COPIES ON", least: 8), Table.Column(title: "JOB", least: 8),
            Table.Column(title: "LAST GOOD", yields: 1, zone: session.zones), Table.Column(title: "AGE"),
            Table.Column(title: "READ BACK", yields: 2, zone: session.zones),
            Table.Column(title: "LAST TRY", least: 12, isWhole: true),
        ])
        for job in state.jobs {
            for copies in job.copies {
                table.append([
                    copies.to, job.job.name, copies.good.map { session.calendar.minute($0) } ?? "never",
                    copies.good.map { age($0, at: session.now) } ?? "-",
                    copies.record?.verified.map { session.calendar.minute($0) } ?? "never", copies.words,
                ])
            }
        }
        return table.isEmpty ? [] : table.lines(width: session.tableWidth) + ["\n"]
    }
}

extension StatusCommand {
    /// The receipts of all jobs that are in a fleet, if there are any.
    private func receiptLines(_ state: BackupState, in session: Session) -> [String] {
        var table = Table([
            Table.Column(title: "FLEET", least: 8), Table.Column(title: "JOB", least: 8),
            Table.Column(title: "LAST RECEIPT", yields: 1, zone: session.zones), Table.Column(title: "AGE"),
            Table.Column(title: "LAST TRY", least: 12, isWhole: true),
        ])
        for job in state.jobs {
            guard let receipts = job.receipts else { continue }
            table.append([
                receipts.to, job.job.name, receipts.written.map { session.calendar.minute($0) } ?? "never",
                receipts.written.map { age($0, at: session.now) } ?? "-", receipts.words,
            ])
        }
        return table.isEmpty ? [] : table.lines(width: session.tableWidth) + ["\n"]
    }
}

extension BackupState.ReceiptState {
    /// The result of the last try, as text.
    var words: String {
        record == nil && unreadable == nil
            ? "never ran" : result + (record?.failed.map { ": \($0.message)" } ?? "")
    }

    /// How the last try ended, as the name of a status.
    private var result: String {
        if let unreadable { return Failure(unreadable).explanation.status.name }
        guard let record else { return "never" }
        return record.failed?.status.name ?? ExitStatus.ok.name
    }

    /// The JSON object "job receipt".
    fileprivate var json: JSONValue {
        .members([
            ("to", .text(to)), ("result", .text(result)), ("tried", record.map { .text($0.tried.description) }),
            ("written", written.map { .text($0.description) }),
            ("receipt", record?.written.map { .text($0.file) }),
            ("message", record?.failed.map { .text($0.message) }),
        ])
    }
}

extension BackupState.CopyState {
    /// The result of the last try, as text.
    var words: String {
        if record == nil, unreadable == nil { return "never ran" }
        if let failed = record?.failed { return "\(result): \(failed.message)" }
        if let gone = record?.gone, !gone.isEmpty {
            return "\(result): \(gone.map { quoted($0) }.joined(separator: ", ")) had been there, and was gone"
        }
        if let missing = record?.missing, missing > 0 { return "\(result): \(missing) missing" }
        if let unread = record?.unread, unread > 0 { return "\(result): \(unread) not read back" }
        return record?.isUnlisted == true ? "\(result): may not be listed" : result
    }

    /// How the last try ended, as the name of a status.
    private var result: String {
        if let unreadable { return Failure(unreadable).explanation.status.name }
        guard let record else { return "never" }
        return record.failed?.status.name ?? ExitStatus.ok.name
    }

    /// The JSON object "job copies".
    fileprivate var json: JSONValue {
        .members([
            ("to", .text(to)), ("result", .text(result)), ("tried", record.map { .text($0.tried.description) }),
            ("good", good.map { .text($0.description) }),
            ("readBack", record?.verified.map { .text($0.description) }),
            ("there", record.map { .number($0.there.count) }), ("missing", record.map { .number($0.missing) }),
            ("damaged", record.map { .number($0.damaged) }),
            ("notReadBack", record.map { .number($0.unread) }),
            ("oldest", record?.oldest.map { .text($0.description) }),
            (
                "newest",
                record.map {
                    .list($0.newest.values.map(\.name.fileName).sorted { $0.exact < $1.exact }.map { .text($0) })
                }
            ),
            ("gone", record.flatMap { $0.gone.isEmpty ? nil : .list($0.gone.map { .text($0) }) }),
            ("message", record?.failed.map { .text($0.message) }),
        ])
    }
}

extension BackupState.JobState {
    /// The result of the last run, as text.
    func lastRun(_ calendar: LocalCalendar) -> String {
        if let recordFailure { return recordFailure.explanation.status.name }
        guard let record else { return "never ran" }
        if record.ended == nil {
            let began = calendar.moment(record.began)
            return isRunning ? "runs since \(began)" : "began \(began), and was killed"
        }
        if record.status == .ok {
            return (isAlwaysEmpty ? "no items so far" : "ok") + (job.onChange ? ", \(job.timeWords)" : "")
        }
        return "\(record.status.name): \(record.message)"
    }

    /// Why the last run did not end well; nil if it did, or if it is not known or not over.
    fileprivate func lastFailure(_ calendar: LocalCalendar) -> Failure? {
        guard let record, !isRunning else { return nil }
        if record.ended == nil {
            return .refused(
                .explained(
                    Explanation(
                        .io, "the last run of job \(quoted(job.name)), of \(calendar.moment(record.began)), was killed",
                        hint: "'kcbackup run \(job.name) -v' finishes what it left")))
        }
        if record.status == .ok { return nil }
        let last = Explanation(record.status, "\(record.failureWords): \(record.message)").adding(record.hints)
        return .refused(.explained(last.about(job: job.name)))
    }

    /// The name of the last run's result in JSON.
    fileprivate var result: String {
        if let recordFailure { return recordFailure.explanation.status.name }
        guard let record else { return "never" }
        if record.ended == nil { return isRunning ? "running" : "killed" }
        return record.status.name
    }
}

extension BackupState.Lost {
    /// The JSON object "missing backup".
    fileprivate var json: JSONValue { ["keychain": .text(name), "file": .text(path)] }
}

extension BackupState {
    /// The JSON object of `status`.
    fileprivate func json(_ kits: StatusKits, at now: Timestamp) -> JSONValue {
        [
            "jobs": .list(
                jobs.map { state in
                    state.job.json.adding([
                        ("result", .text(state.result)), ("began", state.record.map { .text($0.began.description) }),
                        ("ended", state.record?.ended.map { .text($0.description) }),
                        ("good", state.good.map { .text($0.description) }),
                        ("items", state.record.map { .number($0.items) }),
                        ("message", state.record.flatMap { $0.message.isEmpty ? nil : .text($0.message) }),
                        ("jobCopies", state.copies.isEmpty ? nil : .list(state.copies.map(\.json))),
                        ("jobReceipt", state.receipts?.json),
                    ])
                }),
            "unreadable": .list(unreadable.map(\.json)),
            "unreadableCatalogues": .list(failures.map { explainCatalogue($0, job: nil).jsonBody }),
            "backupsOf": .list(
                stores.map { state in
                    .members([
                        ("keychain", .text(state.name)), ("archives", .number(state.entries.count)),
                        ("good", state.good.map { .text($0.description) }),
                        ("inJobs", .list(state.jobs.map { .text($0) })),
                    ])
                }),
            "kits": .list(kits.kits.map { $0.json(at: now) }),
            "missing": .list(lost.filter { $0.state == .missing }.map(\.json)),
            "newestReplaced": .list(lost.filter { $0.state != .missing }.map(\.json)),
        ]
    }
}
