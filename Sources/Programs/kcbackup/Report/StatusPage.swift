internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// A self-contained page about all backups, without a script.
struct StatusPage {
    let state: BackupState
    /// The jobs and keychains without a successful backup since the requested limit.
    let stale: [String]
    /// When the page was made.
    let made: Timestamp

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
        <h1>Backups</h1>
        \(verdict)\(jobs)\(keychains)<footer><p>Made by kcbackup on \(shown: made.moment). It names keychains and folders, \
        and holds no secret.</p></footer>
        </body>
        </html>

        """
    }

    private static let policy: HTML =
        "default-src 'none'; style-src 'sha256-\(Base64.encode(SHA256.hash(style.text.utf8.span).bytes))'; base-uri 'none'; form-action 'none'"

    private var verdict: HTML {
        stale.isEmpty
            ? "" : "<p class=\"bad\">No good backup for too long: \(stale.joined(separator: ", "))</p>\n"
    }

    private var jobs: HTML {
        if state.jobs.isEmpty, state.unreadable.isEmpty { return "<p>There are no jobs.</p>\n" }
        let rows = state.jobs.map { job in
            let isGood = job.record?.status == .ok && job.record?.ended != nil
            return """
                <tr><td>\(job.job.name)</td><td>\(job.job.time)</td><td>\(time(job.good))</td>\
                <td class="number">\(job.record?.items ?? 0)</td>\
                <td class="\(isGood ? "good" : "bad" as HTML)">\(job.lastRun)</td>\
                <td>\(job.job.folder)</td></tr>

                """ as HTML
        }
        let unreadable = state.unreadable.map { job in
            """
            <tr><td>\(job.name)</td><td></td><td></td><td></td>\
            <td class="bad">\(job.failure.explanation.message)</td><td></td></tr>

            """ as HTML
        }
        return """
            <h2>Jobs</h2>
            <table>
            <tr><th>Job</th><th>Runs</th><th>Last good</th><th>Items</th><th>Last run</th><th>Folder</th></tr>
            \(rows)\(unreadable)</table>

            """
    }

    private var keychains: HTML {
        let rows = state.keychains.map { keychain in
            let jobs = keychain.jobs.isEmpty ? "none" : keychain.jobs.joined(separator: ", ")
            return """
                <tr><td>\(keychain.name)</td><td>\(time(keychain.good))</td><td class="number">\(keychain.archives)</td>\
                <td class="\(keychain.jobs.isEmpty ? "bad" : "good" as HTML)">\(jobs)</td></tr>

                """ as HTML
        }
        return """
            <h2>Keychains</h2>
            <table>
            <tr><th>Keychain</th><th>Last good</th><th>Archives</th><th>Jobs</th></tr>
            \(rows)</table>

            """
    }

    private func time(_ time: Timestamp?) -> HTML {
        guard let time else { return "<span class=\"bad\">never</span>" }
        return "\(shown: time.moment) <span class=\"faint\">(\(shown: age(time, at: made)) before)</span>"
    }

    private static let style: HTML = """

        :root { color-scheme: light dark; --ground: #f5f6f8; --ink: #1c2127; --faint: #57606a; --line: #d5dae0;
          --good: #1a6b3c; --bad: #94500a; }
        @media screen and (prefers-color-scheme: dark) {
          :root { --ground: #11151a; --ink: #e6eaee; --faint: #9da7b3; --line: #303842; --good: #7ddc9f; --bad: #f5b865; }
        }
        body { margin: 0 auto; padding: 2rem; max-width: 72rem; background: var(--ground); color: var(--ink);
          font: 1rem/1.5 system-ui, "DejaVu Sans", sans-serif; }
        table { border-collapse: collapse; width: 100%; }
        th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left;
          vertical-align: top; overflow-wrap: anywhere; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        .good { color: var(--good); }
        .bad { color: var(--bad); }
        .faint, footer { color: var(--faint); }

        """
}
