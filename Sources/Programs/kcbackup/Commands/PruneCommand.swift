internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCKeychainModel

/// `kcbackup prune`.
struct PruneCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove old backups from a folder, by rules.",
        discussion: """
            A backup is kept if any rule keeps it. A rule for hours, days and so on keeps the newest of each of the \
            last periods that have one; while it has room, it keeps the oldest too. The rules apply to each keychain \
            separately.

            Only intact archives that 'create --to' made on this device are counted and removed; the newest of a \
            keychain never is. Removed archives stay in the folder '.trash' for 30 days, from which '--undo' brings \
            back what the last run removed.

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
        if undo, rules.isGiven { throw UsageProblem.undoWithRules }
        if undo, dryRun { throw UsageProblem.together(.undo, .dryRun) }
        let retention = try rules.retention()
        if !undo, retention.isEmpty { throw CatalogueFailure.noRule }
        let wait = try lock.wait()
        _ = try session.knownCatalogue(of: folder)
        let backups = try session.backupFolder(folder, waitingAtMost: wait)
        if undo {
            let entries = try backups.bringBack()
            session.done = "\(counted(entries.count, "backup")) brought back"
            try session.result(
                ["folder": .text(folder), "broughtBack": .list(entries.map { .text($0.name) })],
                entries.map { "brought back  \(displayed($0.name))\n" })
            return .ok
        }
        let fates = try backups.plan(retention, now: session.now, calendar: LocalCalendar())
        let going = fates.filter(\.reasons.isEmpty).map(\.entry)
        var emptied = 0
        if !dryRun {
            try backups.discard(going, now: session.now)
            session.done = "\(counted(going.count, "backup")) removed"
            emptied = try backups.emptyTrash(now: session.now)
        }
        try tell(fates, emptied, in: session)
        return .ok
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
                                "kept": .flag(!fate.reasons.isEmpty),
                                "reasons": .list(fate.reasons.map { .text($0.words) }),
                            ]
                        }),
                ], [])
            return
        }
        let going = fates.count { $0.reasons.isEmpty }
        if dryRun || style.verbose {
            try session.result(
                [:],
                fates.map { fate in
                    fate.reasons.isEmpty
                        ? "remove  \(displayed(fate.entry.name))\n"
                        : "keep    \(displayed(fate.entry.name))  "
                            + fate.reasons.map(\.words).joined(separator: ", ") + "\n"
                })
        }
        session.note(
            "\(dryRun ? "would remove" : "removed") \(counted(going, "backup")), keeping \(fates.count - going)")
        if going > 0, !dryRun {
            session.note(
                "kept in '\(BackupFolder.trashName)' there for 30 days; "
                    + "'kcbackup prune \(shellWord(folder)) \(OptionName.undo.spelling)' brings back what this run "
                    + "removed")
        }
        if emptied > 0 { session.note("deleted \(counted(emptied, "backup")) from the trash after 30 days") }
    }
}

extension Retention.Reason {
    /// The reason as text, in restic's terms.
    var words: String {
        switch self {
        case .rule(let rule): rule.words
        case .oldest(let rule): "oldest \(rule.words)"
        case .within: "within"
        case .newest: "newest"
        case .future: "dated in the future"
        }
    }
}

extension Retention.Rule {
    fileprivate var words: String { self == .last ? "last" : rawValue }
}
