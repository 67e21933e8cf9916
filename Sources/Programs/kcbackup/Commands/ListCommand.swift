internal import ArgumentParser
internal import BackupArchive
internal import BackupCatalogue
internal import BackupEngine
internal import ByteStreams
internal import Cryptography
internal import DeviceIdentity
internal import KeychainModel

/// `kcbackup list`.
struct ListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the backups in a folder.",
        discussion: """
            Shows what 'create --to' made there, and any other archive in it, as far as that is visible without a key. \
            '--rebuild' rebuilds the catalogue of the folder from the intact archives that this device signed.

            EXAMPLES:
              kcbackup list ~/backups
              kcbackup list --rebuild /mnt/usb/backups
            """)

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    @Flag(name: OptionName.rebuild.name, help: "Rebuild the catalogue from the archives in the folder.")
    var rebuild = false

    @OptionGroup
    var lock: LockWaitOption

    @OptionGroup
    var table: TableOptions

    @OptionGroup
    var style: StyleOptions

    static let columns = [
        // Users type or paste the name, so it is never cut.
        Table.Column(title: "ARCHIVE"), Table.Column(title: "MADE", yields: 7),
        Table.Column(title: "KEYCHAIN", least: 6, yields: 6),
        Table.Column(title: "ITEMS", alignment: .right, yields: 8),
        Table.Column(title: "SIZE", alignment: .right, yields: 5), Table.Column(title: "MODE", yields: 2),
        Table.Column(title: "ORIGIN", yields: 1), Table.Column(title: "VERIFIED", yields: 4),
        Table.Column(title: "DRILLED", yields: 3), Table.Column(title: "STATE"),
    ]

    func run(in session: Session) throws -> ExitStatus {
        let path = session.world.resolve(folder)
        guard Path.isFolder(path) else {
            throw try Path.exists(path) ? UsageProblem.fileForFolder(folder) : FileFailure(folder, .notFound)
        }
        if rebuild {
            let found = try session.backupFolder(folder, waitingAtMost: lock.wait(), isRebuilt: true).rebuild(
                now: session.now)
            session.note(
                "\(counted(found.added.count, "backup")) entered, \(found.ignored.count) ignored: not of this device, "
                    + "damaged, or under another name")
        } else if lock.lockWait != nil {
            throw UsageProblem.needs(.lockWait, .rebuild)
        }
        let rows = try Row.all(in: path, try session.catalogue(of: folder))
        let shown = try table.table(Self.columns, in: session)
        for row in rows { shown.measure(row.cells) }
        try session.result(
            ["folder": .text(folder), "backups": .list(rows.map(\.json))],
            rows.isEmpty ? [] : [shown.header] + lines(rows, in: shown))
        if rows.isEmpty { session.note("no backups in \(displayed(folder))") }
        return .ok
    }

    private func lines(_ rows: [Row], in table: StreamedTable) -> [String] {
        func sorted(_ rows: [Row]) -> [String] {
            guard table.isSorted else { return rows.map { table.row($0.cells) } }
            for row in rows { table.hold(row.cells) }
            return table.sortedRows()
        }
        let trashed = rows.filter { $0.state == .trashed }
        if trashed.isEmpty { return sorted(rows) }
        // Archives in the trash cannot be restored from directly, so they are listed separately.
        return sorted(rows.filter { $0.state != .trashed }) + ["\nin the trash:\n"] + sorted(trashed)
    }

    /// One archive.
    private struct Row {
        let name: String
        let entry: CatalogueEntry?
        let outline: ArchiveOutline?
        let state: State

        /// The state of an archive; the raw value is its name in JSON.
        enum State: String {
            case ok, incomplete, damaged, missing, trashed, unlisted
            case noArchive = "no-archive"
        }

        /// Returns the archives in the catalogue and in the folder, sorted by date and name.
        static func all(in path: String, _ catalogue: Catalogue?) throws -> [Row] {
            var rows: [Row] = []
            var names = Set(try Path.names(in: path).filter { $0.hasSuffix(ArchiveName.ending) })
            for entry in catalogue?.entries ?? [] {
                let isThere = names.remove(entry.name) != nil
                switch (entry.state, isThere) {
                case (.trashed, _):
                    rows.append(Row(name: entry.name, entry: entry, outline: nil, state: .trashed))
                case (_, false):
                    rows.append(Row(name: entry.name, entry: entry, outline: nil, state: .missing))
                case (_, true):
                    let outline = outline("\(path)/\(entry.name)")
                    let isWhole = outline.map { $0.size == entry.size && $0.header.archiveID == entry.archiveID }
                    rows.append(
                        Row(
                            name: entry.name, entry: entry, outline: outline,
                            state: isWhole != true ? .damaged : entry.isComplete == false ? .incomplete : .ok))
                }
            }
            for name in names {
                let outline = outline("\(path)/\(name)")
                rows.append(
                    Row(
                        name: name, entry: nil, outline: outline,
                        state: outline == nil ? .noArchive : .unlisted))
            }
            return rows.sorted { ($0.created ?? .reference, $0.name) < ($1.created ?? .reference, $1.name) }
        }

        private static func outline(_ path: String) -> ArchiveOutline? {
            do {
                return try ArchiveOutline(ArchiveFile(path: path))
            } catch {
                // The state of the row shows that the archive cannot be read.
                return nil
            }
        }

        private var created: Timestamp? { entry?.created ?? outline?.header.created }
        private var mode: ArchiveMode? { entry?.mode ?? outline?.header.mode }
        private var size: UInt64? { outline?.size ?? entry?.size }
        private var items: Int? {
            entry?.content?.counts.total ?? outline?.header.store?.counts.total
        }

        var cells: [String] {
            [
                name, created.map { String($0.moment.dropLast(7)) } ?? "", entry?.series ?? "",
                items.map(String.init) ?? "?", size.map(byteCount) ?? "", mode?.rawValue ?? "",
                entry == nil ? "not checked" : "this device", entry?.verified.day ?? "never",
                entry?.drilled?.day ?? "never", state.rawValue,
            ]
        }

        var json: JSONValue {
            .members([
                ("file", .text(name)), ("state", .text(state.rawValue)),
                ("created", created.map { .text($0.description) }),
                ("series", entry.map { .text($0.series) }), ("mode", mode.map { .text($0.rawValue) }),
                ("size", size.map { .number(Int($0)) }),
                ("id", (entry?.archiveID ?? outline?.header.archiveID).map { .text(Hexadecimal.encode($0)) }),
                ("device", outline.map { .text($0.header.device.description) }),
                ("counts", entry?.content.map { content in .counts { content.counts[$0] } }),
                ("complete", entry?.isComplete.map { .flag($0) }),
                ("verified", entry.map { .text($0.verified.description) }),
                ("drilled", entry?.drilled.map { .text($0.description) }),
                ("confirmed", entry?.confirmed.map { .text($0.description) }),
                ("trashed", entry?.trashed.map { .text($0.description) }),
            ])
        }
    }
}
