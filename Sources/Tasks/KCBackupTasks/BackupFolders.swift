package import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCLocalKeychains
package import KCStoreTasks

/// Why a place is no folder for backups.
package enum BackupFolderProblem: Error, Hashable, Sendable {
    /// The path is that of a file.
    case isFile(String)
    /// The folder is where keychains and keys are kept: removing the data folder would remove the backups as well.
    case isOfData(String)
}

extension Machine {
    /// Opens a backup folder for a run that changes it.
    ///
    /// - Throws: `BackupFolderProblem`, `CatalogueFailure`, and the errors of `LocalDevice.key`.
    package func backupFolder(
        _ path: String, waitingAtMost wait: Duration, mayBeNew: Bool = false, maySwitch: Bool = false,
        isRebuilt: Bool = false
    ) throws -> BackupFolder {
        try requireOutsideOfData(path)
        if Path.isFile(resolve(path)) { throw BackupFolderProblem.isFile(path) }
        return try BackupFolder(
            resolve(path), named: path, catalogues: catalogues, device: LocalDevice(self).key(), waitingAtMost: wait,
            mayBeNew: mayBeNew, maySwitch: maySwitch, isRebuilt: isRebuilt)
    }

    /// Refuses the data folder and its subfolders.
    package func requireOutsideOfData(_ path: String) throws(BackupFolderProblem) {
        let folder = resolve(path)
        guard let data = Path.real(dataFolder.path) else { return }
        let real = Path.real(folder) ?? Path.real(Path.split(folder).folder).map { $0 + "/" } ?? folder
        if real.exact == data.exact || real.exact.hasPrefix(data + "/") { throw .isOfData(path) }
    }
}
