internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCLocalKeychains

extension Jobs {
    /// Refuses the folder of a job if it is another one than when the job was added, or has none of its backups.
    ///
    /// The catalogue, and all that it guards, is that of the folder to which links lead now. A missing folder is left to
    /// the caller.
    ///
    /// - Parameter hadBackups: true if a run of the job was successful.
    /// - Throws: `JobFailure` (`folderElsewhere`, `noBackups`), `CatalogueFailure`, `DeviceKeyFailure`.
    package func requireFolder(of job: Job, hadBackups: Bool) throws {
        let folder = job.folder
        guard Path.isFolder(folder) else { return }
        let now = CatalogueFile.place(of: folder)
        guard now.exact == job.place.exact else {
            throw JobFailure.folderElsewhere(job: job.name, folder: folder, was: job.place, now: now)
        }
        if !hadBackups { return }
        let catalogue = try device.keyIfAny().flatMap { key in
            try CatalogueFile(of: folder, in: dataFolder.catalogues, device: key).load()
        }
        if catalogue?.complete.isEmpty != false { throw JobFailure.noBackups(job: job.name, folder: folder) }
    }
}
