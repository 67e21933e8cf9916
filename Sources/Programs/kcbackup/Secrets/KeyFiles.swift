internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// Creates the file of a key.
    ///
    /// - Throws: `Refusal` if it exists, `FileFailure`.
    func makingKeyFile(_ create: () throws(FileFailure) -> Void) throws {
        do throws(FileFailure) {
            try create()
        } catch {
            throw error.problem == .exists ? Refusal.keyFileExists(error.path) : error as any Error
        }
    }
}
