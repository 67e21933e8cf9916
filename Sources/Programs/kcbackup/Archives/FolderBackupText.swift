internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Describes the result of a backup to a folder, as text and in JSON.
struct FolderBackupText {
    private let summary: FolderBackup.Summary
    private let request: FolderBackupRequest
    private let session: Session
    /// Why stores failed, by their numbers among the results.
    private let explanations: [Int: Explanation]

    init(_ summary: FolderBackup.Summary, of request: FolderBackupRequest, in session: Session) {
        self.summary = summary
        self.request = request
        self.session = session
        var explanations: [Int: Explanation] = [:]
        for (number, (name, result)) in summary.results.enumerated() {
            guard case .failed(let failure) = result else { continue }
            explanations[number] = session.backupFailure(of: failure, in: name).explanation
        }
        self.explanations = explanations
    }

    /// The exit status of the run: that of the first store that failed.
    var status: ExitStatus {
        if let explanation = failures.first { return explanation.status }
        return summary.damaged > 0 ? .incomplete : .ok
    }

    /// Why the run failed or is incomplete, in one explanation; nil if it succeeded.
    var explanation: Explanation? {
        if let first = failures.first {
            return failures.count == 1
                ? first : first.prefixed("\(failures.count) of \(summary.results.count) keychains failed; first, ")
        }
        let damaged = summary.damaged
        guard damaged > 0 else { return nil }
        let locked = summary.locked
        if !locked.isEmpty {
            return Explanation(
                .incomplete,
                "\(locked.count == 1 ? "collection" : "collections") \(locked.map { quoted($0) }.joined(separator: ", ")) "
                    + "\(locked.count == 1 ? "is" : "are") locked, and in no new archive")
        }
        return Explanation(
            .incomplete,
            "\(unreadWords(damaged, left: summary.left)), and \(damaged == 1 ? "is" : "are") in no new archive"
                + unreadWords(summary.unread.map(\.words), of: damaged),
            hints: summary.left == 0 ? [] : [acceptingMissing(job: session.job)])
    }

    private var failures: [Explanation] {
        summary.results.enumerated().compactMap { number, entry in
            explanations[number]?.prefixed(summary.results.count == 1 ? "" : "\(storeWords(entry.name)): ")
        }
    }

    /// Reports the results.
    func tell() throws {
        var json: [JSONValue] = []
        for (number, (name, result)) in summary.results.enumerated() {
            switch result {
            case .done(let outcome, let report, let told):
                request.backup.warn(of: report, told: told, session)
                tell(outcome, report, of: name)
                json.append(outcome.json(of: name, report))
            case .same(let entry): tellSame(entry, of: name)
            case .failed:
                guard let explanation = explanations[number]?.prefixed("\(storeWords(name)): ") else { continue }
                session.message(explanation.lines)
                json.append(JSONValue.members([("keychain", .text(name))]).adding([("error", explanation.jsonBody)]))
            }
        }
        let saved = summary.saved
        if saved > 0 { session.done = "\(counted(saved, "archive")) saved in \(displayed(request.folder))" }
        if saved > 0, !request.backup.isUnencrypted { try session.noteKits() }
        if session.style.isJSON {
            try session.result(["folder": .text(request.folder), "results": .list(json)], [])
        }
    }

    private func tell(_ outcome: SeriesDestination.Outcome, _ report: CreateReport, of name: String) {
        if report.contents.counts.total == 0, report.damaged.isEmpty {
            session.warn("\(label(name)) there are no items, and none is in the backup")
        }
        switch outcome {
        case .saved(let entry):
            session.note(
                "\(label(name)) saved and verified \(counted(report.contents.counts.total, "item")) as "
                    + "\(displayed(entry.name)), \(byteCount(report.size))")
            if let words = request.backup.travelWords(report, summary.keys) { session.note(words) }
            if report.notOpened > 0 {
                session.note(
                    "\(counted(report.notOpened, "item")) not opened, and not checked: that takes the passcode")
            }
        case .unchanged(let entry): tellSame(entry, of: name)
        }
    }

    /// The name before what is said of it; some names end with a colon themselves.
    private func label(_ name: String) -> String { displayed(name) + (name.exact.hasSuffix(":") ? "" : ":") }

    private func tellSame(_ entry: CatalogueEntry, of name: String) {
        session.note("\(label(name)) nothing has changed since \(displayed(entry.name))")
    }
}

extension FolderBackup.Unread {
    fileprivate var words: String {
        switch self {
        case .named(let name): quoted(name)
        case .item(let item): item.words
        }
    }
}
