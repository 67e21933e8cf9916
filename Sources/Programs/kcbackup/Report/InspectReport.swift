internal import BackupArchive
internal import BackupEngine
internal import DeviceIdentity
internal import KeychainModel

/// The page of `inspect --html`: counted in a first pass, written row by row in a second.
struct InspectReport {
    let outline: ArchiveOutline
    let path: String
    let proven: ProvenArchive
    let filter: ItemFilter?
    let isSameDevice: Bool
    /// The device that was asked for.
    let judged: DeviceID?
    let session: Session

    func write(to file: ReportFile) throws {
        var counts = ReportCounts()
        let progress = Progress("reading items", in: session, reading: proven.opened, 1, metadata: 2)
        defer { progress.finish() }
        var page: ReportPage?
        try file.make { write in
            try proven.inspect(step: progress.step) { item in
                if filter?.matches(item) ?? true { counts.add(item, verdict(item)) }
            } begin: { read in
                let begun = ReportPage(
                    outline: outline, path: path, source: read.source, origin: proven.origin, contents: read.contents,
                    counts: counts, isSameDevice: isSameDevice, judged: judged, made: session.now)
                page = begun
                try write(begun.beginning)
            } show: { item in
                if filter?.matches(item) ?? true { try write(ReportRow.html(item, verdict(item))) }
            }
            if let page { try write(page.end) }
        }
        session.note("\(displayed(file.path)): a page about \(counted(counts.total, "item")); it holds no secret")
    }

    private func verdict(_ item: Item) -> Verdict {
        Verdict.decide(item.accessibility, in: outline.header.mode, onSameDevice: isSameDevice)
    }
}
