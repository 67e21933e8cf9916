internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

// The state of backups, in the words of this program.

typealias UnreadableJob = BackupState.UnreadableJob

extension UnreadableJob {
    /// Why it cannot be read.
    var failure: Failure { Failure(error) }

    /// The JSON object "unreadable job".
    var json: JSONValue { ["name": .text(name), "error": failure.explanation.jsonBody] }
}

extension BackupState.JobState {
    /// Why the record of its last run cannot be read.
    var recordFailure: Failure? { unreadableRecord.map { Failure($0) } }

    /// The hint about a run that should have ended long ago.
    static var overdueHint: String {
        "'pgrep -af kcbackup' shows its process: see what it waits for, such as a passcode from a command, and end it"
    }
}

extension BackupState.StoreState {
    /// The keychain or keyring in a sentence.
    var words: String { storeWords(name) }
}

extension BackupState.Lost {
    var failure: Failure {
        switch state {
        case .recorded, .missing: .refused(.newestGone(keychain: name, path: path))
        case .damaged: .catalogue(.notWhole(name: path), job: nil)
        case .replaced(let difference): .catalogue(.replaced(name: path, difference), job: nil)
        }
    }
}

extension BackupState.Stale {
    /// The job, keychain or keyring in a sentence; for everything, why there is no good backup.
    var words: String {
        switch self {
        case .job(let name): "job \(quoted(name))"
        case .copies(let job, let to): "copies of job \(quoted(job)) on \(quoted(to))"
        case .receipts(let job, let to): "receipts of job \(quoted(job)) in \(quoted(to))"
        case .store(let name): storeWords(name)
        case .everything(let dataFolder): "none is on record in \(quoted(dataFolder))"
        }
    }
}
