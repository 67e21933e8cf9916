internal import KCBackupArchive
package import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// A backup folder, locked for one run, together with its catalogue.
///
/// Every change is recorded in the catalogue before it is made, so that the next run can complete what a killed run
/// left unfinished.
package final class BackupFolder {
    /// The folder as the user named it, for messages.
    package let name: String
    /// The path of the folder.
    package let path: String
    /// The record of the folder and its archives.
    package private(set) var catalogue: Catalogue
    /// The key of this device.
    package let device: DeviceKey
    /// The pin that the folder gets once this run has made an archive.
    private(set) var pin: BackupPin?
    /// The series whose keychains may be missing from now on.
    private var forgotten: Set<ExactText> = []
    /// The archives whose removal, or its undo, was broken off and that opening the folder entered as complete, with the
    /// time of the removal.
    private(set) var returned: [CatalogueEntry.ID: Timestamp] = [:]
    /// True if the folder had none of the archives that it should have when it was opened.
    ///
    /// An empty mount point looks like that: that a file is missing says nothing about the archive.
    let isGone: Bool
    let catalogues: String
    /// How often this run has written the catalogue, which takes the longer the more archives it has.
    private(set) var saves = 0
    private let file: CatalogueFile
    private let lock: FileLock

    /// The subfolder where removed archives are kept for a time before they are deleted.
    package static let trashName = ".trash"

    /// Opens a folder for a run that changes it, and completes what a killed run left unfinished.
    ///
    /// - Parameters:
    ///   - name: the folder as the user named it.
    ///   - catalogues: the folder that contains this user's catalogues.
    ///   - wait: how long to wait for another run.
    ///   - mayBeNew: create the folder if it does not exist and nothing was ever backed up to it.
    ///   - maySwitch: create the folder even if it had backups.
    ///   - isRebuilt: treat a catalogue that is altered or of another version of the program as missing.
    /// - Throws: `CatalogueFailure` (`altered`, `otherFormat`, `folderGone`, `folderMissing`, `trashIsNoFolder`, `file`: also
    ///   `sharedFolder` and `foreignFolder` if other users could change the folder's contents, and `busy`),
    ///   `ArchiveFailure`.
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
            case .altered where isRebuilt, .otherFormat where isRebuilt: known = nil
            default: throw error
            }
        }
        if !Path.isFolder(path) {
            let archives = known?.complete.count ?? 0
            if archives > 0, !maySwitch { throw CatalogueFailure.folderGone(folder: name, archives: archives) }
            guard mayBeNew else { throw CatalogueFailure.folderMissing(folder: name) }
            try Path.makeFolder(path)
        }
        try PrivateFolder.require(path)
        let catalogue = known ?? Catalogue(folder: file.folder)
        let trash = "\(path)/\(Self.trashName)"
        guard try Path.isMissingOrOwnFolder(trash) else { throw CatalogueFailure.trashIsNoFolder(path: trash) }
        isGone = try Self.isGone(catalogue, from: path)
        if isGone, !catalogue.complete.isEmpty, !maySwitch, !isRebuilt, try Self.isEmpty(path) {
            throw CatalogueFailure.folderGone(folder: name, archives: catalogue.complete.count)
        }
        self.name = name
        self.path = path
        self.file = file
        self.device = device
        self.catalogue = catalogue
        self.catalogues = catalogues
        pin = catalogue.pin
        try StaleFiles.remove(in: path)
        if !isGone { try finishWhatWasBegun() }
    }

    /// True if there should be archives in the folder or its trash, and none of them is, whatever else is there.
    private static func isGone(_ catalogue: Catalogue, from path: String) throws(FileFailure) -> Bool {
        for entry in catalogue.entries {
            if try isFile("\(path)/\(entry.name)") { return false }
            if try isFile("\(path)/\(trashName)/\(entry.name)") { return false }
        }
        return catalogue.entries.contains { $0.state != .writing }
    }

    /// True if a folder has neither archives nor a trash.
    private static func isEmpty(_ path: String) throws(FileFailure) -> Bool {
        guard try Catalogue.archiveNames(in: path).isEmpty else { return false }
        return try !Path.exists("\(path)/\(trashName)")
    }

    /// The path of an archive in the folder.
    package func path(of entry: CatalogueEntry) -> String { "\(path)/\(entry.name)" }

    /// The path of an archive in the trash.
    func trashPath(of entry: CatalogueEntry) -> String { "\(path)/\(Self.trashName)/\(entry.name)" }

    /// True if there is a file with the name of an entry in the folder.
    package func isPresent(_ entry: CatalogueEntry) throws(FileFailure) -> Bool {
        try Self.isFile(path(of: entry))
    }

    /// True if there is a regular file at a path.
    static func isFile(_ path: String) throws(FileFailure) -> Bool { try Path.kind(of: path) == .file }

    /// Changes the catalogue, durably.
    ///
    /// - Throws: `CatalogueFailure` (`file`, `cryptography`); the catalogue is then unchanged.
    func change(_ body: (inout Catalogue) -> Void) throws(CatalogueFailure) {
        var changed = catalogue
        body(&changed)
        if changed == catalogue { return }
        try file.save(changed)
        saves += 1
        catalogue = changed
    }

    /// Changes one entry.
    package func change(
        _ entry: CatalogueEntry, _ body: (inout CatalogueEntry) -> Void
    ) throws(CatalogueFailure) {
        try change { catalogue in
            for index in catalogue.entries.indices where catalogue.entries[index].id == entry.id {
                body(&catalogue.entries[index])
            }
        }
    }

    /// Records which archives were found intact, which of them passed a trial restore, and what was read from them.
    package func note(_ found: [CheckedArchive], now: Timestamp) throws(CatalogueFailure) {
        let checks = Dictionary(found.map { ($0.id, $0) }) { $0.isDrilled ? $0 : $1 }
        try change { catalogue in
            for index in catalogue.entries.indices {
                guard let check = checks[catalogue.entries[index].id] else { continue }
                catalogue.entries[index].content = catalogue.entries[index].content ?? check.content
                // Even if the recorded time is later: a clock that was fast must not put off the next check.
                catalogue.entries[index].verified = now
                guard check.isDrilled else { continue }
                catalogue.entries[index].drilled = now
                catalogue.drilled = now
            }
        }
    }

    /// Records which archives were read and found damaged.
    package func note(damaged: [CatalogueEntry.ID], now: Timestamp) throws(CatalogueFailure) {
        let damaged = Set(damaged)
        try change { catalogue in
            for index in catalogue.entries.indices where damaged.contains(catalogue.entries[index].id) {
                catalogue.entries[index].foundDamaged = now
            }
        }
    }

    /// Pins the folder to other keys.
    package func pin(keys: [String]) throws(CatalogueFailure) {
        try change { $0.pin?.keys = keys.sorted() }
    }

    /// Checks that the run does not switch what the folder is used for; the run's first archive updates the pin.
    ///
    /// - Parameter maySwitch: true if the user allowed the run to switch.
    /// - Throws: `CatalogueFailure` (`switches`, `folderGone`, `folderElsewhere`, `file`, `cryptography`).
    package func use(for run: BackupPin, maySwitch: Bool) throws {
        if !maySwitch {
            if let difference = catalogue.pin?.difference(from: run) {
                throw CatalogueFailure.switches(folder: name, difference)
            }
            if try catalogue.hasLostAll(in: path) {
                throw CatalogueFailure.folderGone(folder: name, archives: catalogue.complete.count)
            }
            if catalogue.entries.isEmpty,
                let earlier = try CatalogueFile(beforeLinksIn: path, in: catalogues, device: device)?.load(),
                !earlier.complete.isEmpty
            {
                throw CatalogueFailure.folderElsewhere(
                    folder: name, archives: earlier.complete.count, was: earlier.folder, now: file.folder)
            }
        }
        var known = catalogue.pin ?? run
        if catalogue.pin == nil, run.isOfAll, let subjects = catalogue.subjectsOfAll {
            known.subjects = subjects.filter { !forgotten.contains($0.key) }
        }
        pin = known.following(run)
    }

    /// Unpins a keychain that no longer exists.
    package func forget(series: String) throws(CatalogueFailure) {
        forgotten.insert(series.exact)
        pin?.subjects[series.exact] = nil
        try change { $0.pin?.subjects[series.exact] = nil }
    }

    /// Returns the names of this device's archives in the folder that are not in the catalogue.
    package func unlisted() throws(FileFailure) -> [String] {
        let known = Set(catalogue.entries.map(\.name.exact))
        let short = ArchiveName.short(device.id)
        return try Path.names(in: path).filter { !known.contains($0.exact) && ArchiveName($0)?.device == short }
            .sorted { $0.exact < $1.exact }
    }

    /// Completes what a killed run left unfinished: entries whose archives already have their names, rekeyed archives,
    /// and moves to and from the trash.
    private func finishWhatWasBegun() throws {
        var kept: [CatalogueEntry] = []
        for var entry in catalogue.entries {
            switch entry.state {
            case .complete:
                try finishRekeying(&entry)
                kept.append(entry)
            case .writing:
                // The archive passed its checks before it got its name, so it is complete.
                guard try holds(entry, at: path(of: entry)) else { continue }
                entry.state = .complete
                kept.append(entry)
            case .trashed:
                if try !Self.isFile(trashPath(of: entry)) {
                    // The move did not happen, or a user took it back. Only `discard` removes archives, which first looks
                    // at what else is there.
                    guard try holds(entry, at: path(of: entry)) else { continue }
                    returned[entry.id] = entry.trashed?.date
                    entry.state = .complete
                    entry.trashed = nil
                }
                kept.append(entry)
            }
        }
        try change { $0.entries = kept }
    }

    /// Finds out whether a rekey that was killed had replaced the file.
    private func finishRekeying(_ entry: inout CatalogueEntry) throws {
        guard entry.nextFile != nil else { return }
        // Any other file decides nothing.
        guard try holds(entry) else { return }
        entry = try entry.settled(at: path(of: entry))
        entry.nextFile = nil
    }

    /// True if the file at a path is the recorded archive of an entry, as far as that shows without reading its streams.
    func holds(_ entry: CatalogueEntry, at path: String) throws -> Bool {
        try entry.outerState(at: path) == .recorded
    }

    private func holds(_ entry: CatalogueEntry) throws -> Bool { try holds(entry, at: path(of: entry)) }
}
