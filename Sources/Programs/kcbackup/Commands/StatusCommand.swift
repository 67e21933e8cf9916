internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText

/// `kcbackup status`.
struct StatusCommand: Verb {
    static let mainOptions: [OptionName] = [.maxAge, .prometheus, .html]

    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the last good backup of each job and keychain.",
        discussion: """
            With '--max-age', the run ends with 17 if the last good backup of a job or keychain is older, or if a job \
            never succeeded. If the newest backup of a keychain is missing from its folder, the run ends with 10, and \
            with 13 if another file has its name, or if the catalogue of a folder was altered. '--prometheus' prints \
            the text format that a node exporter collects.

            EXAMPLES:
              kcbackup status
              kcbackup status --max-age 26h --quiet
              kcbackup status --prometheus > kcbackup.prom
              kcbackup status --html status.html
            """)

    @Option(
        name: OptionName.maxAge.name,
        help: ArgumentHelp("End with 17 if a last good backup is older, as in '26h' or '8d'.", valueName: "time"))
    var maxAge: String?

    @Flag(name: OptionName.prometheus.name, help: "Print the figures for Prometheus.")
    var prometheus = false

    @Option(
        name: OptionName.html.name,
        help: ArgumentHelp(
            "Make a page of it for a browser; an earlier page of this kind is replaced.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

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
        if html != nil, prometheus { throw UsageProblem.together(.html, .prometheus) }
        if html != nil, style.json { throw UsageProblem.together(.html, .json) }
        let page = try html.map { try ReportFile($0, replacing: StatusPage.mark, in: session) }
        let state = try BackupState(in: session)
        let stale = limit.map { state.stale(since: $0, at: session.now) } ?? []
        if let page {
            try page.make { write in
                try write(StatusPage(state: state, stale: stale, made: session.now, calendar: session.calendar).html)
            }
        } else if prometheus {
            try session.result([:], state.metrics)
        } else if style.json {
            try session.result(state.json(at: session.now), [])
        } else if !style.quiet {
            try session.result([:], lines(state, in: session))
        }
        for keychain in state.keychains
        where keychain.jobs.isEmpty && !state.jobs.isEmpty && state.unreadable.isEmpty {
            session.note("\(keychain.words) is in no job")
        }
        var problems = state.unreadable.map(\.failure) + state.jobs.compactMap(\.unreadableRecord)
        problems += state.failures + state.lost.map(\.failure)
        if let maxAge, !stale.isEmpty { problems.append(.refused(.stale(what: stale, limit: maxAge))) }
        guard let first = problems.first else { return .ok }
        for other in problems.dropFirst() { session.warn(other.explanation.message) }
        // With `--json`, the object has been printed already, and nothing else is.
        guard style.json else { throw first }
        session.message(first.explanation.lines)
        return first.explanation.status
    }

    private func lines(_ state: BackupState, in session: Session) -> [String] {
        var lines: [String] = []
        if !state.jobs.isEmpty || !state.unreadable.isEmpty {
            var table = Table([
                Table.Column(title: "JOB", least: 8), Table.Column(title: "LAST GOOD", yields: 1, zone: session.zones),
                Table.Column(title: "AGE"), Table.Column(title: "ITEMS", alignment: .right, yields: 2),
                Table.Column(title: "LAST RUN", least: 12),
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
        var table = Table([
            Table.Column(title: "KEYCHAIN", least: 8), Table.Column(title: "LAST GOOD", yields: 1, zone: session.zones),
            Table.Column(title: "AGE"), Table.Column(title: "ARCHIVES", alignment: .right, yields: 2),
            Table.Column(title: "JOBS", least: 8),
        ])
        for keychain in state.keychains {
            table.append([
                keychain.name, keychain.good.map { session.calendar.minute($0) } ?? "never",
                keychain.good.map { age($0, at: session.now) } ?? "-", String(keychain.archives),
                keychain.jobs.isEmpty ? "none" : keychain.jobs.joined(separator: ", "),
            ])
        }
        return lines + (table.isEmpty ? ["no keychains\n"] : table.lines(width: session.tableWidth))
    }
}

extension BackupState.JobState {
    /// The result of the last run, as text.
    func lastRun(_ calendar: LocalCalendar) -> String {
        if let unreadableRecord { return unreadableRecord.explanation.status.name }
        guard let record else { return "never ran" }
        if record.ended == nil {
            return isRunning ? "runs now" : "began \(calendar.moment(record.began)), and was killed"
        }
        return record.status == .ok ? "ok" : "\(record.status.name): \(record.message)"
    }

    /// The name of the last run's result in JSON.
    fileprivate var result: String {
        if let unreadableRecord { return unreadableRecord.explanation.status.name }
        guard let record else { return "never" }
        if record.ended == nil { return isRunning ? "running" : "killed" }
        return record.status.name
    }
}

extension BackupState.KeychainState {
    /// The keychain or keyring in a sentence.
    var words: String { storeWords(name) }
}

extension BackupState.Lost {
    /// The JSON object "missing backup".
    fileprivate var json: JSONValue { ["keychain": .text(name), "file": .text(path)] }
}

extension BackupState {
    /// The JSON object of `status`.
    fileprivate func json(at now: Timestamp) -> JSONValue {
        [
            "jobs": .list(
                jobs.map { state in
                    state.job.json.adding([
                        ("result", .text(state.result)), ("began", state.record.map { .text($0.began.description) }),
                        ("ended", state.record?.ended.map { .text($0.description) }),
                        ("good", state.good.map { .text($0.description) }),
                        ("items", state.record.map { .number($0.items) }),
                        ("message", state.record.flatMap { $0.message.isEmpty ? nil : .text($0.message) }),
                    ])
                }),
            "unreadable": .list(unreadable.map(\.json)),
            "unreadableCatalogues": .list(failures.map(\.explanation.jsonBody)),
            "backupsOf": .list(
                keychains.map { state in
                    .members([
                        ("keychain", .text(state.name)), ("archives", .number(state.archives)),
                        ("good", state.good.map { .text($0.description) }),
                        ("inJobs", .list(state.jobs.map { .text($0) })),
                    ])
                }),
            "missing": .list(lost.filter { $0.state == .missing }.map(\.json)),
            "newestReplaced": .list(lost.filter { $0.state != .missing }.map(\.json)),
        ]
    }

    /// The metrics in Prometheus's text format.
    fileprivate var metrics: [String] {
        func metric(_ name: String, _ help: String, _ values: [(label: String, name: String, value: Int64)]) -> [String]
        {
            ["# HELP \(name) \(help)\n", "# TYPE \(name) gauge\n"]
                + values.map { "\(name){\($0.label)=\"\(Quoted.metricLabel($0.name))\"} \($0.value)\n" }
        }
        return metric(
            "kcbackup_last_good_timestamp_seconds", "End of the last run of a job that ended well; 0 for never.",
            jobs.map { ("job", $0.job.name, $0.good?.seconds ?? 0) } + unreadable.map { ("job", $0.name, 0) })
            + metric(
                "kcbackup_last_exit_code", "Exit code of the last run of a job.",
                jobs.compactMap { state in
                    state.record.flatMap { $0.ended == nil ? nil : ("job", state.job.name, Int64($0.status.code)) }
                })
            + metric(
                "kcbackup_items", "Items in the archives of the last good run of a job.",
                jobs.map { ("job", $0.job.name, Int64($0.record?.items ?? 0)) })
            + metric(
                "kcbackup_keychain_last_good_timestamp_seconds", "Last good backup of a keychain; 0 for never.",
                keychains.map { ("keychain", $0.name, $0.good?.seconds ?? 0) })
            + metric(
                "kcbackup_newest_missing", "Folders where the newest backup of a keychain is gone or replaced.",
                keychains.map { state in
                    let stem = DesktopKeyring(state.name).map(\.stem) ?? state.name
                    let series = ArchiveName.series(of: stem)
                    return ("keychain", state.name, Int64(lost.count { $0.series.exact == series.exact }))
                })
            + [
                "# HELP kcbackup_unreadable_catalogues Folders of backups whose catalogues cannot be read.\n",
                "# TYPE kcbackup_unreadable_catalogues gauge\n",
                "kcbackup_unreadable_catalogues \(failures.count)\n",
            ]
    }
}
