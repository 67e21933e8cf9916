internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `list REMOTE:PATH`: the archives in a folder of a remote, as far as their names and sizes tell.
struct RemoteListing {
    let location: RemoteLocation
    let session: Session

    func tell(in options: TableOptions) throws {
        let table = try options.table(
            [
                Table.Column(title: "ARCHIVE"), Table.Column(title: "MADE", yields: 1, zone: session.zones),
                Table.Column(title: "KEYCHAIN", least: 6, yields: 2), Table.Column(title: "SIZE", alignment: .right),
            ], in: session)
        let folder = try session.machine.remoteFolder(location)
        let files = try folder.files().filter { $0.name.exact.hasSuffix(ArchiveName.ending) }
        let rows = files.map { (file: $0, name: ArchiveName($0.name)) }.sorted {
            ($0.name?.time ?? .reference, $0.file.name.exact) < ($1.name?.time ?? .reference, $1.file.name.exact)
        }
        let cells = rows.map { file, name in
            [
                file.name, name.map { session.calendar.minute($0.time) } ?? "", name?.series ?? "",
                byteCount(file.size),
            ]
        }
        for row in cells { table.measure(row) }
        try session.result(
            [
                "folder": .text(location.text),
                "copies": .list(
                    rows.map { file, name in
                        .members([
                            ("file", .text(file.name)), ("created", name.map { .text($0.time.description) }),
                            ("series", name.map { .text($0.series) }), ("size", .number(Int(clamping: file.size))),
                        ])
                    }),
            ],
            rows.isEmpty ? [] : [table.header] + table.rows(cells) + session.left(outOf: table))
        if rows.isEmpty { session.note("no backups in \(quoted(location.text))") }
    }
}
