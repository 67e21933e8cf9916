internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup list`.
struct ListCommand: Verb {
    static let mainOptions: [OptionName] = [.keys, .sort, .rebuild]

    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the backups in a folder.",
        discussion: """
            Shows what 'create --to' made there, and any other archive in it, as far as that is visible without a key. \
            '--rebuild' rebuilds the catalogue of the folder from the intact archives that 'create --to' made on this \
            device, wherever they were then, and forgets the others; if none is left, it asks.

            '--keys' shows which keys open each archive according to the catalogue or, with '-i', which of the given \
            identity files do; none of its content is read.

            EXAMPLES:
              kcbackup list ~/backups
              kcbackup list ~/backups --keys
              kcbackup list ~/backups --keys -i restore-key.txt
              kcbackup list --rebuild /mnt/usb/backups
            """)

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    @Flag(name: OptionName.rebuild.name, help: "Rebuild the catalogue from the archives in the folder.")
    var rebuild = false

    @Flag(name: OptionName.keys.name, help: "Show which keys open the archives.")
    var keys = false

    @OptionGroup
    var trying: IdentityOptions

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @OptionGroup
    var lock: LockWaitOption

    @OptionGroup
    var table: TableOptions

    @OptionGroup
    var style: StyleOptions

    static func columns(zones: String) -> [Table.Column] {
        [
            // Users type or paste the name, so it is never cut.
            Table.Column(title: "ARCHIVE"), Table.Column(title: "MADE", yields: 8, zone: zones),
            Table.Column(title: "KEYCHAIN", least: 6, yields: 7, yieldsIfEqual: 3),
            Table.Column(title: "ITEMS", alignment: .right, yields: 9),
            Table.Column(title: "SIZE", alignment: .right, yields: 6), Table.Column(title: "MODE", yields: 2),
            Table.Column(title: "ORIGIN", yields: 1), Table.Column(title: "VERIFIED", yields: 5),
            Table.Column(title: "DRILLED", yields: 4), Table.Column(title: "STATE"),
        ]
    }

    func run(in session: Session) throws -> ExitStatus {
        if !keys, let option = trying.firstGiven { throw UsageProblem.needs(option, .keys) }
        if !rebuild {
            if lock.lockWait != nil { throw UsageProblem.needs(.lockWait, .rebuild) }
            if yes { throw UsageProblem.needs(.yes, .rebuild) }
        }
        if let remote = try session.machine.remote(folder) {
            if rebuild { throw UsageProblem.notOfRemote(.rebuild) }
            if keys { throw UsageProblem.notOfRemote(.keys) }
            try RemoteListing(location: remote, session: session).tell(in: table)
            return .ok
        }
        let path = session.machine.resolve(folder)
        if keys {
            if rebuild { throw UsageProblem.together(.keys, .rebuild) }
            return try FolderKeys(folder, trying: trying, in: session).list(in: table)
        }
        let isThere = Path.isFolder(path)
        if !isThere {
            if try Path.isNoFolder(path) { throw UsageProblem.fileForFolder(folder) }
            guard rebuild, try forgetFolder(in: session) else { throw FileFailure(folder, .notFound) }
        }
        let found = rebuild && isThere ? try rebuild(in: session) : nil
        let rows = isThere ? try ListedArchive.all(in: path) { try session.catalogue(of: folder) } : []
        let shown = try table.table(Self.columns(zones: session.zones), in: session)
        for row in rows { shown.measure(row.cells(session.calendar)) }
        try session.result(
            .members([
                ("folder", .text(folder)), ("backups", .list(rows.map(\.json))),
                (
                    "notEntered",
                    rebuild
                        ? .list(
                            (found?.ignored ?? []).map { ["file": .text($0.name), "reason": .text($0.reason.words)] })
                        : nil
                ),
            ]),
            rows.isEmpty
                ? [] : [shown.header] + lines(rows, in: shown, session.calendar) + session.left(outOf: shown))
        if rows.isEmpty { session.note("no backups in \(displayed(folder))") }
        session.warnOfReplaced(rows.count { $0.state == .replaced }, in: folder)
        var unreadable: [String] = []
        if isThere { _ = try Catalogue.archiveNames(in: path, unreadable: &unreadable) }
        for name in unreadable {
            session.warn(Refusal.unreadableName(path: "\(folder)/\(name)").explanation.message)
        }
        return .ok
    }

    /// Rebuilds the catalogue of a folder; asks before it forgets all of it.
    private func rebuild(in session: Session) throws -> BackupFolder.Rebuilt {
        let found: BackupFolder.Rebuilt
        do {
            found = try rebuild(mayForgetAll: false, in: session)
        } catch CatalogueFailure.folderGone(_, let archives) {
            // The question is asked without the lock of the folder, for which a job may be waiting.
            try session.confirm(
                "None of the \(counted(archives, "backup")) is left in \(quoted(folder)). Forget them?", isGiven: yes)
            found = try rebuild(mayForgetAll: true, in: session)
        }
        session.noteDone("\(counted(found.added.count, "backup")) entered")
        // As many as fit a screen.
        let limit = session.style.isVerbose ? found.ignored.count : 20
        for (name, reason) in found.ignored.prefix(limit) {
            session.warn("\(quoted(name)) is left out: \(reason.words)")
        }
        if found.ignored.count > limit {
            session.warn("\(found.ignored.count - limit) more are left out (-v names all)")
        }
        if found.unread > 0 {
            session.warn(
                "\(counted(found.unread, "archive")) \(found.unread == 1 ? "is" : "are") entered unread: 'kcbackup verify "
                    + "\(shellWord(folder))' with a key reads \(found.unread == 1 ? "it" : "them"); until then, no rule "
                    + "removes \(found.unread == 1 ? "it" : "them"), and a run that cannot tell whether anything was lost "
                    + "since ends with 15")
        }
        return found
    }

    private func rebuild(mayForgetAll: Bool, in session: Session) throws -> BackupFolder.Rebuilt {
        try session.backupFolder(folder, waitingAtMost: lock.wait(), isRebuilt: true)
            .rebuild(now: session.now, mayForgetAll: mayForgetAll)
    }

    /// Forgets a folder that is gone, after a question; false if nothing is known about it.
    private func forgetFolder(in session: Session) throws -> Bool {
        guard let file = try session.machine.catalogueFile(of: folder) else { return false }
        var isReadable = true
        let known: Catalogue?
        do throws(CatalogueFailure) {
            known = try file.load()
        } catch {
            switch error {
            // There is nothing to rebuild it from.
            case .altered, .otherFormat:
                isReadable = false
                known = nil
            default: throw error
            }
        }
        if known == nil, isReadable { return false }
        let what = known.map { "the \(counted($0.complete.count, "backup"))" } ?? "all backups"
        try session.confirm(
            "\(quoted(folder)) does not exist. Forget \(what) that it held?", isGiven: yes)
        try file.remove(waitingAtMost: lock.wait())
        session.noteDone("forgotten: \(displayed(folder))")
        return true
    }

    private func lines(_ rows: [ListedArchive], in table: StreamedTable, _ calendar: LocalCalendar) -> [String] {
        func sorted(_ rows: [ListedArchive]) -> [String] { table.rows(rows.map { $0.cells(calendar) }) }
        let trashed = rows.filter { $0.state == .trashed }
        if trashed.isEmpty { return sorted(rows) }
        // Archives in the trash cannot be restored from directly, so they are listed separately.
        return sorted(rows.filter { $0.state != .trashed }) + ["\nin the trash:\n"] + sorted(trashed)
    }
}

extension Session {
    /// Warns of files in a backup folder that are not the archives that were made under their names.
    func warnOfReplaced(_ count: Int, in folder: String) {
        if count == 0 { return }
        warn(
            "\(counted(count, "file")) in \(quoted(folder)) \(count == 1 ? "is" : "are") not what was made under "
                + "\(count == 1 ? "its name" : "their names"): 'kcbackup verify \(shellWord(folder))' says how, and "
                + "what to do")
    }
}
