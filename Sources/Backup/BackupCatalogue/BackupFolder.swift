package import BackupArchive
package import ByteStreams
package import DeviceIdentity
package import KeychainModel

/// A folder of backups, held for one run: what is on disk, and its catalogue.
///
/// Every change is written into the catalogue before it is made, so that a run that was killed can be finished by the next.
package final class BackupFolder {
    /// The folder as its user named it, for messages.
    package let name: String
    /// The folder.
    package let path: String
    /// What is known of it.
    package private(set) var catalogue: Catalogue
    /// The key of this device.
    package let device: DeviceKey
    /// What the folder is for once the run has made an archive.
    private(set) var pin: BackupPin?
    private let file: CatalogueFile
    private let lock: FileLock

    /// Where archives lie for a time before they are removed.
    package static let trashName = ".trash"

    /// Opens a folder for a run that changes it, and finishes what a killed run began.
    ///
    /// - Parameters:
    ///   - name: the folder as its user named it.
    ///   - catalogues: where the catalogues of this user are.
    ///   - wait: how long to wait for another run.
    ///   - mayBeNew: make the folder where there is none and nothing was ever backed up to it.
    ///   - maySwitch: make it also where there were backups.
    ///   - isRebuilt: take a catalogue that cannot be believed for none.
    /// - Throws: `CatalogueFailure` (`altered`, `newerFormat`, `folderGone`, `file`, also `sharedFolder` and
    ///   `foreignFolder` where others could change what is in it, `busy`), `ArchiveFailure`.
    package init(
        _ path: String, named name: String, catalogues: String, device: DeviceKey, waitingAtMost wait: Duration,
        mayBeNew: Bool = false, maySwitch: Bool = false, isRebuilt: Bool = false
    ) throws {
        let file = CatalogueFile(of: path, in: catalogues, device: device)
        lock = try file.lock(waitingAtMost: wait)
        let known: Catalogue?
        do throws(CatalogueFailure) {
            known = try file.load()
        } catch {
            switch error {
            case .altered where isRebuilt, .newerFormat where isRebuilt: known = nil
            default: throw error
            }
        }
        if !Path.isFolder(path) {
            let archives = known?.complete.count ?? 0
            if archives > 0, !maySwitch { throw CatalogueFailure.folderGone(folder: name, archives: archives) }
            if mayBeNew { try Path.makeFolder(path) }
        }
        try PrivateFolder.require(path)
        let trash = "\(path)/\(Self.trashName)"
        guard try Path.isMissingOrOwnFolder(trash) else { throw CatalogueFailure.trashIsNoFolder(path: trash) }
        self.name = name
        self.path = path
        self.file = file
        self.device = device
        catalogue = known ?? Catalogue(folder: file.folder)
        pin = catalogue.pin
        try StaleFiles.remove(in: path)
        try finishWhatWasBegun()
    }

    /// The path of an archive in its place.
    package func path(of entry: CatalogueEntry) -> String { "\(path)/\(entry.name)" }

    /// The path of an archive in the trash.
    func trashPath(of entry: CatalogueEntry) -> String { "\(path)/\(Self.trashName)/\(entry.name)" }

    /// True if the file of an entry is in its place and has its size.
    package func isPresent(_ entry: CatalogueEntry) throws(FileFailure) -> Bool {
        try Self.size(of: path(of: entry)) == entry.size
    }

    /// The size of a regular file; nil where there is none.
    static func size(of path: String) throws(FileFailure) -> UInt64? {
        do throws(FileFailure) {
            return try OpenFile.reading(path).size()
        } catch {
            if error.problem == .notFound || error.problem == .notRegular { return nil }
            throw error
        }
    }

    /// Changes the catalogue, durably.
    ///
    /// - Throws: `CatalogueFailure` (`file`, `cryptography`); the catalogue is as before then.
    func change(_ body: (inout Catalogue) -> Void) throws(CatalogueFailure) {
        var changed = catalogue
        body(&changed)
        if changed == catalogue { return }
        try file.save(changed)
        catalogue = changed
    }

    /// Changes one entry.
    package func change(
        _ entry: CatalogueEntry, _ body: (inout CatalogueEntry) -> Void
    ) throws(CatalogueFailure) {
        try change { catalogue in
            for index in catalogue.entries.indices where catalogue.entries[index].archiveID == entry.archiveID {
                body(&catalogue.entries[index])
            }
        }
    }

    /// Notes which archives were found whole, and which of them were restored for a trial.
    ///
    /// - Throws: `CatalogueFailure` (`file`, `cryptography`).
    package func note(_ found: [CheckedArchive], now: Timestamp) throws(CatalogueFailure) {
        var drills: [[UInt8]: Bool] = [:]
        for archive in found { drills[archive.archiveID, default: false] = archive.isDrilled }
        try change { catalogue in
            for index in catalogue.entries.indices {
                guard let isDrilled = drills[catalogue.entries[index].archiveID] else { continue }
                // A clock that was set back makes no check older.
                catalogue.entries[index].verified = max(catalogue.entries[index].verified, now)
                guard isDrilled else { continue }
                catalogue.entries[index].drilled = max(catalogue.entries[index].drilled ?? now, now)
                catalogue.drilled = max(catalogue.drilled ?? now, now)
            }
        }
    }

    /// Puts an archive with other keys in the place of the one that it was made of.
    ///
    /// - Parameter keys: what opens it, as in `BackupPin`.
    /// - Throws: `FileFailure`, `CatalogueFailure`; the archive in the folder is whole, the old one or the new one.
    package func replace(_ entry: CatalogueEntry, by archive: FinishedArchive, keys: [String], now: Timestamp) throws {
        try archive.replace(entry.name)
        try change { catalogue in
            for index in catalogue.entries.indices where catalogue.entries[index].archiveID == entry.archiveID {
                catalogue.entries[index] = entry.rekeyed(keys, size: archive.size, verified: now)
            }
        }
    }

    /// Pins the folder to other keys.
    ///
    /// - Throws: `CatalogueFailure` (`file`, `cryptography`).
    package func pin(keys: [String]) throws(CatalogueFailure) {
        try change { $0.pin?.keys = keys.sorted() }
    }

    /// Makes sure that the folder is for what the run is going to do; its first archive pins the folder to that.
    ///
    /// - Parameter maySwitch: true where the user said that the run may switch.
    /// - Throws: `CatalogueFailure` (`switches`, `folderGone`, `file`, `cryptography`).
    package func use(for run: BackupPin, maySwitch: Bool) throws {
        let known = catalogue.complete
        if !maySwitch {
            if let difference = catalogue.pin?.difference(from: run) {
                throw CatalogueFailure.switches(folder: name, difference)
            }
            // An empty mount point looks like a folder whose backups are all gone.
            if !known.isEmpty, try !known.contains(where: { try Self.size(of: path(of: $0)) != nil }) {
                throw CatalogueFailure.folderGone(folder: name, archives: known.count)
            }
        }
        pin = catalogue.pin?.following(run) ?? run
    }

    /// Lets the folder be without a keychain that is no more.
    ///
    /// - Throws: `CatalogueFailure` (`file`, `cryptography`).
    package func forget(series: String) throws(CatalogueFailure) {
        pin?.subjects[series] = nil
        try change { $0.pin?.subjects[series] = nil }
    }

    /// True if the file of an entry is in its place, whole to its last byte.
    package func isWhole(_ entry: CatalogueEntry) throws -> Bool {
        try isPresent(entry) && isGenuine(entry)
    }

    /// Archives of this device in the folder that the catalogue does not know.
    ///
    /// - Throws: `FileFailure`.
    package func unlisted() throws(FileFailure) -> [String] {
        let known = Set(catalogue.entries.map(\.name))
        let short = ArchiveName.short(device.id)
        return try Path.names(in: path).filter { !known.contains($0) && ArchiveName($0)?.device == short }.sorted()
    }

    /// Finishes what a killed run began: gives an archive that has its name its entry, and empties half-emptied places.
    private func finishWhatWasBegun() throws {
        var kept: [CatalogueEntry] = []
        for var entry in catalogue.entries {
            switch entry.state {
            case .complete:
                // Its keys were changed, and the run was killed before it could say so.
                let size = try Self.size(of: path(of: entry))
                if let size, size != entry.size, try isGenuine(entry) {
                    entry = entry.rekeyed([], size: size, verified: entry.verified)
                }
                kept.append(entry)
            case .writing:
                // It was compared before it was to get its name.
                guard try holds(entry, at: path(of: entry)) else { continue }
                entry.state = .complete
                kept.append(entry)
            case .trashed:
                if try Self.size(of: trashPath(of: entry)) != nil {
                    kept.append(entry)
                } else if try Self.size(of: path(of: entry)) != nil {
                    try Path.makeFolder("\(path)/\(Self.trashName)")
                    try Path.move(path(of: entry), to: trashPath(of: entry))
                    kept.append(entry)
                }
            }
        }
        try change { $0.entries = kept }
    }

    /// True if the file at a path is the archive of an entry.
    func holds(_ entry: CatalogueEntry, at path: String) throws -> Bool {
        guard try Self.size(of: path) == entry.size else { return false }
        do throws(ArchiveFailure) {
            return try ArchiveFile(path: path).header.archiveID == entry.archiveID
        } catch {
            switch error {
            case .notAnArchive, .newerFormat, .damaged, .limit: return false
            default: throw error
            }
        }
    }
}
