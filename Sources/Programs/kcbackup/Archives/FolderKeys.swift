internal import KCAgeEncryption
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Which keys open the archives in a folder: `kcbackup list --keys`.
///
/// Without identities this is what the catalogue says, for the archives that are still those that it knows. With
/// identities, each archive is tried with them.
struct FolderKeys {
    static let columns = [Table.Column(title: "ARCHIVE"), Table.Column(title: "OPENS WITH", least: 12)]

    private let folder: String
    private let session: Session
    /// The identities in each given file; empty if none was given.
    private let identities: [(path: String, found: [any Identity])]
    private let entries: [CatalogueEntry]

    /// The row of an archive.
    private struct Row {
        let name: String
        /// The keys according to the catalogue.
        let known: [String]
        /// The identity files that open it; nil if none was tried.
        let opensWith: [String]?
        /// The cell of the column OPENS WITH.
        let words: String
        let isWhole: Bool
    }

    /// Reads the catalogue of a folder, and the identities to try.
    ///
    /// - Throws: `CatalogueFailure`, `FileFailure`, `UsageProblem` (`fileForFolder`), and errors of reading identities.
    init(_ folder: String, trying options: IdentityOptions, in session: Session) throws {
        self.folder = folder
        self.session = session
        try options.check(with: [])
        entries = try session.machine.knownCatalogue(of: folder).complete
        identities = try options.identity.map { (path: $0, found: try options.identities(in: $0, session)) }
    }

    /// Prints the archives and what opens them.
    func list(in table: TableOptions) throws -> ExitStatus {
        let shown = try table.table(Self.columns, in: session)
        var replaced = 0
        let isCut = !table.wide && session.tableWidth != nil
        let rows = try entries.compactMap { try row($0, &replaced, isCut: isCut) }
        let cells = rows.map { [$0.name, $0.words] }
        for row in cells { shown.measure(row) }
        let json: [JSONValue] = rows.map { row in
            .members([
                ("file", .text(row.name)), ("keys", .list(row.known.map { .text($0) })),
                ("opensWith", row.opensWith.map { .list($0.map { .text($0) }) }),
            ])
        }
        try session.result(
            ["folder": .text(folder), "keysOf": .list(json)], rows.isEmpty ? [] : [shown.header] + shown.rows(cells))
        session.warnOfReplaced(replaced, in: folder)
        return rows.allSatisfy(\.isWhole) ? .ok : .incomplete
    }

    /// - Parameter isCut: true if the table leaves out the middle of a long cell.
    /// - Returns: nil if the archive has been removed since the catalogue was read.
    private func row(_ entry: CatalogueEntry, _ replaced: inout Int, isCut: Bool) throws -> Row? {
        let path = "\(session.machine.resolve(folder))/\(entry.name)"
        session.subject.file = path
        let judged = try entry.judged(
            rereading: { try session.catalogue(of: folder) }, isAlarm: { $0.state != .recorded }
        ) { entry -> (state: CatalogueEntry.FileState, keys: [String]) in
            let state = try entry.fileState(at: path)
            return (state: state, keys: state == .recorded ? try entry.settled(at: path).file.keys : [])
        }
        guard let (state, known) = judged else { return nil }
        let isTried = !identities.isEmpty && entry.mode == .encrypted
        switch state {
        case .recorded: break
        case .replaced: replaced += 1
        case .missing, .damaged:
            // A try of the identities says what is wrong with it.
            if !isTried { warn(of: state == .missing ? .missing(name: path) : .notWhole(name: path)) }
        }
        func row(_ keys: [String], opensWith: [String]? = nil, isRead: Bool = true) -> Row {
            Row(
                name: entry.name, known: known, opensWith: opensWith,
                words: Self.words(keys, isCut: isCut),
                isWhole: state == .recorded && isRead)
        }
        guard isTried else {
            return row(entry.mode == .unencrypted && state == .recorded ? ["this device"] : known)
        }
        do {
            let opening = try identities.compactMap { file, found in try self.opening(path, found).map { file + $0 } }
            return row(opening.isEmpty ? ["none of these"] : opening, opensWith: opening)
        } catch {
            session.warn(session.failure(of: error).explanation.message)
            return row([], isRead: false)
        }
    }

    private static func words(_ keys: [String], isCut: Bool) -> String {
        if keys.isEmpty { return "?" }
        guard isCut, keys.count > 1 else { return keys.map(brief).joined(separator: ", ") }
        // Without its middle, the cell would be the head of one key and the end of another, and look like one key.
        return "\(keys.count) keys: " + keys.map(head).joined(separator: ", ")
    }

    /// The beginning of a key, which tells it from others; the name of a file or a passphrase as it is.
    private static func head(_ key: String) -> String {
        for start in ["age1", "inspect:age1"] where key.exact.hasPrefix(start) {
            return key.prefix(start.count + 8) + "…"
        }
        return key
    }

    /// A key as the catalogue has it, or its beginning if it is longer than a line: that of a post-quantum key.
    private static func brief(_ key: String) -> String { key.utf8.count > 100 ? key.prefix(28) + "…" : key }

    private func warn(of failure: CatalogueFailure) {
        session.warn(session.failure(of: failure).explanation.message)
    }

    /// Returns a note on what identities open, to follow the name of their file; nil if they open nothing.
    private func opening(_ path: String, _ identities: [any Identity]) throws -> String? {
        do {
            return try ArchiveFile(path: path).prove().open(identities: identities).opensSecrets
                ? "" : " (metadata alone)"
        } catch ArchiveFailure.noMatchingIdentity {
            return nil
        }
    }
}
