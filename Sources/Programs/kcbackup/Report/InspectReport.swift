internal import KCBackupArchive
internal import KCBackupEngine
internal import KCKeychainModel
internal import KCReportPages
internal import KCReportText
internal import KCTerminal

/// The page for `inspect --html`: counted in a first pass, written row by row in a second.
struct InspectReport {
    let outline: ArchiveOutline
    let path: String
    let proven: ProvenArchive
    let selection: InspectSelection
    /// The device for which the verdicts were requested.
    let judged: JudgedDevice
    let session: Session

    func write(to file: ReportFile) throws {
        var counts = ReportCounts(calendar: session.calendar)
        let progress = Progress("reading items", in: session, reading: proven.opened, 1, metadata: 2)
        defer { progress.finish() }
        var page: ReportPage?
        try file.make { write in
            try proven.inspect(step: progress.step) { item in
                if selection.includes(item) { counts.add(item, selection.verdict(item)) }
            } begin: { read in
                let begun = ReportPage(
                    outline: outline, path: path, source: read.source, origin: proven.origin, contents: read.contents,
                    counts: counts, isSameDevice: selection.isSameDevice, judged: judged, made: session.now,
                    calendar: session.calendar)
                page = begun
                try write(begun.beginning)
            } show: { item in
                guard selection.includes(item) else { return }
                try write(ReportRow.html(item, selection.verdict(item), session.calendar))
            }
            if let page { try write(page.end) }
        }
        session.note("\(displayed(file.given)): a page about \(counted(counts.total, "item")); it holds no secret")
    }
}
