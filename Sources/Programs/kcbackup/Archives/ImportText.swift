internal import KCBackupEngine
internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText

/// Describes another program's file, and the result of importing it or of the dry run, as text and in JSON.
struct ImportText {
    let path: String
    let reading: ForeignReader.Reading
    let use: Use
    /// What wins where an item is there already.
    var policy = ConflictPolicy.newer
    /// The keychain as it was named on the command line.
    var named: String?
    let session: Session

    /// What the file is read for.
    enum Use {
        /// A backup or a list; unattended runs stay silent if all is well.
        case source
        case importing
        case dryRun
    }

    /// Describes the contents of the file, before anything is written.
    func tellContents() throws {
        if use == .dryRun, !session.style.isJSON {
            try session.result([:], contentLines.map { $0 + "\n" })
        } else {
            for line in headLines { session.note(line) }
            for line in lossLines { tellLoss(line) }
        }
        warnOfRefused()
        // Always listed, even without a terminal.
        for (name, reason) in reading.contents.staying {
            session.message("stays behind: \(quoted(name)): \(reason.words)\n")
        }
        session.list(reading.contents.marked) { _, words in
            "marked, since another item differs only in its secret: \(words)"
        }
    }

    /// Says, even if no user is watching, what an import leaves out.
    private func tellLoss(_ line: String) {
        if use == .source { return session.note(line) }
        if !session.style.isQuiet { session.message(line + "\n") }
    }

    /// The kind of file, its contents, and which of them a keychain cannot hold.
    var contentLines: [String] { headLines + lossLines }

    private var headLines: [String] {
        let parts = reading.contents.parts.map { counted($0.count, $0.kind, plural: plural($0.kind)) }
        return [
            "\(displayed(path, limit: 1_000)): \(reading.words)",
            parts.isEmpty ? "no items" : parts.joined(separator: ", "),
        ]
    }

    private var lossLines: [String] {
        let contents = reading.contents
        var lines: [String] = []
        for (kind, count) in contents.leftOut {
            lines.append("cannot be kept in a keychain: \(counted(count, kind, plural: plural(kind)))")
        }
        if contents.duplicates > 0 {
            lines.append(
                "\(counted(contents.duplicates, "item")) in the file more than once, \(use == .source ? "taken" : "imported") once"
            )
        }
        return lines + contents.remarks.map { displayed($0, limit: 400) }
    }

    /// Warns of the items that no keychain can hold.
    func warnOfRefused() {
        for refused in reading.contents.refused {
            let words = use == .source ? "left out" : "not imported"
            session.warn("\(words): \(quoted(refused.name)): \(refused.problem.words)")
        }
    }

    /// Reports the result.
    func tell(_ report: ImportReport, _ decisions: [(Item, RestoreAction)], keychain: String) throws {
        for (words, action) in zip(wordsApart(decisions.map(\.0)), decisions.map(\.1)) {
            session.note("\(action.name): \(words)")
        }
        var list = ChangeList(isDryRun: report.isDryRun, in: session)
        let failed = report.isDryRun ? "would not be imported" : "not imported"
        for (words, failing) in zip(wordsApart(report.failing.map(\.item)), report.failing) {
            list.add(problem: "\(failed): \(words): \(failing.problem.words)")
        }
        for item in report.skipped {
            list.add(problem: "\(failed), since it cannot be read: \(item?.words ?? "an unreadable item")")
        }
        list.add(report.unclear) { _, words in
            "\(report.isDryRun ? "would be new" : "new"), since several items match equally: \(words)"
        }
        list.add(report.beside) { _, words in
            "\(report.isDryRun ? "would be added" : "added") beside another item of the same name: \(words)"
        }
        list.add(report.replaced.map(\.item)) { index, words in
            let cause = policy == .newer ? ", since \(reason(for: report.replaced[index].date))" : ""
            return "\(report.isDryRun ? "would be replaced" : "replaced")\(cause): \(words)"
        }
        let changed = report.kept.filter(\.hasOtherSecret).map(\.item)
        list.add(changed) { _, words in
            "\(report.isDryRun ? "would be kept" : "kept") with a different secret\(policy == .newer ? ", since the file's is not newer" : ""): \(words)"
        }
        if policy == .newer {
            if !changed.isEmpty, !session.style.isQuiet {
                session.message("'\(OptionName.onConflict.spelling) overwrite' takes the file's secrets instead\n")
            }
        }
        let summary = summary(report, keychain)
        if !report.isDryRun { session.done = summary }
        if report.isDryRun || session.style.isJSON {
            try session.result(json(report, keychain), list.lines + [summary + "\n"])
        } else if report.counts.update + report.counts.keep > 0, !session.style.isQuiet {
            // What was changed, and what was not although the file differs, is said to everybody.
            session.message(summary + "\n")
        } else {
            session.note(summary)
        }
        guard session.keptState else { return }
        if report.replaced.isEmpty || session.style.isQuiet { return session.noteUndo(named) }
        // That secrets were replaced is said even if no user is watching.
        session.message(session.undoWords(named) + "\n")
    }

