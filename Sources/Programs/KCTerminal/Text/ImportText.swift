package import KCBackupEngine
internal import KCHomeFiles
package import KCItemSources
internal import KCItemStores
package import KCKeychainModel
package import KCReportText
package import KCStoreTasks

/// Describes another program's file, and the result of importing it or of the dry run, as text and in JSON.
package struct ImportText {
    package let path: String
    package let reading: ForeignReading
    package let use: Use
    /// The rule for items that are there already.
    package var policy = ConflictPolicy.newer
    /// The keychain as it was named on the command line.
    package var named: String?
    /// The table of everything in the file; nil where nothing is imported.
    package var proof: ImportProof?
    /// The number of records that were taken out of the file; nil if none were to be, or if it stays as it was.
    package var removed: Int?
    package let session: Session

    package init(
        path: String, reading: ForeignReading, use: Use, policy: ConflictPolicy = .newer,
        named: String? = nil, removed: Int? = nil, session: Session
    ) {
        self.path = path
        self.reading = reading
        self.use = use
        self.policy = policy
        self.named = named
        self.removed = removed
        self.session = session
    }

    /// The purpose for which the file is read.
    package enum Use {
        /// A list or a comparison, which changes nothing.
        case source
        /// A backup, or a copy into the desktop keyring.
        case taking
        case importing
        case dryRun
    }

    private var isImport: Bool { use == .importing || use == .dryRun }

    /// Describes the contents of the file, before anything is written.
    package func tellContents() throws {
        guard use == .dryRun, !session.style.isJSON else { return noteContents() }
        try session.result([:], session.prose(contentLines.map { $0 + "\n" }))
        tellProblems()
    }

    /// Describes the contents of the file in messages.
    package func noteContents() {
        for line in headLines { session.note(line) }
        if isNamedInJSON { return }
        for line in lossLines { tellLoss(line) }
        tellProblems()
    }

    private func tellProblems() {
        warnOfRefused()
        // Always listed, even without a terminal.
        let left = reading.contents.staying
        let staying = session.paragraphs(left.map { quoted($0.name) }) {
            Remark("stays behind", because: left[$0].reason.words)
        }
        for line in staying { session.message(line + "\n") }
        session.list(reading.contents.marked) { _ in
            Remark("marked, since another item has its names")
        }
    }

    /// True if the object of the result names all of it.
    private var isNamedInJSON: Bool { isImport && session.style.isJSON }

    /// Says, even if no user is watching, what an import or a backup leaves out.
    private func tellLoss(_ line: String) {
        if use == .source { return session.note(line) }
        if !session.style.isQuiet { session.message(line + "\n") }
    }

    /// The kind of file, its contents, and which of them a keychain cannot hold.
    package var contentLines: [String] { headLines + lossLines }

    private var headLines: [String] {
        let details = reading.contents.details.isEmpty ? "" : ", " + displayed(reading.contents.details, limit: 200)
        let title = "\(displayed(path, limit: 1_000)): \(reading.kind.title)\(details)"
        let parts = reading.contents.parts.map { counted($0.count, $0.kind, plural: plural($0.kind)) }
        return parts.isEmpty ? [title] : [title, parts.joined(separator: ", ")]
    }

    private var lossLines: [String] {
        let contents = reading.contents
        let isNothing = contents.parts.isEmpty && contents.refused.isEmpty && contents.staying.isEmpty
        var lines = isNothing ? ["no items in \(quoted(path))"] : []
        lines += session.problemLines(contents.leftOut) { kind, count in
            "cannot be kept in a keychain: \(counted(count, kind, plural: plural(kind)))"
        }
        if contents.duplicates > 0 {
            lines.append(
                "\(counted(contents.duplicates, "item")) in the file more than once, \(isImport ? "imported" : "taken") once"
            )
        }
        return lines + session.problemLines(contents.remarks) { displayed($0, limit: 400) }
    }

    /// Warns of the items that no keychain can hold.
    package func warnOfRefused() {
        let refused = reading.contents.refused
        let texts = session.paragraphs(refused.map { quoted($0.name) }) {
            let problem = refused[$0].problem
            let verb = problem.isKept ? "kept as text" : isImport ? "not imported" : "left out"
            return Remark(verb, because: problem.words)
        }
        for text in texts { session.warn(text) }
    }

    /// Reports the result.
    package func tell(_ report: RestoreReport, _ decisions: [(Item, RestoreAction)], keychain: String) throws {
        for (words, action) in zip(wordsApart(decisions.map(\.0)), decisions.map(\.1)) {
            session.note("\(action.name): \(words)")
        }
        var list = ChangeList(isDryRun: report.isDryRun, in: session)
        if !isNamedInJSON { add(report, to: &list) }
        let summary = report.summary(
            intoKeychain: keychain, refused: reading.contents.refused.count, staying: reading.contents.staying.count)
        try session.tell(
            report, summary, list,
            json: report.json(of: path, reading.kind.name, holding: reading.contents.json, keychain: keychain)
                .adding([("removed", removed.map { .number($0) }), ("proof", proof?.json)])
        ) { json, lines in try session.result(json, lines) }
        tellProof()
        guard session.keptState else { return }
        if report.imported.replaced.isEmpty || session.style.isQuiet { return session.note(undoWords) }
        // Replaced secrets are mentioned even if no user is watching.
        session.message(undoWords + "\n")
    }

    /// Shows the table of what became of everything in the file.
    package func tellProof() {
        guard session.showsNotes, !session.style.isJSON else { return }
        for line in proof?.lines(width: session.tableWidth) ?? [] { session.message(line) }
    }

    /// Says how the import is taken back; records that left their file go back to it first, or they would be nowhere.
    private var undoWords: String {
        guard let removed, removed > 0 else { return session.undoWords(named) }
        return "\(session.undoCommand(HomeRoot.home.storeName)) and then \(session.undoCommand(named)) take that back"
    }

    /// Lists what was not imported, and what was imported otherwise than a user may think.
    private func add(_ report: RestoreReport, to list: inout ChangeList) {
        list.add(failing: report, named: wordsApart(report.failing.map(\.item)), .imported)
        list.add(report.imported.unclear.entries, of: report.imported.unclear.count) { _ in
            Remark("\(report.isDryRun ? "would be new" : "new"), since several items match equally")
        }
        list.add(report.imported.beside.entries, of: report.imported.beside.count) { _ in
            Remark("\(report.isDryRun ? "would be added" : "added") beside another item of the same name")
        }
        list.add(report.imported.replaced.entries.map(\.item), of: report.imported.replaced.count) { index in
            let cause = policy == .newer ? ", since \(reason(for: report.imported.replaced.entries[index].date))" : ""
            return Remark("\(report.isDryRun ? "would be replaced" : "replaced")\(cause)")
        }
        let changed = report.imported.keptOthers
        list.add(changed.entries, of: changed.count) { _ in
            let cause = policy == .newer ? ", since the file's is not newer" : ""
            return Remark("\(report.isDryRun ? "would be kept" : "kept") with a different secret\(cause)")
        }
        if policy == .newer, !changed.isEmpty, !session.style.isQuiet {
            session.message("'\(OptionName.onConflict.spelling) overwrite' takes the file's secrets instead\n")
        }
    }

    /// Why an item of the file wins; one that has no date of its own has the file's.
    private func reason(for date: Timestamp) -> String {
        date == reading.fileDate
            ? "the file is dated \(session.calendar.moment(date)) and its records have no dates" : "the file's is newer"
    }
}

extension ForeignContents {
    /// The JSON object "holds".
    package var json: JSONValue {
        func list(_ counts: [(kind: String, count: Int)]) -> JSONValue {
            .list(counts.map { ["kind": .text($0.kind), "count": .number($0.count)] })
        }
        return [
            "details": .text(details), "parts": list(parts), "leftOut": list(leftOut),
            "duplicates": .number(duplicates),
            "refused": .list(
                refused.map {
                    ["name": .text($0.name), "problem": .text($0.problem.name), "message": .text($0.problem.words)]
                }),
            "leftBehind": .list(
                staying.map { ["name": .text($0.name), "reason": .text($0.reason.name)] }),
            "marked": .list(marked.map { .item($0) }),
            "remarks": .list(remarks.map { .text($0) }), "plaintext": .flag(isPlaintext),
        ]
    }
}
