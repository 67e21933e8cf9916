internal import KCBackupArchive
internal import KCBackupEngine
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Describes the result of a restore or of its dry run, as text and in JSON.
struct RestoreText {
    let report: RestoreReport
    let changes: RestoreChanges.Lists
    let source: Source
    let target: RestorePlace
    /// The rule that decided between an item of the archive and the keychain's own version.
    let policy: ConflictPolicy
    /// True if items were selected.
    let isOfSome: Bool
    /// False if the keychain did not exist, and none of the selected items could be written to it.
    let isMade: Bool
    /// The attributes that a Secret Service, as the target, does not store.
    let unmapped: UnmappedAttributes
    /// The written credentials that only the machine that encrypted them can open.
    var bound: [Item] = []
    var done = RestoreReport.Deed.restored

    /// The source of the restored items.
    enum Source {
        case archive(ArchiveOutline, path: String, Origin)
        case file(path: String, format: String)

        /// The word for the source, which brings its own version of an item.
        var word: String {
            switch self {
            case .archive: "archive"
            case .file: "file"
            }
        }

        fileprivate var json: [(String, JSONValue?)] {
            switch self {
            case .archive(let outline, let path, let origin):
                [("archive", outline.json(path)), ("origin", origin.json)]
            case .file(let path, let format): [("file", .text(path)), ("format", .text(format))]
            }
        }
    }

    func tell(_ session: Session) throws { try tell(session) { json, lines in try session.result(json, lines) } }

    /// - Parameter result: receives the result, as `Session.result` does.
    func tell(_ session: Session, _ result: (JSONValue, [String]) throws -> Void) throws {
        var list = ChangeList(isDryRun: report.isDryRun, in: session)
        try tellChanges(&list, session)
        if policy == .newer || target.kind == .home, report.counts.keep > 0,
            isOfSome || report.counts.create + report.counts.update == 0
        {
            session.note("'\(OptionName.onConflict.spelling) overwrite' takes the \(source.word)'s version")
        }
        let unbound = report.stayingBehind.count { $0.reason == .notBoundThere }
        if unbound > 0, done == .restored, !session.style.isQuiet {
            session.message(
                "'\(OptionName.giveUpDeviceBinding.spelling)' writes \(unbound == 1 ? "it" : "them") there all the same: "
                    + "any device can then open \(unbound == 1 ? "it" : "them") with the password of the keyring\n")
        }
        if report.notOpened > 0 {
            session.warn(
                "\(counted(report.notOpened, "item")) of the archive could not be checked for damage without the passcode"
            )
        }
        session.warn(ofUnasking: report.unasking.count)
        if report.contents.omitted > 0, !isOfSome {
            session.note(
                "\(counted(report.contents.omitted, "item")) of the keychain "
                    + "\(report.contents.omitted == 1 ? "is" : "are") in no archive (WhenPasscodeSetThisDeviceOnly)")
        }
        if !report.contents.isComplete, done == .restored {
            session.warn(lackingWords(report.contents.damaged))
        }
        unmapped.tell(session)
        if case .archive(_, _, let origin) = source, origin != .thisDevice {
            session.warn(each: wordsApart(bound)) { _ in Remark("opens only on the machine that encrypted it") }
        }
        let summary = report.summary(done, into: target.words, isMade: isMade)
        try session.tell(
            report, summary, list,
            json: report.json(of: source.json, keychain: target.name, changes, unmapped: unmapped.json), result)
    }

    /// Names the items, those first that are lost.
    private func tellChanges(_ list: inout ChangeList, _ session: Session) throws {
        let counts = report.counts
        func doing(_ past: String) -> String { report.isDryRun ? "would be \(past)" : past }
        list.add(report.vanishing) { _ in Remark("\(doing("removed")), and not in the \(source.word)") }
        try list.add(changes.replaced, of: counts.update) { _ in Remark(doing("replaced")) }
        let undecided = done == .imported && policy == .keep ? ", and the file's version differs" : ""
        let reason = policy == .newer ? ", since the \(source.word)'s version is not newer" : undecided
        try list.add(changes.kept, of: counts.keep) { _ in Remark(doing("kept") + reason) }
        if report.isDryRun {
            try list.add(changes.created, of: counts.create) { _ in Remark(doing("created")) }
        } else if !session.style.isJSON {
            try session.note(each: changes.created, Remark("created"))
        }
        try session.note(each: changes.same, Remark("the same"))
        // Items that stay behind are always listed, even without a terminal.
        list.add(staying: report.stayingBehind, isPlanned: report.isDryRun)
        if report.stayingBehind.contains(where: { $0.reason == .thisDeviceOnly }), !session.style.isQuiet {
            session.message("kcbackup: hint: \(reinstalledThenRestored)\n")
        }
        list.add(failing: report, named: report.failing.map(\.item.words), done)
        if report.failing.contains(where: { $0.problem == .identityTaken }), !session.style.isQuiet {
            if isOfSome {
                session.message("kcbackup: hint: a restore of the whole archive restores both\n")
            } else if policy != .overwrite {
                session.message(
                    "kcbackup: hint: '\(OptionName.onConflict.spelling) overwrite' takes the archive's version of both\n"
                )
            }
        }
    }
}