    /// Why an item of the file wins; one that has no date of its own has the file's.
    private func reason(for date: Timestamp) -> String {
        date == reading.fileDate
            ? "the file is dated \(session.calendar.moment(date)) and its records have no dates" : "the file's is newer"
    }

    private func summary(_ report: ImportReport, _ keychain: String) -> String {
        let counts = report.counts
        let parts: [(Int, String, String)] = [
            (counts.create, "to create", "created"), (counts.update, "to replace", "replaced"),
            (counts.same, "the same", "the same"), (counts.keep, "to keep", "kept"),
            (counts.fail, "to fail", "failed"), (reading.contents.refused.count, "refused", "refused"),
            (reading.contents.staying.count, "to stay behind", "stayed behind"),
        ]
        let told = parts.filter { $0.0 > 0 }.map { "\($0.0) \(report.isDryRun ? $0.1 : $0.2)" }
        let what = told.isEmpty ? "nothing to import" : told.joined(separator: ", ")
        return "\(report.isDryRun ? "would import" : "imported") into keychain \(quoted(keychain)): \(what)"
    }

    private func json(_ report: ImportReport, _ keychain: String) -> JSONValue {
        .members([
            ("file", .text(path)), ("format", .text(reading.format.name)), ("keychain", .text(keychain)),
            ("dryRun", .flag(report.isDryRun)), ("holds", Self.contents(reading.contents)),
            ("plan", report.counts.json), ("replaced", .list(report.replaced.map { .item($0.item) })),
            (
                "kept",
                .list(report.kept.map { JSONValue.item($0.item).adding([("otherSecret", .flag($0.hasOtherSecret))]) })
            ),
            ("unclear", .list(report.unclear.map { .item($0) })), ("beside", .list(report.beside.map { .item($0) })),
            (
                "failing",
                .list(report.failing.map { JSONValue.item($0.item).adding([("problem", .text($0.problem.rawValue))]) })
            ),
        ])
    }

    /// The contents of a file.
    static func contents(_ contents: ForeignContents) -> JSONValue {
        func list(_ counts: [(kind: String, count: Int)]) -> JSONValue {
            .list(counts.map { ["kind": .text($0.kind), "count": .number($0.count)] })
        }
        return [
            "details": .text(contents.details), "parts": list(contents.parts), "leftOut": list(contents.leftOut),
            "duplicates": .number(contents.duplicates),
            "refused": .list(
                contents.refused.map {
                    ["name": .text($0.name), "problem": .text($0.problem.name), "message": .text($0.problem.words)]
                }),
            "leftBehind": .list(
                contents.staying.map { ["name": .text($0.name), "reason": .text($0.reason.name)] }),
            "marked": .list(contents.marked.map { .item($0) }),
            "remarks": .list(contents.remarks.map { .text($0) }), "plaintext": .flag(contents.isPlaintext),
        ]
    }
}

/// Returns the plural of a kind's name: "entry without a password" becomes "entries without a password".
private func plural(_ kind: String) -> String {
    let end = [" without ", " with ", " of ", " in ", " that ", " for "].compactMap {
        kind.firstRange(of: $0)?.lowerBound
    }
    .min()
    let noun = String(kind[..<(end ?? kind.endIndex)])
    let rest = kind[(end ?? kind.endIndex)...]
    let vowels = "aeiou"
    if noun.hasSuffix("y"), let before = noun.dropLast().last, !vowels.contains(before) {
        return noun.dropLast() + "ies" + rest
    }
    if ["s", "x", "ch", "sh"].contains(where: noun.hasSuffix) { return noun + "es" + rest }
    return noun + "s" + rest
}
