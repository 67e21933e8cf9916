package import KCByteStreams
package import KCStoreTasks

/// Something that will make a job fail, or its backups worth less, which shows before it runs.
package enum JobFinding: Error, Hashable, Sendable {
    /// There has been no trial restore of a backup in the folder since that day.
    case notDrilled(folder: String, since: String, archive: String, needsKey: Bool)
    /// The user's systemd units stop when the user logs out.
    case noLinger
    /// The disk has less free space than making a new archive needs.
    case littleRoom(folder: String, free: UInt64, wanted: UInt64)
    /// A key is stored next to the archives that it may open.
    case identityBesideArchives(path: String)
    /// The file of a credential is missing, and systemd does not start the service that reads it.
    case noCredential(String, path: String, isEncrypted: Bool)
    /// The service that is installed was written for other options, and does not give the job what it needs.
    case otherService(job: String, path: String, isOfSystem: Bool)
    /// The service of the job starts a program that is not there, or that others can replace.
    case unsafeProgram(String, FileFailure, job: String, service: String, isOfSystem: Bool)
    /// The service of the job does not find a program of the job that a shell finds in this folder.
    ///
    /// No job looks in a shared one, in which others can put programs.
    case programNotFound(String, folder: String, isShared: Bool, job: String, service: String, isOfSystem: Bool)
    /// Files of the home would be in no archive of the job.
    case filesMissing(job: String?, HomeFilesMissing)
}
