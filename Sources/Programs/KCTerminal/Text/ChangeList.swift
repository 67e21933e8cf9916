package import KCBackupEngine
package import KCItemSources
package import KCKeychainModel
package import KCReportText

/// The changes of a verb, item by item: for a dry run its result, otherwise messages.
package struct ChangeList {
    /// The lines of a dry run; empty otherwise.
    package private(set) var lines: [String] = []
    private let isDryRun: Bool
    private let session: Session

    /// Creates an empty list.
    package init(isDryRun: Bool, in session: Session) {
        // With `--json`, the object names the items.
        self.isDryRun = isDryRun && !session.style.isJSON
        self.session = session
    }

    /// Adds items of one kind: of a dry run all of them, within reason, and otherwise as `Session.list` does.
    ///
    /// - Parameters: as `Session.list`.
    package mutating func add(_ items: [Item], of total: Int? = nil, _ remark: (Int) -> Remark) {
        guard isDryRun else { return session.list(items, of: total, remark) }
        lines += session.paragraphs(items, of: total ?? items.count, limit: Self.limit, remark)
    }

    /// Adds items of one kind, as the other method does.
    ///
    /// - Parameters: as `Session.paragraphs`.
    package mutating func add(
        _ items: ListedItems, of total: Int? = nil, where isIncluded: (Int) -> Bool = { _ in true },
        _ remark: (Int) -> Remark
    ) throws {
        if !isDryRun, session.style.isQuiet { return }
        let limit = isDryRun ? Self.limit : Session.messageLimit
        let named = try session.paragraphs(items, of: total ?? items.count, limit: limit, where: isIncluded, remark)
        if isDryRun { lines += named } else { for text in named { session.message(text) } }
    }

    /// Adds the items that stay behind; a reason that several of them share is said once, above their names.
    ///
    /// - Parameter isPlanned: true if they would stay behind.
    package mutating func add(staying items: [(item: Item, reason: Verdict.Reason)], isPlanned: Bool = false) {
        for reason in Verdict.Reason.allCases {
            let group = items.filter { $0.reason == reason }.map(\.item)
            let verb = group.count == 1 ? "stays" : "stay"
            let deed = isPlanned ? "would stay behind" : "\(verb) behind"
            add(group) { _ in
                Remark(group.count == 1 ? deed : "\(group.count) items \(deed)", because: reason.words)
            }
        }
    }

    /// Adds the items of a report that cannot be written.
    ///
    /// - Parameters:
    ///   - names: their names, in order.
    ///   - deed: what is done with the others.
    package mutating func add(failing report: RestoreReport, named names: [String], _ deed: RestoreReport.Deed) {
        let lines = session.paragraphs(names) {
            Remark(
                "\(report.isDryRun ? "would not be" : "not") \(deed.participle)",
                because: report.failing[$0].problem.words)
        }
        for line in lines { add(problem: line) }
    }

    /// Adds a line on an item that will not be written: a warning, unless it belongs to the result of a dry run.
    package mutating func add(problem: String) {
        if isDryRun { lines.append(problem + "\n") } else { session.warn(problem) }
    }

    /// The number of items of one kind that a dry run names without `--verbose`; each takes about 1 KiB of memory.
    package static let limit = 20_000

    /// The number of items of one kind that are needed to name as many as a run will.
    package static func limit(isDryRun: Bool, in session: Session) -> Int {
        if session.style.isJSON || session.style.isVerbose { return .max }
        // A further item takes the place of the line that counts the others.
        return (isDryRun ? limit : Session.messageLimit) + 1
    }
}

extension Session {
    /// Tells the result of a restore or an import, after the items that it changes.
    ///
    /// - Parameter result: receives the result, as `Session.result` does.
    package func tell(
        _ report: RestoreReport, _ summary: String, _ list: ChangeList, json: @autoclosure () -> JSONValue,
        _ result: (JSONValue, [String]) throws -> Void
    ) throws {
        if !report.isDryRun { done = summary }
        if report.isDryRun || style.isJSON {
            try result(json(), prose(list.lines + [summary + "\n"]))
        } else if report.counts.update + report.counts.keep > 0, !style.isQuiet {
            // Everybody is told what was changed, and what was kept although the source differs.
            message(summary + "\n")
        } else {
            note(summary)
        }
    }
}
