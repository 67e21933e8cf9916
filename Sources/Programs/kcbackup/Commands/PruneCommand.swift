internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup prune`.
struct PruneCommand: Verb {
    static let mainOptions: [OptionName] = [.keepLast, .keepDaily, .dryRun]

    static let otherOptions: [OptionName]? = [
        .keepHourly, .keepWeekly, .keepMonthly, .keepYearly, .keepWithin, .lockWait, .undo, .json, .verbose,
    ]

    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove old backups from a folder, by rules.",
        discussion: """
            A backup is kept if any rule keeps it. A rule for hours, days and so on keeps the newest of each of the \
            last periods that have one; while it has room, it keeps the oldest too. The rules apply to each keychain \
            separately.

            Each archive is read to its last byte first. Only intact ones that 'create --to' made on this device are \
            counted and removed; copies, renamed and damaged ones are named and stay, and the newest of a keychain is \
            never removed. Removed archives stay in the folder '.trash' for at least 30 days, from which '--undo' \
            brings back what the last run removed.

            EXAMPLES:
              kcbackup prune ~/backups --keep-daily 7 --keep-weekly 5 --dry-run
              kcbackup prune ~/backups --keep-within 30d --keep-yearly 10
              kcbackup prune ~/backups --undo
            """)

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    @OptionGroup
    var rules: RetentionOptions

    @Flag(name: OptionName.undo.name, help: "Bring back what the last run removed.")
    var undo = false

    @Flag(name: OptionName.dryRun.name, help: "Say what would be removed, and remove nothing.")
    var dryRun = false

    @OptionGroup
    var lock: LockWaitOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if undo, rules.isGiven {
            throw UsageProblem("'\(OptionName.undo.spelling)' brings back what was last removed, and takes no rules")
        }
        if undo, dryRun { throw UsageProblem.together(.undo, .dryRun) }
        if try session.machine.remote(folder) != nil { throw Refusal.pruningRemote }
        let retention = try rules.retention()
        if !undo, retention.isEmpty { throw CatalogueFailure.noRule }
        let wait = try lock.wait()
        _ = try session.machine.knownCatalogue(of: folder)
        let backups = try session.backupFolder(folder, waitingAtMost: wait)
        if undo {
            return try bringBack(in: backups, session)
        }
        let (plan, unreadable) = try Jobs(session.machine).keepingUncopied(
            backups.plan(retention, now: session.now, calendar: session.calendar), in: session.machine.resolve(folder))
        let leftOut = unreadable.isEmpty ? nil : keepsAll(in: folder, for: unreadable)
        var emptied = 0
        if !dryRun {
            try backups.discard(plan, now: session.now)
            session.done = "\(counted(plan.fates.count(where: \.isRemoval), "backup")) removed"
            emptied = try backups.emptyTrash(now: session.now)
        }
        if let leftOut { session.message(leftOut.lines) }
        try tell(plan.fates, emptied, in: session)
        return leftOut?.status ?? .ok
    }

    private func bringBack(in backups: BackupFolder, _ session: Session) throws -> ExitStatus {
        let report = try backups.bringBack()
        session.done = "\(counted(report.entries.count, "backup")) brought back"
        let stays = report.stays.map { entry, reason in
            (name: entry.name, reason: session.failure(of: reason).explanation.message)
        }
        try session.result(
            [
                "folder": .text(folder), "broughtBack": .list(report.entries.map { .text($0.name) }),
                "notBroughtBack": .list(stays.map { ["file": .text($0.name), "reason": .text($0.reason)] }),
            ],
            report.entries.map { "brought back  \(displayed($0.name))\n" })
        for (name, reason) in stays { session.warn("\(quoted(name)) stays in the trash: \(reason)") }
        return stays.isEmpty ? .ok : .incomplete
    }

    private func tell(_ fates: [BackupFolder.Fate], _ emptied: Int, in session: Session) throws {
        if style.json {
            try session.result(
                [
                    "folder": .text(folder), "dryRun": .flag(dryRun), "deleted": .number(emptied),
                    "decisions": .list(
                        fates.map { fate in
                            [
                                "file": .text(fate.entry.name), "created": .text(fate.entry.created.description),
                                "kept": .flag(!fate.isRemoval), "counted": .flag(fate.isCounted),
                                "reasons": .list(fate.reasons.map { .text($0) }),
                            ]
                        }),
                ], [])
            return
        }
        let going = fates.count(where: \.isRemoval)
        if dryRun || style.verbose {
            try session.result(
                [:],
                session.prose(
                    fates.map { fate in
                        fate.isRemoval
                            ? "remove  \(displayed(fate.entry.name))\n"
                            : "keep    \(displayed(fate.entry.name))  " + fate.reasons.joined(separator: ", ") + "\n"
                    }))
        }
        warn(of: fates, in: session)
        session.note(
            "\(dryRun ? "would remove" : "removed") \(counted(going, "backup")), keeping \(fates.count - going)")
        let uncopied = fates.count { $0.decision == .kept([.uncopied]) }
        if uncopied > 0 {
            session.note(
                "\(counted(uncopied, "backup")) more would go if no job had still to copy "
                    + (uncopied == 1 ? "it" : "them"))
        }
        if going > 0, !dryRun {
            session.note(
                "kept in '\(BackupFolder.trashName)' there for 30 days; "
                    + "'kcbackup prune \(shellWord(folder)) \(OptionName.undo.spelling)' brings back what this run "
                    + "removed")
        }
        if emptied > 0 { session.note("deleted \(counted(emptied, "backup")) from the trash after 30 days") }
    }
}

extension PruneCommand {
    /// Names the archives that satisfy no rule and stay.
    private func warn(of fates: [BackupFolder.Fate], in session: Session) {
        let others = fates.filter { !$0.isCounted }
        // As many as fit a screen.
        let limit = style.verbose ? others.count : 20
        for fate in others.prefix(limit) {
            session.warn(
                "\(quoted(fate.entry.name)) is not counted, and stays: \(fate.reasons.joined(separator: ", "))")
        }
        if others.count > limit {
            session.warn("\(others.count - limit) more are not counted (-v names all)")
        }
        if fates.contains(where: { $0.decision == .notCounted(.unread) }) {
            session.note(
                "'kcbackup verify \(shellWord(folder))' with a key finds out of which keychain the unread ones are")
        }
    }
}

extension BackupFolder.Fate {
    /// Why the archive stays, as text.
    fileprivate var reasons: [String] {
        switch decision {
        case .kept(let reasons): reasons.map(\.words)
        case .removed: []
        case .notCounted(let exclusion): [exclusion.words]
        }
    }
}
