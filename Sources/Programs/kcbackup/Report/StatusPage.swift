internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel
internal import KCReportPages
internal import KCReportText

/// A self-contained page about all backups, without a script.
struct StatusPage {
    let state: BackupState
    /// The jobs and keychains without a successful backup since the requested limit.
    let stale: [String]
    /// When the page was made.
    let made: Timestamp
    /// The calendar by which archives belong to days.
    let calendar: LocalCalendar

    /// The first line, which identifies a page that a newer one may replace.
    static let mark: HTML = "<!DOCTYPE html><!-- kcbackup status -->\n"

    /// The complete page.
    var html: HTML {
        """
        \(Self.mark)<html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>Backups</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <header><p class="kind">kcbackup</p><h1>Backups</h1></header>
        <main>
        \(verdict)\(keychains)\(jobs)</main>
        <footer><p>Made by kcbackup on \(shown: calendar.moment(made)). It names keychains and folders, and holds no secret.</p></footer>
        </body>
        </html>

        """
    }

    private static let policy: HTML =
        "default-src 'none'; style-src 'sha256-\(Base64.encode(SHA256.hash(style.text.utf8.span).bytes))'; base-uri 'none'; form-action 'none'"

    /// Whether all is well, and otherwise what is not, and what to do.
    private var verdict: HTML {
        let problems = StatusProblem.all(of: state, stale: stale, at: made, calendar)
        if problems.isEmpty {
            return "<p class=\"verdict good\">Every keychain has its backup, and every job ended well.</p>\n"
        }
        let items = problems.map { problem in
            let hints = problem.hints.map { "<li>\(shown: $0)</li>" as HTML }
            return """
                <li><b>\(shown: problem.words)</b>\(hints.isEmpty ? "" : "<ul>\(hints)</ul>" as HTML)</li>

                """ as HTML
        }
        return """
            <section class="verdict bad">
            <h2>\(problems.count) to look at</h2>
            <ul class="problems">
            \(items)</ul>
            </section>

            """
    }

    private var keychains: HTML {
        if state.keychains.isEmpty { return "<p>There are no keychains.</p>\n" }
        let cards = state.keychains.map { StatusCard(keychain: $0, state: state, made: made, calendar: calendar).html }
        return "<h2>Keychains</h2>\n<div class=\"cards\">\n\(cards)</div>\n"
    }

    private var jobs: HTML {
        if state.jobs.isEmpty, state.unreadable.isEmpty { return "<h2>Jobs</h2>\n<p>There are no jobs.</p>\n" }
        let rows = state.jobs.map { job in
            """
            <tr><td>\(job.job.name)</td><td>\(job.job.time)</td><td>\(Self.time(job.good, at: made, calendar))</td>\
            <td class="number">\(job.good == nil ? "" : "\(job.record?.items ?? 0)" as HTML)</td>\
            <td class="\(job.isGood ? "good" : "bad" as HTML)">\(job.lastRun(calendar))</td>\
            <td class="path">\(job.job.folder)</td></tr>

            """ as HTML
        }
        let unreadable = state.unreadable.map { job in
            """
            <tr><td>\(job.name)</td><td></td><td></td><td></td>\
            <td class="bad">\(shown: job.failure.explanation.message)</td><td></td></tr>

            """ as HTML
        }
        return """
            <h2>Jobs</h2>
            <table>
            <thead><tr><th>Job</th><th>Runs</th><th>Last good</th><th class="number">Items</th><th>Last run</th>\
            <th>Folder</th></tr></thead>
            <tbody>
            \(rows)\(unreadable)</tbody>
            </table>

            """
    }

    /// A time and how long ago it was.
    static func time(_ time: Timestamp?, at made: Timestamp, _ calendar: LocalCalendar) -> HTML {
        guard let time else { return "<span class=\"bad\">never</span>" }
        return "\(shown: calendar.moment(time)) <span class=\"faint\">(\(shown: age(time, at: made)) before)</span>"
    }
}

/// Something that is not as it should be, and what to do about it.
struct StatusProblem {
    /// Displayed text.
    let words: String
    let hints: [String]

    init(_ words: String, hint hints: String...) {
        self.words = words
        self.hints = hints
    }

    init(_ explanation: Explanation) {
        words = explanation.message
        hints = explanation.hints
    }

    /// All problems, the most urgent first.
    static func all(
        of state: BackupState, stale: [String], at now: Timestamp, _ calendar: LocalCalendar
    ) -> [StatusProblem] {
        var problems = state.lost.map { StatusProblem($0.failure.explanation) }
        problems += (state.failures + state.unreadable.map(\.failure)).map { StatusProblem($0.explanation) }
        problems += state.jobs.compactMap { problem(of: $0, at: now, calendar) }
        problems += stale.map { StatusProblem("no good backup for too long: \($0)") }
        for keychain in state.keychains {
            if keychain.jobs.isEmpty {
                problems.append(
                    StatusProblem(
                        "\(keychain.words) is in no job",
                        hint: "'kcbackup schedule add' makes a job; its help has examples"))
            } else if keychain.good == nil {
                problems.append(
                    StatusProblem(
                        "\(keychain.words) has no backup yet",
                        hint: keychain.jobs.map { "'kcbackup run \(shellWord($0)) -v'" }.joined(separator: ", ")
                            + " makes one now"))
            }
        }
        return problems
    }

    private static func problem(
        of state: BackupState.JobState, at now: Timestamp, _ calendar: LocalCalendar
    ) -> StatusProblem? {
        let name = quoted(state.job.name)
        let run = "'kcbackup run \(shellWord(state.job.name)) -v' runs it now"
        if let failure = state.unreadableRecord { return StatusProblem(failure.explanation) }
        guard let record = state.record else {
            return StatusProblem(
                "job \(name) never ran", hint: run, "then let it run by itself: \(state.job.startingWords)")
        }
        if record.ended == nil {
            return state.isRunning
                ? nil
                : StatusProblem(
                    "the last run of job \(name), of \(calendar.moment(record.began)), was killed", hint: run)
        }
        if record.status != .ok {
            return StatusProblem(
                "job \(name) failed: \(displayed(record.message))", record.hints.map { displayed($0) } + [run])
        }
        guard state.isLate(at: now), let good = state.good else { return nil }
        return StatusProblem(
            "job \(name) is late: it runs '\(displayed(state.job.time))', and ended well \(age(good, at: now)) ago",
            hint: "is the machine on at that time? 'kcbackup doctor' looks for what stands in its way", run)
    }

    private init(_ words: String, _ hints: [String]) {
        self.words = words
        self.hints = hints
    }
}

extension BackupState.JobState {
    /// True if the last run ended well.
    fileprivate var isGood: Bool { record?.status == .ok && record?.ended != nil }

    /// True if the job has not ended well for longer than its calendar allows; false if that is not known.
    func isLate(at now: Timestamp) -> Bool {
        // The longest time between two runs, and some for the run itself and a machine that is started in the morning.
        let hours: [ExactText: Int64] = ["hourly": 3, "daily": 36, "weekly": 8 * 24, "monthly": 33 * 24]
        guard let good, let limit = hours[job.time.exact] else { return false }
        return now.seconds - good.seconds > limit * 3_600
    }
}
