internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel
internal import KCReportText

/// A self-contained page about all backups, without a script.
package struct StatusPage {
    let report: StatusReport

    package init(_ report: StatusReport) { self.report = report }

    /// The first line, which identifies a page that a newer one may replace.
    package static let mark: HTML = "<!DOCTYPE html><!-- kcbackup status -->\n"

    /// The complete page.
    package var html: HTML {
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
        \(verdict)\(keychains)\(jobs)\(copies)\(receipts)\(kits)</main>
        <footer><p>Made by kcbackup on \(shown: report.calendar.moment(report.made)). It names keychains and folders, and holds no secret.</p></footer>
        </body>
        </html>

        """
    }

    private static let policy: HTML =
        "default-src 'none'; style-src 'sha256-\(Base64.encode(SHA256.hash(style.text.utf8.span).bytes))'; base-uri 'none'; form-action 'none'"

    /// Whether all is well, and otherwise what is not, and what to do.
    private var verdict: HTML {
        let problems = report.problems
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
        if report.stores.isEmpty { return "<p>There are no keychains.</p>\n" }
        let cards = report.stores.map { StatusCard(store: $0, made: report.made, calendar: report.calendar).html }
        return "<h2>Keychains</h2>\n<div class=\"cards\">\n\(cards)</div>\n"
    }

    private var jobs: HTML {
        if report.jobs.isEmpty, report.unreadable.isEmpty { return "<h2>Jobs</h2>\n<p>There are no jobs.</p>\n" }
        let rows = report.jobs.map { job in
            """
            <tr><td>\(job.name)</td><td>\(job.time)</td><td>\(Self.time(job.good, at: report.made, report.calendar))</td>\
            <td class="number">\(job.items.map { "\($0)" } ?? "" as HTML)</td>\
            <td class="\(job.isGood ? "good" : "bad" as HTML)">\(job.lastRun)</td>\
            <td class="path">\(job.folder)</td></tr>

            """ as HTML
        }
        let unreadable = report.unreadable.map { job in
            """
            <tr><td>\(job.name)</td><td></td><td></td><td></td>\
            <td class="bad">\(shown: job.words)</td><td></td></tr>

            """ as HTML
        }
        return """
            <h2>Jobs</h2>
            <table class="jobs">
            <thead><tr><th>Job</th><th>Runs</th><th>Last good</th><th class="number">Items</th><th>Last run</th>\
            <th>Folder</th></tr></thead>
            <tbody>
            \(rows)\(unreadable)</tbody>
            </table>

            """
    }

    private var copies: HTML {
        if report.copies.isEmpty { return "" }
        let rows = report.copies.map { copies in
            """
            <tr><td class="path">\(copies.to)</td><td>\(copies.job)</td>\
            <td>\(Self.time(copies.good, at: report.made, report.calendar))</td>\
            <td>\(Self.time(copies.readBack, at: report.made, report.calendar))</td>\
            <td class="\(copies.isGood ? "good" : "bad" as HTML)">\(copies.lastTry)</td></tr>

            """ as HTML
        }
        return """
            <h2>Copies</h2>
            <table class="copies">
            <thead><tr><th>On</th><th>Job</th><th>Last good</th><th>Read back</th><th>Last try</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>

            """
    }

    private var receipts: HTML {
        if report.receipts.isEmpty { return "" }
        let rows = report.receipts.map { receipts in
            """
            <tr><td class="path">\(receipts.to)</td><td>\(receipts.job)</td>\
            <td>\(Self.time(receipts.written, at: report.made, report.calendar))</td>\
            <td class="\(receipts.isGood ? "good" : "bad" as HTML)">\(receipts.lastTry)</td></tr>

            """ as HTML
        }
        return """
            <h2>Fleet</h2>
            <table class="fleet">
            <thead><tr><th>Fleet</th><th>Job</th><th>Last receipt</th><th>Last try</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>

            """
    }

    private var kits: HTML {
        if report.kits.isEmpty { return "" }
        let rows = report.kits.map { kit in
            """
            <tr><td>\(kit.name)</td><td>\(shown: report.calendar.day(kit.made))</td>\
            <td class="\(kit.isDue ? "bad" : "good" as HTML)">\(Self.time(kit.checked, at: report.made, report.calendar))</td>\
            <td>\(kit.comment)</td></tr>

            """ as HTML
        }
        return """
            <h2>Recovery kits</h2>
            <table class="kits">
            <thead><tr><th>Kit</th><th>Made</th><th>Last checked</th><th>Comment</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>

            """
    }

    /// A time and how long ago it was.
    static func time(_ time: Timestamp?, at made: Timestamp, _ calendar: LocalCalendar) -> HTML {
        guard let time else { return "<span class=\"bad\">never</span>" }
        return "\(shown: calendar.moment(time)) <span class=\"faint\">(\(shown: age(time, at: made)) before)</span>"
    }
}
