internal import KCBackupCatalogue
internal import KCKeychainModel
internal import KCReportText

/// The part of the status page about one keychain: its state, a calendar of nights, and items and size over time.
struct StatusCard {
    let store: StatusReport.Store
    let made: Timestamp
    let calendar: LocalCalendar

    // Ten weeks are as wide as a phone.
    private static let weeks = 10
    /// The number of archives in the charts.
    private static let bars = 40

    /// Oldest first.
    private var entries: [CatalogueEntry] { store.entries.sorted { $0.created < $1.created } }

    var html: HTML {
        """
        <section class="card">
        <h3>\(store.name)</h3>
        <p class="state \(isGood ? "good" : "bad" as HTML)">\(shown: stateWords)</p>
        \(nights)\(charts)\(facts)</section>

        """
    }

    private var isGood: Bool { store.good != nil && !store.jobs.isEmpty && store.lateJobs.isEmpty }

    private var stateWords: String {
        guard let good = store.good else { return "never backed up" }
        let age = "\(age(good, at: made)) old"
        if store.jobs.isEmpty { return "\(age), and in no job" }
        return store.lateJobs.isEmpty
            ? age : "\(age), late: job \(store.lateJobs.map(quoted).joined(separator: ", "))"
    }

    // MARK: - Nights

    /// The state of the backup of one day.
    private enum Night: String {
        case saved, same, none, future

        var words: String {
            switch self {
            case .saved: "an archive is kept"
            case .same: "nothing had changed"
            case .none: "no archive is kept"
            case .future: ""
            }
        }
    }

    /// A column for each week, and a row for each day, Monday first.
    private var nights: HTML {
        let today = calendar.dayNumber(made)
        // 1970-01-01 was a Thursday.
        let monday = today - (today + 3) % 7 - 7 * (Self.weeks - 1)
        var saved: Set<Int> = []
        var same: Set<Int> = []
        for entry in entries {
            let first = calendar.dayNumber(entry.created)
            saved.insert(first)
            let (from, to) = (max(first, monday), min(calendar.dayNumber(entry.lastGood), today))
            if from < to { same.formUnion(from...to) }
        }
        let days = (0..<(7 * Self.weeks)).map { offset in
            let day = monday + offset
            let night: Night =
                day > today ? .future : saved.contains(day) ? .saved : same.contains(day) ? .same : .none
            if night == .future { return "" as HTML }
            let date = Timestamp(microseconds: Int64(day) * 86_400_000_000).map(LocalCalendar.utc.day) ?? ""
            return """
                <rect class="\(shown: night.rawValue)" x="\(offset / 7 * 14)" y="\(offset % 7 * 14)" width="11" height="11" \
                rx="2"><title>\(shown: date): \(shown: night.words)</title></rect>
                """ as HTML
        }
        let kept = (monday...today).count { saved.contains($0) }
        return """
            <figure>
            <svg class="nights" viewBox="0 0 \(14 * Self.weeks - 3) 95" role="img" \
            aria-label="Archives are kept of \(kept) of the last \(today - monday + 1) days">\(days)</svg>
            <figcaption><span class="key saved"></span>archive <span class="key same"></span>unchanged \
            <span class="key none"></span>none kept; a column is a week, from Monday</figcaption>
            </figure>

            """
    }

    // MARK: - Charts

    private var charts: HTML {
        let shown = entries.suffix(Self.bars)
        if shown.count < 2 { return "" }
        let items = shown.compactMap { entry in entry.content.map { (entry: entry, value: $0.counts.total) } }
        let sizes = shown.map { (entry: $0, value: Int($0.file.size)) }
        return (items.count < 2 ? "" : chart("Items", items) { grouped($0) })
            .followed(by: chart("Size", sizes) { byteCount(UInt64($0)) })
    }

    private func chart(
        _ title: String, _ values: [(entry: CatalogueEntry, value: Int)], _ words: (Int) -> String
    ) -> HTML {
        let most = max(1, values.map(\.value).max() ?? 1)
        let bars = values.enumerated().map { index, point in
            let height = max(1, point.value * 40 / most)
            return """
                <rect x="\(index * 10)" y="\(40 - height)" width="8" height="\(height)">\
                <title>\(shown: calendar.day(point.entry.created)): \(shown: words(point.value))</title></rect>
                """ as HTML
        }
        let (first, last) = (values.first?.value ?? 0, values.last?.value ?? 0)
        return """
            <figure>
            <figcaption>\(shown: title): \(shown: words(first)) to \(shown: words(last)), \(values.count) archives</figcaption>
            <svg class="chart" viewBox="0 0 \(values.count * 10 - 2) 40" preserveAspectRatio="none" role="img" \
            aria-label="\(shown: title) over time">\(bars)</svg>
            </figure>

            """
    }

    // MARK: - Facts

    private var facts: HTML {
        let newest = entries.last
        let verified = entries.map(\.verified).max()
        let drilled = entries.compactMap(\.drilled).max()
        var facts: [(String, HTML)] = [("Last good", StatusPage.time(store.good, at: made, calendar))]
        if let newest {
            facts += [
                ("Archives", "\(store.entries.count), the newest of \(shown: byteCount(newest.file.size))"),
                ("In", "<span class=\"path\">\(store.folders.joined(separator: ", "))</span>"),
                ("Read back", StatusPage.time(verified, at: made, calendar)),
                ("Trial restore", drilled == nil ? "none yet" : StatusPage.time(drilled, at: made, calendar)),
            ]
        }
        facts.append(("Jobs", store.jobs.isEmpty ? "none" : "\(store.jobs.joined(separator: ", "))"))
        let lines = facts.map { "<dt>\(shown: $0)</dt><dd>\($1)</dd>\n" as HTML }
        return "<dl>\n\(lines)</dl>\n"
    }
}

extension HTML {
    fileprivate func followed(by other: HTML) -> HTML { "\(self)\(other)" }
}
