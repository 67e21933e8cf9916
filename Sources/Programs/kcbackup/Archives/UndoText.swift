internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCReportText
internal import KCTerminal

extension UndoText {
    /// Lists the items that go or change and that the undone command did not write, or all that go, change or come
    /// back.
    ///
    /// - Parameter isDone: true if the state has been brought back.
    func tell(isDone: Bool, all: Bool, in list: inout ChangeList) throws {
        guard let changes else { return }
        let tellsAll = all || changes.since == nil
        let vanishing = all ? changes.vanishing.count : changes.addedSince + changes.rewrittenSince
        try list.add(changes.vanishing, of: vanishing, where: { tellsAll || $0 > 0 }) { number in
            // By itself, the list without the others has no need of it: the question says that they were added since.
            let mark =
                switch UndoneChanges.Since(rawValue: number) {
                case .rewritten: " (changed here since)"
                case .added: all ? " (added here since)" : ""
                case .changed, nil: ""
                }
            return Remark(isDone ? "removed" : "would be removed", mark: mark)
        }
        let changing = all ? changes.changing.count : changes.changedSince
        try list.add(changes.changing, of: changing, where: { tellsAll || $0 > 0 }) { number in
            Remark(isDone ? "set back" : "would be set back", mark: number > 0 ? " (changed here since)" : "")
        }
        guard all else { return }
        try list.add(changes.returning) { _ in Remark(isDone ? "came back" : "would come back") }
    }

    // As many as fit a screen.
    private static let blockedLimit = 20

    /// Warns of the files that stay as they are, since something else has their place.
    func tellBlocked(isDone: Bool, all: Bool, in list: inout ChangeList) {
        let blocked = changes?.blocked ?? []
        let shown = blocked.prefix(all ? Int.max : Self.blockedLimit)
        let texts = Remark.paragraphs(shown.map { quoted($0.path) }) {
            Remark(isDone ? "left" : "would be left", because: blocked[$0].problem?.words ?? HomeFailure.otherInPlace)
        }
        for text in texts { list.add(problem: text) }
        if shown.count < blocked.count { list.add(problem: "… and \(blocked.count - shown.count) more (-v shows all)") }
    }
}
