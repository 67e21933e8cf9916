package import KCBackupJobs
package import KCBackupTasks
internal import KCByteStreams
internal import KCReportText

extension GoneKeychain {
    /// A failure for each keychain whose file was lost, or the error that kept this from being checked.
    package static func failures(in state: BackupState, of session: Session) -> [Failure] {
        do {
            return try all(in: state.catalogues, of: session.machine).filter(\.isLost).map {
                .refused(.keychainGone($0))
            }
        } catch {
            return [session.failure(of: error)]
        }
    }

    /// The ways to bring it back.
    package var ways: [String] {
        let option = unquotedStoreOption(name)
        var ways: [String] = []
        if states > 0 {
            ways.append("'kcbackup undo\(option)' brings back its state before the last change by a command")
        }
        if !folders.isEmpty {
            let lists = listed(folders.map { "'kcbackup list \(shellWord($0))'" })
            ways.append(
                "'kcbackup restore ARCHIVE\(option)' brings it back from a backup; \(lists) shows what there is")
        }
        return ways
    }
}

extension Session {
    /// Names the keychains that have backups, and neither a file nor kept states: they may have been deleted on purpose.
    package func noteGone(_ state: BackupState) throws {
        for gone in try GoneKeychain.all(in: state.catalogues, of: machine) where !gone.isLost {
            note("\(storeWords(gone.name)) is no longer here: \(gone.ways.joined(separator: "; "))")
        }
    }
}
