internal import KCBackupCatalogue
internal import KCByteStreams

extension Job {
    /// Refuses a folder that is another one than when the job was added, and one without any of its backups.
    ///
    /// The catalogue, and all that it guards, is that of the folder to which links lead now. A missing folder is left to
    /// the caller.
    ///
    /// - Parameter hadBackups: true if a run of the job was successful.
    /// - Throws: `Jobs.Problem` (`folderElsewhere`, `noBackups`), and as `Session.catalogueIfAny`.
    func requireFolder(hadBackups: Bool, in session: Session) throws {
        guard Path.isFolder(folder) else { return }
        let now = CatalogueFile.place(of: folder)
        guard now.exact == place.exact else {
            throw Jobs.Problem.folderElsewhere(job: name, folder: folder, was: place, now: now)
        }
        if hadBackups, try session.catalogueIfAny(of: folder)?.complete.isEmpty != false {
            throw Jobs.Problem.noBackups(job: name, folder: folder)
        }
    }
}
