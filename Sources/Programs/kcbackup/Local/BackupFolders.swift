internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension Session {
    /// Opens a backup folder for a run that changes it.
    ///
    /// - Throws: `UsageProblem.fileForFolder`, `CatalogueFailure`, and the errors of `LocalDevice.key`.
    func backupFolder(
        _ path: String, waitingAtMost wait: Duration, mayBeNew: Bool = false, maySwitch: Bool = false,
        isRebuilt: Bool = false
    ) throws -> BackupFolder {
        subject.file = path
        try requireOutsideOfData(path)
        if Path.isFile(machine.resolve(path)) { throw UsageProblem.fileForFolder(path) }
        return try BackupFolder(
            machine.resolve(path), named: path, catalogues: machine.catalogues, device: LocalDevice(machine).key(),
            waitingAtMost: wait, mayBeNew: mayBeNew, maySwitch: maySwitch, isRebuilt: isRebuilt)
    }

    /// Refuses the data folder and its subfolders: removing the data folder would remove the backups as well.
    func requireOutsideOfData(_ path: String) throws(Refusal) {
        let folder = machine.resolve(path)
        guard let data = Path.real(machine.dataFolder.path) else { return }
        let real = Path.real(folder) ?? Path.real(Path.split(folder).folder).map { $0 + "/" } ?? folder
        if real.exact == data.exact || real.exact.hasPrefix(data + "/") {
            throw Refusal(
                .refused, "\(quoted(path)) is where kcbackup keeps keychains and keys",
                hint: "choose another folder, preferably on another disk, so that no single failure takes both")
        }
    }

    /// Returns the catalogue of a backup folder in which this device has made backups.
    ///
    /// - Throws: `UsageProblem.fileForFolder`, `FileFailure.notFound`, `CatalogueFailure` (also `unknownFolder`), and
    ///   the errors of `LocalDevice.key`.
    func knownCatalogue(of path: String) throws -> Catalogue {
        let place = machine.resolve(path)
        if try Path.isNoFolder(place) { throw UsageProblem.fileForFolder(path) }
        if let known = try catalogue(of: path) { return known }
        guard Path.isFolder(place) else { throw FileFailure(path, .notFound) }
        throw CatalogueFailure.unknownFolder(path)
    }

    /// Returns the catalogue of a backup folder; nil if nothing was ever backed up there.
    ///
    /// - Throws: as `Machine.catalogueIfAny`.
    func catalogue(of path: String) throws -> Catalogue? {
        subject.file = path
        return try machine.catalogueIfAny(of: path)
    }
}
