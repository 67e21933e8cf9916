internal import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
package import KCKeychainModel

/// An archive in a backup folder or its catalogue, as far as it is visible without a key.
package struct ListedArchive {
    package let name: String
    /// Nil if the catalogue does not know it.
    package let entry: CatalogueEntry?
    /// Nil if there is no file with its name, or none that is an archive.
    package let outline: ArchiveOutline?
    package let state: State

    /// The state of an archive; the raw value is its name in JSON.
    package enum State: String {
        case ok, incomplete, damaged, replaced, missing, trashed, unlisted
        /// The file could not be read, which says nothing about what is in it.
        case unreadable
        /// A newer version of the program made it.
        case newer
        case noArchive = "no-archive"
    }

    /// Returns the archives in the catalogue and in the folder, sorted by date and name.
    ///
    /// - Parameter read: reads the catalogue; again if a file is not what it says, since another run may have changed both.
    /// - Throws: `FileFailure` if the folder cannot be read, what `read` throws, and as `CatalogueEntry.fileState`.
    package static func all(in path: String, reading read: () throws -> Catalogue?) throws -> [ListedArchive] {
        var catalogue = try read()
        while true {
            let rows = try all(in: path, catalogue)
            let alarms: [State] = [.damaged, .replaced, .missing, .unlisted]
            guard rows.contains(where: { alarms.contains($0.state) }) else { return rows }
            let current = try read()
            if current == catalogue { return rows }
            catalogue = current
        }
    }

    /// The same, by a catalogue that was read before.
    static func all(in path: String, _ catalogue: Catalogue?) throws -> [ListedArchive] {
        var rows: [ListedArchive] = []
        let names = try Catalogue.archiveNames(in: path)
        var unlisted = names
        for entry in catalogue?.entries ?? [] {
            // A file under the name of an archive in the trash is another one, unless a user took it back.
            if entry.state == .trashed, try !isTakenBack(entry, in: path) {
                rows.append(ListedArchive(name: entry.name, entry: entry, outline: nil, state: .trashed))
                continue
            }
            unlisted.remove(entry.name.exact)
            guard names.contains(entry.name.exact) else {
                // An archive that a run is saving, or was saving when it was killed, never was there.
                if entry.state == .writing { continue }
                rows.append(ListedArchive(name: entry.name, entry: entry, outline: nil, state: .missing))
                continue
            }
            let (outline, failure) = look("\(path)/\(entry.name)")
            let state: State =
                switch outline.map(entry.state) {
                case .recorded where entry.foundDamaged != nil: .damaged
                case .recorded: entry.isComplete == false ? .incomplete : .ok
                case .replaced: .replaced
                case .damaged, .missing: .damaged
                case nil: failure ?? .damaged
                }
            rows.append(ListedArchive(name: entry.name, entry: entry, outline: outline, state: state))
        }
        for name in unlisted.map(\.string) {
            let (outline, failure) = look("\(path)/\(name)")
            let isRenamed = outline.map { ArchiveName(name)?.isName(of: $0.header) == false }
            let state = isRenamed.map { $0 ? State.replaced : .unlisted } ?? failure ?? .noArchive
            rows.append(ListedArchive(name: name, entry: nil, outline: outline, state: state))
        }
        return rows.sorted { ($0.created ?? .reference, $0.name) < ($1.created ?? .reference, $1.name) }
    }

    /// True if the next run will find that an archive in the trash was taken back.
    private static func isTakenBack(_ entry: CatalogueEntry, in path: String) throws -> Bool {
        try Path.kind(of: "\(path)/\(BackupFolder.trashName)/\(entry.name)") != .file
            && entry.outerState(at: "\(path)/\(entry.name)") == .recorded
    }

    /// Reads the outline of a file; without one, `failure` is why, or nil if it is no archive.
    private static func look(_ path: String) -> (outline: ArchiveOutline?, failure: State?) {
        do throws(ArchiveFailure) {
            return (try ArchiveOutline(ArchiveFile(path: path)), nil)
        } catch {
            switch error {
            case .newerFormat: return (nil, .newer)
            case .stream: return (nil, .unreadable)
            case .file(let failure):
                if case .system = failure.problem { return (nil, .unreadable) }
                return (nil, nil)
            default: return (nil, nil)
            }
        }
    }

    /// When it was made.
    package var created: Timestamp? { entry?.created ?? outline?.header.created }
    package var mode: ArchiveMode? { entry?.mode ?? outline?.header.mode }
    /// In bytes.
    package var size: UInt64? { outline?.size ?? entry?.file.size }
    /// The number of its items, if that is known.
    package var items: Int? {
        entry?.content?.counts.total ?? outline?.header.store?.counts.total
    }
}
