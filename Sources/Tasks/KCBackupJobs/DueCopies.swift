package import KCBackupCatalogue
package import KCByteStreams
internal import KCDeviceIdentity
internal import KCLocalKeychains

/// The archives of a folder that jobs have still to copy, and that must not be removed before.
package struct DueCopies {
    /// The jobs that cannot be read, or of which it is not known what they have copied: any archive may be one that they have
    /// to copy.
    package fileprivate(set) var unreadable: [String] = []
    /// For each folder that archives are copied to, those that are not to be copied there anymore.
    fileprivate var settled: [Set<ExactText>] = []

    /// True if a job has still to copy the archive, or may have to.
    package func contains(_ entry: CatalogueEntry) -> Bool {
        !unreadable.isEmpty || settled.contains { !$0.contains(entry.name.exact) }
    }
}

extension Jobs {
    /// Returns what all jobs that back up to a folder have still to copy from there.
    ///
    /// - Throws: `FileFailure` if the jobs cannot be listed.
    package func dueCopies(from folder: String) throws(FileFailure) -> DueCopies {
        let place = CatalogueFile.place(of: folder)
        var due = DueCopies()
        for name in try names() {
            do {
                let job = try job(name)
                let places = [job.place, CatalogueFile.place(of: job.folder)]
                guard places.contains(where: { $0.exact == place.exact }) else { continue }
                let remotes = try job.copyFolders(of: device.key().id)
                if remotes.isEmpty { continue }
                // The record of a remote that the job does not copy to anymore stays until its next run.
                due.settled += try copies(name).filter { record in remotes.contains { $0.exact == record.to.exact } }
                    .map(\.settled)
            } catch JobFailure.notFound, JobFailure.otherDevice {
                // The job is gone by now, or never runs here: the archives of another device are in another catalogue.
            } catch {
                due.unreadable.append(name)
            }
        }
        return due
    }
    /// Leaves in a plan what a job has still to copy from a folder.
    ///
    /// - Returns: the plan, and the jobs that cannot be read, for which it removes nothing although it should.
    package func keepingUncopied(
        _ plan: BackupFolder.PrunePlan, in folder: String
    ) throws(FileFailure) -> (plan: BackupFolder.PrunePlan, unreadable: [String]) {
        let due = try dueCopies(from: folder)
        let wouldRemove = plan.fates.contains(where: \.isRemoval)
        return (plan.keeping(.uncopied, where: due.contains), wouldRemove ? due.unreadable : [])
    }
}
