package import KCByteStreams
package import KCDeviceIdentity

/// Why a job cannot be used.
package enum JobFailure: Error, Hashable, Sendable {
    case invalidName
    case notFound(String)
    case exists(String)
    /// The file of the job was not written by this program.
    case damaged(job: String, path: String?)
    /// The record of its last run was not written by this program.
    case recordDamaged(job: String, path: String)
    /// Another device added the job.
    case otherDevice(job: String, DeviceID)
    /// Another version of the program added the job.
    case otherFormat(job: String)
    /// Links lead to another folder than when the job was added.
    case folderElsewhere(job: String, folder: String, was: String, now: String)
    /// The job had good runs, and no backup is known in its folder.
    case noBackups(job: String, folder: String)
    /// A folder that the job copies to has none of the copies that it held.
    case copiesGone(job: String, to: String, copies: Int)
    /// Copies were gone from a folder that no rule by age removes, the last of them named; those whose archives are gone here,
    /// too, are missing.
    case copiesLost(to: String, copies: Int, last: String, missing: Int)
    /// The newest archive of a keychain is not among the copies yet.
    case notCopiedYet(archive: String)
    /// The newest archive of a keychain is among the copies, and lacks what could not be read.
    case incompleteCopy(archive: String)
    /// The file with the number of the last receipt was not written by this device.
    case receiptNumberLost(path: String)
    /// An argument contains a line feed.
    case severalLines
    /// No line of a crontab can have the time of the job.
    case notOfCron(time: String)
    /// The job runs after changes, which cron does not see.
    case changesNotOfCron(job: String)
    /// The job reads a credential, which only a systemd unit has.
    case needsUnit(job: String, credential: String)
    /// A variable by which a program of the job finds its files leads to where others can put others.
    case unsafeVariable(String, path: String, FileFailure)
    /// A path or name cannot be part of a systemd unit, or of a line of a crontab.
    case unwritable(Quoted.Failure, isCrontab: Bool)
}
