internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText

extension UndoText {
    /// Lists the items that go or change and that the undone command did not write, or all that go, change or come
    /// back.
    ///
    /// - Parameter isDone: true if the state has been brought back.
    func tell(isDone: Bool, all: Bool, in list: inout ChangeList) {
        guard let changes else { return }
        let since = Set((changes.since?.changed ?? []).map(\.uuid))
        let added = Set((changes.since?.added ?? []).map(\.uuid))
        let rewritten = Set(changes.rewrittenSince.map(\.uuid))
        let vanishing = all ? changes.vanishing : changes.addedSince + changes.rewrittenSince
        list.add(vanishing) { index, words in
            let uuid = vanishing[index].uuid
            // By itself, the list without the others has no need of it: the question says that they were added since.
            let isAdded = all && added.contains(uuid)
            let mark = rewritten.contains(uuid) ? " (changed here since)" : isAdded ? " (added here since)" : ""
            return "\(isDone ? "removed" : "would be removed"): \(words)\(mark)"
        }
        let changing = all ? changes.changing : changes.changedSince
        list.add(changing) { index, words in
            let mark = since.contains(changing[index].uuid) ? " (changed here since)" : ""
            return "\(isDone ? "set back" : "would be set back"): \(words)\(mark)"
        }
        guard all else { return }
        list.add(changes.returning) { _, words in "\(isDone ? "came back" : "would come back"): \(words)" }
    }

    // As many as fit a screen.
    private static let blockedLimit = 20

    /// Warns of the files that stay as they are, since something else has their place.
    func tellBlocked(isDone: Bool, all: Bool, in list: inout ChangeList) {
        let blocked = changes?.blocked ?? []
        let shown = blocked.prefix(all ? Int.max : Self.blockedLimit)
        for file in shown {
            let words = file.problem?.words ?? HomeFailure.otherInPlace
            list.add(problem: "\(isDone ? "left" : "would be left"): \(quoted(file.path)): \(words)")
        }
        if shown.count < blocked.count { list.add(problem: "… and \(blocked.count - shown.count) more (-v shows all)") }
    }
}
