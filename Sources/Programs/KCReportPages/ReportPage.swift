package import KCBackupArchive
package import KCBackupCatalogue
package import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainModel
internal import KCReportText

/// A self-contained page about an archive: what it is, where it restores, and its items.
///
/// Its content security policy prevents the browser from loading anything, and allows only the page's own script and
/// style.
package struct ReportPage {
    let outline: ArchiveOutline
    let path: String
    let source: ArchiveSource
    let origin: Origin
    let contents: ArchiveContents
    let counts: ReportCounts
    /// True if the verdicts are for the device that made the archive.
    let isSameDevice: Bool
    /// The device for which the verdicts were requested.
    let judged: JudgedDevice
    /// When the page was made.
    let made: Timestamp
    /// The calendar of the times in the page.
    let calendar: LocalCalendar

    /// Creates a page; the properties describe the parameters.
    package init(
        outline: ArchiveOutline, path: String, source: ArchiveSource, origin: Origin, contents: ArchiveContents,
        counts: ReportCounts, isSameDevice: Bool, judged: JudgedDevice, made: Timestamp, calendar: LocalCalendar
    ) {
        self.outline = outline
        self.path = path
        self.source = source
        self.origin = origin
        self.contents = contents
        self.counts = counts
        self.isSameDevice = isSameDevice
        self.judged = judged
        self.made = made
        self.calendar = calendar
    }

    /// Everything before the first row of the table.
    package var beginning: HTML {
        let table: HTML = counts.total == 0 ? "<p>There are none.</p>\n" : Self.tableBeginning
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <title>\(Path.split(path).name, limit: 200)</title>
            <style>\(Self.style)</style>
            <script>\(Self.script)</script>
            </head>
            <body>
            \(header)<main>
            <div class="cards">
            \(facts)\(destinations)\(stayingBehind)</div>
            \(charts)<section id="list" aria-labelledby="list-title">
            <h2 id="list-title">Items</h2>
            \(table)
            """
    }

    /// Everything after the last row.
    package var end: HTML {
        let table: HTML = counts.total == 0 ? "" : Self.tableEnd
        return """
            \(table)</section>
            </main>
            <footer><p>Made by kcbackup on \(shown: calendar.moment(made)), from an archive that was proved genuine. There is no secret in \
            this page; the names in it tell where somebody has accounts, so keep it to yourself.</p></footer>
            </body>
            </html>

            """
    }

    /// The content security policy; it contains no URLs, not even the page's own origin.
    package static let policy: HTML = policy(style)

    /// The policy of a page with the same script and a style.
    package static func policy(_ style: HTML) -> HTML {
        "default-src 'none'; script-src 'sha256-\(digest(script))'; style-src 'sha256-\(digest(style))'; base-uri 'none'; form-action 'none'"
    }

    private static func digest(_ text: HTML) -> String {
        Base64.encode(SHA256.hash(text.text.utf8.span).bytes)
    }

    private static let tableBeginning: HTML = """
        <div id="tools" role="search" hidden>
        <label class="wide">Search <input id="search" type="search" autocomplete="off" spellcheck="false"></label>
        <label>Class <select data-condition="class"></select></label>
        <label>Accessible <select data-condition="accessible"></select></label>
        <label>Group <select data-condition="group"></select></label>
        <label>Changed <select data-condition="year"></select></label>
        <label>Verdict <select data-condition="verdict"></select></label>
        <button id="reset" type="button">Show all</button>
        </div>
        <p id="count" role="status"></p>
        <div class="frame" role="region" aria-labelledby="list-title" tabindex="0">
        <table id="items">
        <thead>
        \(ReportRow.header)</thead>
        <tbody>

        """

    private static let tableEnd: HTML = """
        </tbody>
        </table>
        <div id="paper"></div>
        </div>
        <p id="rest" hidden><button type="button">Show the other rows</button></p>

        """
}
