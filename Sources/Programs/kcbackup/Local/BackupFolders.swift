internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// Opens a backup folder for a run that changes it, and that is about the folder from then on.
    ///
    /// - Throws: as `Machine.backupFolder`.
    func backupFolder(_ path: String, waitingAtMost wait: Duration, isRebuilt: Bool = false) throws -> BackupFolder {
        subject.file = path
        return try machine.backupFolder(path, waitingAtMost: wait, isRebuilt: isRebuilt)
    }

    /// Returns the catalogue of a backup folder; nil if nothing was ever backed up there.
    ///
    /// - Throws: as `Machine.catalogueIfAny`.
    func catalogue(of path: String) throws -> Catalogue? {
        subject.file = path
        return try machine.catalogueIfAny(of: path)
    }
}
