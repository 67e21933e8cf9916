package import KCBackupCatalogue
internal import KCHomeFiles
internal import KCItemSources
package import KCItemStores
internal import KCKeychainModel

/// Describes what bringing a state back does, as text and in JSON.
package struct UndoText {
    let plan: UndoPlan
    /// The store as the user named it, and in a sentence.
    let store: (name: String, words: String)
    let calendar: LocalCalendar

    /// - Parameter store: the store as the user named it, and in a sentence.
    package init(plan: UndoPlan, store: (name: String, words: String), calendar: LocalCalendar) {
        self.plan = plan
        self.store = store
        self.calendar = calendar
    }

    /// The changes; nil if the file is replaced.
    package var changes: UndoneChanges? { if case .changes(let changes) = plan.effect { changes } else { nil } }

    /// The undone changes, in words: the command after the state and, with an earlier state, what followed.
    private var undone: String {
        let time = calendar.moment(plan.state.date)
        let words = plan.state.command.map { "'\($0)' of \(time)" } ?? "what changed since \(time)"
        return plan.isOlder ? "\(words) and what followed" : words
    }

    /// The question to ask before a file is replaced, or anything is lost that the undone command did not write; nil if
    /// nothing is.
    package var question: String? {
        guard let changes else {
            return "Replace the file of \(store.words) by its state of \(calendar.moment(plan.state.date)), "
                + "\(counted(plan.itemsAfter, "item"))?"
        }
        let (added, changed, rewritten) = (changes.addedSince, changes.changedSince, changes.rewrittenSince)
        let noun = HomeRoot(storeName: store.name) == nil ? "item" : "file"
        func loss(_ verb: String, _ count: Int, _ change: String) -> String? {
            if count == 0 { return nil }
            let since = changes.since == nil ? "" : " that \(count == 1 ? "was" : "were") \(change) since"
            return "\(verb) \(counted(count, noun))\(since)"
        }
        let losses = [
            loss("remove", added, "added"), loss("remove", rewritten, "changed"), loss("set back", changed, "changed"),
        ].compactMap { $0 }
        let also = changes.since == nil ? "" : "also "
        return losses.isEmpty ? nil : "Take back \(undone), and \(also)\(listed(losses))?"
    }

    /// The result of the undo, in words.
    package var done: String {
        if let nothingLeft { return nothingLeft }
        return changes == nil ? "brought back, in \(summary)" : "took back \(summary)"
    }

    /// The result that the undo would have, in words.
    package var planned: String {
        if let nothingLeft { return nothingLeft }
        return changes == nil ? "would bring back, in \(summary) (now it does not open)" : "would take back \(summary)"
    }

    /// The message if there is nothing to do; nil if there is.
    private var nothingLeft: String? {
        guard let changes, changes.isFinished else { return nil }
        return "nothing is left to take back of \(undone) in \(store.words)"
    }

    private var summary: String {
        guard let changes else {
            return "\(store.words): the state of \(calendar.moment(plan.state.date)), "
                + counted(plan.itemsAfter, "item")
        }
        var counts = [
            (changes.vanishing.count, "removed"), (changes.changing.count, "set back"),
            (changes.returning.count, "brought back"), (changes.blocked.count, "left"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if changes.emptyFolders > 0 { counts.append("\(counted(changes.emptyFolders, "folder")) removed") }
        return "\(undone) in \(store.words): "
            + (counts.isEmpty ? "damaged items changed" : counts.joined(separator: ", "))
    }

    /// The JSON object of `undo`.
    ///
    /// - Parameter oldFile: where the file is that did not open; nil if there is none.
    package func json(isDryRun: Bool, oldFile: String?) -> JSONValue {
        .members([
            ("keychain", .text(store.name)), ("state", .text(plan.state.name)),
            ("made", .text(plan.state.date.description)),
            ("command", plan.state.command.map { .text($0) }), ("dryRun", .flag(isDryRun)),
            ("items", .number(plan.itemsAfter)), ("itemsBefore", changes.map { .number($0.itemsBefore) }),
            ("vanishing", changes.map { .items($0.vanishing) }),
            ("changing", changes.map { .items($0.changing) }), ("returning", changes.map { .items($0.returning) }),
            ("changedSince", changes.map(Self.changedSince)),
            ("blocked", changes.map { .list($0.blocked.map { .text($0.path) }) }),
            ("oldFile", oldFile.map { .text($0) }),
        ])
    }

    private static func changedSince(_ changes: UndoneChanges) -> JSONValue {
        let isKnown = changes.since != nil
        let lists = [
            (changes.changing, UndoneChanges.Since.changed, !isKnown), (changes.vanishing, .rewritten, false),
        ]
        return .each { body in
            for (items, since, takesAll) in lists {
                try items.forEach { item, number in
                    if takesAll || number == since.rawValue { try body(.item(item)) }
                }
            }
        }
    }
}
