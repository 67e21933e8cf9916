internal import KCBackupCatalogue
package import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCForeignReader
package import KCHomeFiles
package import KCItemSources
package import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
package import KCRecoveryKits
package import KCRemotes
package import KCSandbox
package import KCStoreTasks

extension Examination {
    /// The findings, each with the job that it is about, if it is about one.
    package struct Report {
        package internal(set) var problems: [Finding] = []
        /// Risks to runs and secrets, and data that no job backs up.
        package internal(set) var warnings: [(job: String?, warning: Warning)] = []
        /// Observations that need no action, and checks that could not be made.
        package internal(set) var notes: [(job: String?, note: Note)] = []
        /// The number of checks.
        package internal(set) var count = 0
    }

    /// A problem, and what it is about.
    package struct Finding {
        package let job: String?
        /// The folder of the job, if the job can be read.
        package let folder: String?
        package let problem: Problem
        /// True if the last run of the job failed because of it.
        package internal(set) var hasFailedRun = false
    }

    package enum Problem {
        /// A check failed.
        case failed(any Error)
        /// The check of a store of the job failed; the name is nil if that of the default keychain is unknown.
        case store(any Error, name: String?, isOneOfSeveral: Bool)
        case noJob(desktopHasItems: Bool)
        case inNoJob(keychain: String)
        case gone(GoneKeychain)
        /// The archive is of a time in the future.
        case clockBehind(folder: String, archive: String, created: Timestamp)
        /// The run of the job should have ended long ago.
        case endless(since: Timestamp)
        /// The last run was killed.
        case killed(job: String, since: Timestamp)
        /// The last run did not end well, for a reason that no check has found.
        case lastRun(RunRecord)
    }

    package enum Warning {
        /// The last run failed since a store was locked, which is open now.
        case wasLocked(RunRecord, job: String)
        /// Runs that were broken off have left these.
        case partsLeft([RemoteLocation])
        case timerNotEnabled(command: String)
        case nothingStarts(Job)
        case pathNotEnabled(command: String)
        case pathStopped(unit: String, hasFailed: Bool, command: String)
        /// No path unit starts the job after changes.
        case nothingWatches(Job)
        /// Something has changed since the last run, and started none.
        case changeNotSeen(Timestamp, job: String)
        case desktopInNoJob
        /// No run of the job has found the desktop keyring.
        case desktopNotFound(job: String)
        /// Keychains that are copies of one file.
        case copies([String])
        /// The key of this device is in its chip, and the keychain has no recent archive that opens without it.
        case lostWithChip(keychain: String)
        case untriedKit(RecoveryKit)
        /// oo7 has converted the keyring, and its own file of it is gone.
        case keyringGone(path: String)
        /// Each file of a keyring may have what the other one lacks; nil if it cannot be seen which one is in use.
        case twoKeyrings(old: Keyring, new: Keyring, isOldInUse: Bool?)
        case damagedKeyring(path: String, ForeignFailure)
        case unreadableKeyring(path: String, any Error)
        /// Other programs' files cannot be read in a sandbox.
        case noSandbox(SandboxSupport)
        /// The secrets of an app are lost, or would be with the desktop keyring as it is.
        case appKeyring(AppKeyring, AppKeyrings.State)
        /// A killed run may have left a file in the folder, which the list names.
        case unswept(folder: String, list: String)
        case inClear(HomeContents.Clear)
        /// So many more files of the home hold secrets in the clear.
        case moreInClear(Int)
    }

    package enum Note {
        /// Other programs' files are read in a sandbox.
        case sandbox
        case triedKit(RecoveryKit, at: Timestamp)
        /// Cron, which cannot be looked into, may start the job.
        case starterUnknown
        /// All keyrings in the folder are those of GNOME Keyring.
        case unconvertedKeyrings(folder: String)
        /// The file of the keyring that is not in use has nothing that the other one lacks.
        case twoKeyrings(old: Keyring, new: Keyring)
        case convertedWallet(path: String)
    }

    /// A file of the desktop keyring, and what shows without its password.
    package struct Keyring {
        package let path: String
        package let outline: KeyringOutline
        /// When the file was last changed.
        package let modified: Timestamp
    }
}

extension Examination.Problem {
    /// True for the same failure, whichever check has met it.
    func isSame(as other: Examination.Problem) -> Bool {
        guard let own = fact, let other = other.fact else { return false }
        return own == other
    }

    /// The failure as a value; nil if it is none that can be compared.
    private var fact: AnyHashable? {
        switch self {
        case .failed(let error), .store(let error, _, _):
            guard let fact = cause(of: error) as? any Hashable else { return nil }
            return AnyHashable(fact)
        default: return nil
        }
    }
}

/// The failure below the layers that hand it through as it is.
private func cause(of error: any Error) -> any Error {
    switch error {
    case DeviceKeyFailure.file(let failure), CatalogueFailure.file(let failure),
        LocalKeychainFailure.file(let failure), KitProblem.list(.file(let failure)):
        return failure
    case DeviceKeyFailure.cryptography(let failure), CatalogueFailure.cryptography(let failure),
        KitProblem.list(.cryptography(let failure)):
        return failure
    case let failure as KeychainFailure:
        switch failure.error {
        case .file(let failure): return failure
        case .cryptography(let failure): return failure
        default: return failure
        }
    default: return error
    }
}
