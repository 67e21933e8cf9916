internal import KCBackupJobs
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The data bound to the key of this device beside its keychains, for who is about to give it another key.
///
/// Which files were protected is recorded nowhere, so they can only be spoken of.
struct KeyHoldings {
    private let jobs: [String]

    /// - Throws: `FileFailure`.
    init(in session: Session) throws {
        jobs = try Jobs(session.machine).names()
    }

    /// Finds what is bound to the key of `present`, and not to the one that takes its place.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`.
    init(of present: DeviceID, butNot replacement: DeviceKey, in session: Session) throws {
        jobs = try Jobs(session.machine).names(of: present, seenBy: replacement)
    }

    /// The data that the key opens, as lines of a list.
    var lines: [String] {
        [
            "the unencrypted archives of that device, and the ThisDeviceOnly items of all its archives",
            "files that 'kcbackup protect' encrypted there, unless '--also-to' gave them another key",
        ] + jobs.map { "job \(quoted($0))" }
    }

    /// Warns of what a new key does not open.
    ///
    /// - Parameter keepsKeychains: true if keychains are moved to the new key, with their keys of files.
    func warn(_ session: Session, keepsKeychains: Bool = false) {
        session.warn(
            "files that 'kcbackup protect' encrypted\(keepsKeychains ? " with the class 'none'" : "") will not open with the "
                + "new key, unless '--also-to' gave them another one")
        for job in jobs {
            session.warn(
                "job \(quoted(job)) will not run with the new key: 'kcbackup schedule remove \(job)', then add it again"
            )
        }
    }
}
