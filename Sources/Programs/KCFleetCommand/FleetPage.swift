package import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel
package import KCReportPages
internal import KCReportText

/// A self-contained page about the machines of a fleet, with a table that is searched, filtered and sorted.
///
/// Its content security policy prevents the browser from loading anything, and allows only the page's own script and
/// style.
package struct FleetPage {
    /// A machine; the texts are not displayed ones.
    package struct Machine {
        let name: String
        let device: String
        let states: [String]
        let reported: Timestamp?
        let good: Timestamp?
        let items: Int?
        let before: Int?
        let verified: Timestamp?
        let jobs: String

        /// - Parameters:
        ///   - name: what people call it, or its device ID.
        ///   - states: what is wrong, the gravest first; empty if all is well.
        ///   - reported: when its newest receipt was written.
        ///   - good: when a backup last ended well.
        ///   - items: the number of items in its newest archives; nil if that is unknown.
        ///   - before: the same in the receipts before, if it was another one.
        ///   - verified: when the copy that was not read back for the longest time was.
        ///   - jobs: its jobs, with the exit codes of those that did not end well.
        package init(
            name: String, device: String, states: [String], reported: Timestamp?, good: Timestamp?, items: Int?,
            before: Int?, verified: Timestamp?, jobs: String
        ) {
            self.name = name
            self.device = device
            self.states = states
            self.reported = reported
            self.good = good
            self.items = items
            self.before = before
            self.verified = verified
            self.jobs = jobs
        }

        /// The word for its state if nothing is wrong with it; nil otherwise.
        var calm: String? { states.isEmpty ? (reported == nil ? FleetPage.unheard : FleetPage.well) : nil }
    }

    /// The first line, which identifies a page that a newer one may replace.
    package static let mark: HTML = "<!DOCTYPE html><!-- kcbackup fleet -->\n"
    /// The word for a machine with which nothing is wrong.
    package static let well = "well"
    /// The word for a machine of which nothing is expected, and that has not reported.
    package static let unheard = "not expected"

    private let folder: String
    private let days: String
    private let machines: [Machine]
    private let states: [String]
    private let rejected: [(file: String, words: String)]
    private let rejectedCount: Int
    private let hasServerTimes: Bool
    private let made: Timestamp
    private let calendar: LocalCalendar

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - folder: that of the fleet, as it was given.
    ///   - days: those that were read, in words.
    ///   - states: the names of all states, from the gravest on.
    ///   - rejected: the first files that are no receipts, and why, in displayed words.
    ///   - rejectedCount: the number of all of them.
    ///   - hasServerTimes: true if the times of receipts are those of the server.
    package init(
        folder: String, days: String, machines: [Machine], states: [String],
        rejected: [(file: String, words: String)], rejectedCount: Int, hasServerTimes: Bool, made: Timestamp,
        calendar: LocalCalendar
    ) {
        self.folder = folder
        self.days = days
        self.machines = machines
        self.states = states
        self.rejected = rejected
        self.rejectedCount = rejectedCount
        self.hasServerTimes = hasServerTimes
        self.made = made
        self.calendar = calendar
    }

    /// A time of the table, in minutes.
    func minute(_ time: Timestamp) -> String { calendar.minute(time) }

    /// Passes on the page in pieces.
    package func write(_ write: (HTML) throws -> Void) rethrows {
        try write(beginning)
        for machine in machines { try write(row(machine)) }
        try write(end)
    }

    private var beginning: HTML {
        let count = machines.count
        let well = number(Self.well)
        let unheard = number(Self.unheard)
        let others: HTML = unheard == 0 ? "" : "<li><b>\(unheard)</b> \(shown: Self.unheard)</li>\n"
        return """
            \(Self.mark)<html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(ReportPage.policy(Self.style))">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <title>Fleet: \(folder, limit: 200)</title>
            <style>\(Self.style)</style>
            <script>\(ReportPage.script)</script>
            </head>
            <body>
            <header>
            <p class="kind">Fleet</p>
            <h1><bdi>\(folder, limit: 200)</bdi></h1>
            <p class="lead">Receipts of \(shown: days), looked at on \(shown: calendar.moment(made)).</p>
            <ul class="tally">
            <li><b>\(count)</b> \(count == 1 ? "machine" : "machines" as HTML)</li>
            <li class="yes"><b>\(well)</b> well</li>
            \(others)\
            <li class="\(well + unheard == count ? "" : "no" as HTML)"><b>\(count - well - unheard)</b> to look at</li>
            <li class="\(rejectedCount == 0 ? "" : "no" as HTML)"><b>\(rejectedCount)</b> \
            \(rejectedCount == 1 ? "file that is no receipt" : "files that are no receipts" as HTML)</li>
            </ul>
            <svg class="whole" role="img" aria-label="\(well) of \(count) well">\
            <rect class="rest" width="100%" height="100%"/>\
            <rect class="part" width="\(shown: percent(well, of: count))" height="100%"/></svg>
            </header>
            <main>
            <div class="cards">
            \(chart)\(meaning)</div>
            \(files)<section id="list" aria-labelledby="list-title">
            <h2 id="list-title">Machines</h2>
            \(machines.isEmpty ? "<p>There are none.</p>\n" : Self.tableBeginning)
            """
    }

    /// The number of machines with which nothing is wrong, and that are called so.
    private func number(_ calm: String) -> Int { machines.count { $0.calm?.exact == calm.exact } }

    private var end: HTML {
        """
        \(machines.isEmpty ? "" : Self.tableEnd)</section>
        </main>
        <footer><p>Made by kcbackup from signed receipts. It names machines and jobs, and holds no name of an item and no \
        secret.</p></footer>
        </body>
        </html>

        """
    }

    /// How many machines are in each state; one may be in several.
    private var chart: HTML {
        let calm = [Self.well, Self.unheard].map { ReportBar(name: $0, count: number($0), value: $0) }
        let others = states.map { state in
            ReportBar(
                name: state, count: machines.count { $0.states.contains { $0.exact == state.exact } }, value: state)
        }
        let bars = (calm + others).filter { $0.count > 0 }
        return ReportChart(title: "Machines by state", condition: "state", bars: bars).html
    }

    private var meaning: HTML {
        let clock: HTML =
            hasServerTimes
            ? "Times are those of the server, which no machine can choose."
            : "Times are what the machines said: this remote has none of its own."
        return """
            <section class="card"><h3>What the states mean</h3>
            <dl>
            <dt>absent</dt><dd>expected, and no receipt in these days</dd>
            <dt>late</dt><dd>its last good backup is too old</dd>
            <dt>shrunk</dt><dd>many of its items, or all of a kind, are gone</dd>
            <dt>failed</dt><dd>its newest run did not end well</dd>
            <dt>replayed</dt><dd>a receipt's number was used twice: a clone, or put back from an image</dd>
            <dt>unknown</dt><dd>no list has it</dd>
            <dt>keys</dt><dd>its archives open with other keys than before</dd>
            <dt>clock</dt><dd>its clock is wrong by more than 15 minutes</dd>
            </dl>
            <p class="lead">\(clock)</p></section>

            """
    }

    private var files: HTML {
        if rejectedCount == 0 { return "" }
        let lines = rejected.map { file -> HTML in
            "<li><code>\(file.file, limit: 200)</code> <span class=\"no\">\(shown: file.words)</span></li>\n"
        }
        let more: HTML =
            rejectedCount > rejected.count ? "<li>… and \(rejectedCount - rejected.count) more</li>\n" : ""
        return """
            <details class="card files"><summary>\(rejectedCount) \
            \(rejectedCount == 1 ? "file is no receipt" : "files are no receipts" as HTML)</summary>
            <ul>
            \(lines)\(more)</ul></details>

            """
    }
}
